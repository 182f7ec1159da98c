// SPDX-License-Identifier: Apache-2.0
// MatMulNBits: activations that are quantized by blocks, times weights of a few bits, each block of
// a column with a scale and a zero point of its own. Sums of blocks are added in double, and
// rounded once.
#include "host/kernels/matmul_bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "host/kernels/integer_operators.hpp"
#include "host/kernels/integer_product.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {

bool multiplies_integers(const onnx::NodeProto& node, int zero_points) {
  const std::int64_t bits = attribute(node, "bits", std::int64_t{4});
  const std::int64_t size = attribute(node, "block_size", std::int64_t{0});
  const std::int64_t least = bits == 2 ? 32 : 16, most = bits == 2 ? 128 : 256;
  const bool kernel = (bits == 2 || bits == 4 || bits == 8) && size >= least && size <= most &&
                      (size & (size - 1)) == 0;
  const bool in_order = node.input_size() <= 4 || node.input(4).empty();
  return attribute(node, "accuracy_level", std::int64_t{0}) == 4 && kernel && in_order &&
         (zero_points == 0 || zero_points == onnx::TensorProto::UINT8);
}

bool adds_in_lanes(const onnx::NodeProto& node) {
  return node.domain() == "com.microsoft" && node.op_type() == "MatMulNBits" &&
         attribute(node, "bits", std::int64_t{4}) == 4;
}

namespace host {
namespace {

/// The weights of N columns of K, blocks of which lie packed, the lowest bits first.
class Blocks {
 public:
  Blocks(const NodeContext& node, const Tensors& inputs)
      : k(attribute(*node.node, "K", std::int64_t{0})),
        n(attribute(*node.node, "N", std::int64_t{0})),
        bits_(attribute(*node.node, "bits", std::int64_t{4})),
        size_(attribute(*node.node, "block_size", std::int64_t{0})),
        packed_(input(node, inputs, 1)),
        scales_(input(node, inputs, 2)),
        zeros_(optional_input(inputs, 3)) {
    if (bits_ != 2 && bits_ != 4 && bits_ != 8) {
      throw failure(node, fmt::format("weights of {} bits; 2, 4 and 8 are supported", bits_));
    }
    // So that no number of bytes overflows.
    constexpr std::int64_t kMost = std::int64_t{1} << 24;
    if (k < 1 || n < 1 || k > kMost || n > kMost || size_ < 16 || size_ > kMost ||
        (size_ & (size_ - 1)) != 0) {
      throw failure(node,
                    fmt::format("K is {}, N is {} and block_size is {}; each must be positive and "
                                "at most {}, and blocks a power of two from 16 on",
                                k, n, size_, kMost));
    }
    count_ = (k + size_ - 1) / size_;
    require(node, packed_, n * count_ * (size_ * bits_ / 8), onnx::TensorProto::UINT8);
    require(node, scales_, n * count_, input(node, inputs, 0).type());
    zero_bytes_ = (count_ * bits_ + 7) / 8;
    if (zeros_.present() && zeros_.type() == onnx::TensorProto::UINT8) {
      require(node, zeros_, n * zero_bytes_, onnx::TensorProto::UINT8);
    } else if (zeros_.present()) {
      require(node, zeros_, n * count_, scales_.type());
    }
  }

  /// Weights [n x size] of a block as 8-bit integers, and their zero points. What has fewer bits
  /// has its zero point subtracted.
  IntegerOperand integers_of(std::int64_t block, Tensor& values) const {
    const bool is_byte = bits_ == 8;
    values = Tensor(is_byte ? onnx::TensorProto::UINT8 : onnx::TensorProto::INT8, {n, size_});
    auto* const to = reinterpret_cast<std::uint8_t*>(values.mutable_raw());
    std::vector<std::int32_t> zeros;
    for (std::int64_t column = 0; column < n; ++column) {
      const std::uint8_t* const from = packed_.values<std::uint8_t>() + column * count_ * bytes();
      const auto zero = static_cast<std::int32_t>(zero_of(column, block));
      if (is_byte) zeros.push_back(zero);
      for (std::int64_t i = 0; i < size_; ++i) {
        to[column * size_ + i] =
            static_cast<std::uint8_t>(value_at(from, block * size_ + i) - (is_byte ? 0 : zero));
      }
    }
    return {values, is_byte ? zeros : std::vector<std::int32_t>{0}};
  }

  double scale_of(std::int64_t column, std::int64_t block) const {
    return static_cast<double>(scales_.values<float>()[column * count_ + block]);
  }

  std::int64_t size() const { return size_; }
  std::int64_t count() const { return count_; }
  DataType zero_points() const { return zeros_.present() ? zeros_.type() : DataType{}; }

