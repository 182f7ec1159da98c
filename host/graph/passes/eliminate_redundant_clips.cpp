// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/eliminate_redundant_clips.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/proto/attribute.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;

/// The bounds of a Clip, where they are constant.
std::optional<std::pair<float, float>> bounds(const NodeProto& clip,
                                              const QuantizationReader& reader) {
  constexpr float kMost = std::numeric_limits<float>::max();
  std::pair<float, float> result{attribute(clip, "min", -kMost), attribute(clip, "max", kMost)};
  for (int i = 1; i < 3; ++i) {
    if (input_name(clip, i).empty()) continue;
    const auto value = reader.floats(clip.input(i));
    if (!value || value->size() != 1) return std::nullopt;
    (i == 1 ? result.first : result.second) = value->front();
  }
  return result;
}

bool is_redundant(const NodeProto& clip, const NodeProto& quantize,
                  const QuantizationReader& reader) {
  const int type = reader.result_type(quantize);
  if (type != onnx::TensorProto::INT8 && type != onnx::TensorProto::UINT8) return false;
  const auto to = reader.scalar(input_name(quantize, 1), input_name(quantize, 2), type);
  if (!to) return false;
  const auto [low, high] = QuantizationReader::range(type);
  if (clip.op_type() == "Relu") return to->zero == low;
  const auto limits = bounds(clip, reader);
  if (!limits) return false;
  // Either rule of ONNX Runtime's: the bounds reach as far as the range does, or round to its ends.
  constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
  const auto zero = static_cast<float>(to->zero);
  const float from = to->scale * (static_cast<float>(low) - zero);
  const float until = to->scale * (static_cast<float>(high) - zero);
  if (limits->first - from <= kEpsilon && until - limits->second <= kEpsilon) return true;
  return std::nearbyint(limits->first / to->scale) + zero <= static_cast<float>(low) &&
         std::nearbyint(limits->second / to->scale) + zero >= static_cast<float>(high);
}

}  // namespace

void eliminate_redundant_clips(onnx::GraphProto& graph, const QuantizationReader& reader) {
  const GraphLinks links(graph);
  std::set<const NodeProto*> dropped;
  for (const NodeProto& node : graph.node()) {
    if (!is_clip(node)) continue;
    const NodeProto* quantize = links.only_reader(node.output(0));
    if (quantize == nullptr || !is_quantize(*quantize) || !is_redundant(node, *quantize, reader)) {
      continue;
    }
    dropped.insert(&node);
  }
  take_out(graph, dropped);
}

}  // namespace gemm64
