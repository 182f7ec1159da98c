// SPDX-License-Identifier: Apache-2.0
#include "host/compile/resize_node.hpp"

#include <numeric>

#include "host/compile/numbered_node.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/proto/attribute.hpp"

namespace gemm64 {
namespace {

constexpr std::int64_t kMostPixels = std::int64_t{1} << 24;  // whose numbers float32 holds

}  // namespace

std::optional<std::pair<std::uint32_t, std::uint32_t>> read_repeats(const HostNodes& nodes,
                                                                    int index) {
  const OnnxModel& model = nodes.model();
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
  Tensor numbers(onnx::TensorProto::FLOAT, {1, 1, small[2], small[3]});
  std::iota(numbers.mutable_values<float>(), numbers.mutable_values<float>() + numbers.elements(),
            0.0F);
  std::map<int, Tensor> inputs{{0, std::move(numbers)}};
  constexpr int kSizes = 3;
  if (node.input_size() > kSizes && !node.input(kSizes).empty()) {
    const auto sizes = model.type(node.input(kSizes));
    if (model.constant(node.input(kSizes)) == nullptr || !sizes) return std::nullopt;
    if (sizes->elements() == 4) {
      inputs[kSizes] = Tensor::of<std::int64_t>({4}, {1, 1, large[2], large[3]});
    }
  }
  const std::int64_t high = large[2] / small[2], wide = large[3] / small[3];
  const auto found = compute_numbers(nodes, index, inputs);
  if (!found || found->dims() != Dims{1, 1, large[2], large[3]}) return std::nullopt;
  const float* value = found->values<float>();
  for (std::int64_t y = 0; y < large[2]; ++y) {
    for (std::int64_t x = 0; x < large[3]; ++x) {
      const std::int64_t pixel = y / high * small[3] + x / wide;
      if (*value++ != static_cast<float>(pixel)) return std::nullopt;
    }
  }
  return std::pair(static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(wide));
}

}  // namespace gemm64