  const std::int64_t k, n;

 private:
  std::int64_t bytes() const { return size_ * bits_ / 8; }

  int value_at(const std::uint8_t* from, std::int64_t i) const {
    const std::int64_t bit = i * bits_;
    return (from[bit / 8] >> (bit % 8)) & ((1 << bits_) - 1);
  }

  double zero_of(std::int64_t column, std::int64_t block) const {
    if (!zeros_.present()) return static_cast<double>(1 << (bits_ - 1));
    if (zeros_.type() == onnx::TensorProto::UINT8) {
      return value_at(zeros_.values<std::uint8_t>() + column * zero_bytes_, block);
    }
    return static_cast<double>(zeros_.values<float>()[column * count_ + block]);
  }

  static void require(const NodeContext& node, const Tensor& tensor, std::int64_t elements,
                      DataType type) {
    if (tensor.type() == type && tensor.elements() == elements) return;
    throw failure(node, fmt::format("its input {} should hold {} values of type {}",
                                    describe(tensor), elements, data_type_name(type)));
  }

  std::int64_t bits_, size_, count_ = 0, zero_bytes_ = 0;
  Tensor packed_, scales_, zeros_;
};

/// `values` in steps of the largest of them / 127, to the nearest, as ONNX Runtime does; returns
/// the step. What is not finite makes it no number.
float quantize_block(const float* values, std::int64_t count, std::int8_t* to) {
  float most = 0;
  bool finite = true;
  for (std::int64_t i = 0; i < count; ++i) {
    most = std::max(most, std::fabs(values[i]));
    finite = finite && std::isfinite(values[i]);
  }
  if (!finite) return std::numeric_limits<float>::quiet_NaN();
  const float steps = most == 0 ? 0 : 127.0F / most;
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] =
        static_cast<std::int8_t>(std::clamp(std::nearbyint(values[i] * steps), -127.0F, 127.0F));
  }
  return most / 127.0F;
}

/// a [m x k] times the weights, a block of K after the other: exact sums of integers, times both
/// scales.
std::vector<double> sums_of_integers(const NodeContext& node, const float* a, std::int64_t m,
                                     const Blocks& weights) {
  std::vector<double> sums(static_cast<std::size_t>(m * weights.n));
  for (std::int64_t block = 0; block < weights.count(); ++block) {
    const std::int64_t first = block * weights.size();
    Tensor values(onnx::TensorProto::INT8, {m, weights.size()});
    std::fill_n(values.mutable_values<std::int8_t>(), values.elements(), std::int8_t{0});
    std::vector<double> steps;
    for (std::int64_t row = 0; row < m; ++row) {
      steps.push_back(static_cast<double>(
          quantize_block(a + row * weights.k + first, std::min(weights.size(), weights.k - first),
                         values.mutable_values<std::int8_t>() + row * weights.size())));
    }
    Tensor held;
    const Tensor products =
        matrix_sums(node, {values, {0}}, weights.integers_of(block, held), true);
    const std::int32_t* product = products.values<std::int32_t>();
    double* to = sums.data();
    for (const double step : steps) {
      for (std::int64_t n = 0; n < weights.n; ++n) {
        *to++ += static_cast<double>(*product++) * step * weights.scale_of(n, block);
      }
    }
  }
  return sums;
}

}  // namespace

Tensors matmul_n_bits(const NodeContext& node, const Tensors& inputs) {
  const Tensor& a = input(node, inputs, 0);
  const Tensor& bias = optional_input(inputs, 5);
  const Blocks weights(node, inputs);
  if (a.rank() == 0 || a.dims().back() != weights.k) {
    throw failure(node, fmt::format("its input is {} and K is {}", describe(a), weights.k));
  }
  if (bias.present() && bias.dims() != Dims{weights.n}) {
    throw failure(node, fmt::format("its bias is {} and N is {}", describe(bias), weights.n));
  }
  if (bias.present()) require_same_type(node, a, bias);
  Dims dims = a.dims();
  dims.back() = weights.n;
  if (a.type() != onnx::TensorProto::FLOAT ||
      !multiplies_integers(*node.node, weights.zero_points())) {
    throw failure(node, "its products are of floats");
  }
  Tensor result(a.type(), dims);
  const std::vector<double> sums =
      sums_of_integers(node, a.values<float>(), a.elements() / weights.k, weights);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::size_t n = i % static_cast<std::size_t>(weights.n);
    const double addend = bias.present() ? static_cast<double>(bias.values<float>()[n]) : 0;
    result.mutable_values<float>()[i] = static_cast<float>(sums[i] + addend);
  }
  return {result};
}

}  // namespace host
}  // namespace gemm64
