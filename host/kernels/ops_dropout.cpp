// SPDX-License-Identifier: Apache-2.0
// Dropout.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "host/kernels/operators.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

using onnx::TensorProto;

constexpr std::int64_t kModeIsInput = 12;  // opset; before it, files are for inference

/// A number that an input gives, or the default where it is left out.
double scalar(const NodeContext& node, const Tensors& inputs, std::size_t index, double otherwise) {
  const Tensor& tensor = optional_input(inputs, index);
  if (!tensor.present()) return otherwise;
  if (tensor.elements() != 1) {
    throw failure(node, fmt::format("its input number {} is {}; it takes one value", index + 1,
                                    describe(tensor)));
  }
  if (tensor.type() == TensorProto::BOOL) return *tensor.values<bool>() ? 1 : 0;
  return visit_types<float, double, Eigen::half, Eigen::bfloat16>(
      node, tensor.type(),
      [&](auto zero) { return static_cast<double>(*tensor.values<decltype(zero)>()); });
}

/// Uniform in [0, 1) as NumPy's generator of that seed makes it.
class Uniform {
 public:
  explicit Uniform(std::int64_t seed) : words_(static_cast<std::uint32_t>(seed)) {}
  double next() {
    const double high = static_cast<double>(words_() >> 5);
    const double low = static_cast<double>(words_() >> 6);
    return (high * 0x1p26 + low) * 0x1p-53;
  }

 private:
  std::mt19937 words_;
};

template <class T>
Tensors drop(const Tensor& x, double ratio, std::int64_t seed) {
  Tensor y(x.type(), x.dims());
  Tensor mask(TensorProto::BOOL, x.dims());
  Uniform uniform(seed);
  const double scale = 1 / (1 - ratio);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const bool keep = uniform.next() >= ratio;
    mask.mutable_values<bool>()[i] = keep;
    y.mutable_values<T>()[i] =
        keep ? static_cast<T>(static_cast<double>(x.values<T>()[i]) * scale) : T(0);
  }
  return {y, mask};
}

/// Everything is kept. Before opset 10 the mask is of the input's type.
Tensors keep(const NodeContext& node, const Tensor& x) {
  if (node.node->output_size() < 2) return {x};
  if (node.opset < 10 && x.type() == TensorProto::FLOAT) {
    Tensor mask(x.type(), x.dims());
    std::fill_n(mask.mutable_values<float>(), mask.elements(), 1.0F);
    return {x, mask};
  }
  Tensor mask(TensorProto::BOOL, x.dims());
  std::fill_n(mask.mutable_values<bool>(), mask.elements(), true);
  return {x, mask};
}

}  // namespace

/// In training mode with a seed, what ONNX's reference drops. Without a seed nothing is dropped:
/// what would be is random, and networks run for inference; host/graph/onnx/supported.hpp names the
/// nodes.
Tensors dropout(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  if (node.opset < kModeIsInput || scalar(node, inputs, 2, 0) == 0) return keep(node, x);
  const double ratio = scalar(node, inputs, 1, 0.5);
  if (!(ratio >= 0 && ratio < 1)) {
    throw failure(node, fmt::format("its ratio is {}; it is at least 0 and below 1", ratio));
  }
  if (ratio == 0 || find_attribute(node, "seed") == nullptr) return keep(node, x);
  const std::int64_t seed = attribute(*node.node, "seed", std::int64_t{0});
  return visit_types<float, double, Eigen::half, Eigen::bfloat16>(
      node, x.type(), [&](auto zero) { return drop<decltype(zero)>(x, ratio, seed); });
}

}  // namespace host
}  // namespace gemm64
