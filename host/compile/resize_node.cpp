// SPDX-License-Identifier: Apache-2.0
#include "host/compile/resize_node.hpp"

#include "host/error.hpp"
#include "host/kernels/operators.hpp"
#include "host/onnx/operator.hpp"
#include "host/onnx/supported.hpp"
#include "host/proto/attribute.hpp"
#include "host/proto/tensor_data.hpp"

namespace gemm64 {
namespace {

constexpr std::int64_t kMostPixels = std::int64_t{1} << 24;  // whose numbers float32 holds

}  // namespace

std::optional<std::pair<std::uint32_t, std::uint32_t>> read_repeats(const OnnxModel& model,
                                                                    int index) {
  const onnx::NodeProto& node = model.graph().node(index);
  if (operator_name(node) != "Resize" || node.input(0).empty()) return std::nullopt;
  if (attribute(node, "mode", std::string("nearest")) != "nearest") return std::nullopt;
  const auto from = model.type(node.input(0)), to = model.type(node.output(0));
  if (!from || !to || from->dims.size() != 4 || to->dims.size() != 4) return std::nullopt;
  const Dims &small = from->dims, &large = to->dims;
  const bool whole = small[0] == large[0] && small[1] == large[1] && small[2] > 0 && small[3] > 0 &&
                     large[2] % small[2] == 0 && large[3] % small[3] == 0;
  if (!whole || large[2] * large[3] > kMostPixels) return std::nullopt;
  // One channel stands for all, whose number may be large.
  Tensors inputs = {Tensor(onnx::TensorProto::FLOAT, {1, 1, small[2], small[3]})};
  float* const numbers = inputs[0].mutable_values<float>();
  for (std::int64_t i = 0; i < inputs[0].elements(); ++i) numbers[i] = static_cast<float>(i);
  for (int i = 1; i < node.input_size(); ++i) {
    const onnx::TensorProto* const constant = model.constant(node.input(i));
    if (!node.input(i).empty() && (constant == nullptr || !has_data(*constant))) {
      return std::nullopt;
    }
    inputs.push_back(constant == nullptr ? Tensor() : Tensor::from_proto(*constant));
    constexpr int kSizes = 3;
    if (i == kSizes && inputs.back().present() && inputs.back().elements() == 4) {
      inputs.back() = Tensor::of<std::int64_t>({4}, {1, 1, large[2], large[3]});
    }
  }
  const std::int64_t high = large[2] / small[2], wide = large[3] / small[3];
  try {
    const NodeContext context{&node, node_label(node, index), model.opset()};
    const Tensor found = compute(*find_operator(node.domain(), node.op_type()), context, inputs)[0];
    if (found.dims() != Dims{1, 1, large[2], large[3]}) return std::nullopt;
    const float* value = found.values<float>();
    for (std::int64_t y = 0; y < large[2]; ++y) {
      for (std::int64_t x = 0; x < large[3]; ++x) {
        const std::int64_t pixel = y / high * small[3] + x / wide;
        if (*value++ != static_cast<float>(pixel)) return std::nullopt;
      }
    }
  } catch (const UsageError&) {  // where it runs, the host will tell of it
    return std::nullopt;
  }
  return std::pair(static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(wide));
}

}  // namespace gemm64
