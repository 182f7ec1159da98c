// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/qdq_double_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/onnx/qdq_values.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;

/// The only reader of a node's output, where it is one that `is_wanted` takes.
const NodeProto* next(const GraphLinks& links, const NodeProto& node,
                      bool (*is_wanted)(const NodeProto&)) {
  const NodeProto* reader = links.only_reader(node.output(0));
  return reader != nullptr && is_wanted(*reader) && reader->input(0) == node.output(0) ? reader
                                                                                       : nullptr;
}

/// The scale and zero point of a pair that agrees.
std::optional<ScalarQuantization> pair_of(const QuantizationReader& reader,
                                          const NodeProto& quantize, const NodeProto& dequantize) {
  const std::string zero = input_name(quantize, 2);
  if (zero.empty() || input_name(dequantize, 2).empty()) return std::nullopt;
  const auto first = reader.scalar(input_name(quantize, 1), zero, reader.result_type(quantize));
  const Dequantized back = reader.read(dequantize);
  const auto second = reader.scalar(back.scale, back.zero, back.type);
  return first && second && *first == *second ? first : std::nullopt;
}

ScalarQuantization common(const ScalarQuantization& a, const ScalarQuantization& b) {
  const auto [low, high] = QuantizationReader::range(a.type);
  const auto end = [](std::int64_t value, const ScalarQuantization& of) {
    return static_cast<float>(value - of.zero) * of.scale;
  };
  const float least = std::max(end(low, a), end(low, b));
  const float greatest = std::min(end(high, a), end(high, b));
  const float scale = (greatest - least) / static_cast<float>(high - low);
  const float zero = std::round(static_cast<float>(low) - least / scale);
  return {scale, std::clamp(static_cast<std::int64_t>(zero), low, high), a.type};
}

}  // namespace

std::optional<onnx::ModelProto> fuse_double_pairs(const OnnxModel& model) {
  const QuantizationReader reader(model);
  GraphLinks links(model.graph());
  onnx::ModelProto proto = model.proto();
  onnx::GraphProto& graph = *proto.mutable_graph();
  std::set<const NodeProto*> dropped;
  std::map<const NodeProto*, NodeProto> changed;  // the ends of what was joined
  std::set<std::string> joined;                   // values of a row whose first pairs were joined
  for (const NodeProto& node : model.graph().node()) {
    if (!is_quantize(node)) continue;
    const NodeProto* middle = next(links, node, is_dequantize);
    if (middle == nullptr) continue;
    if (dropped.count(&node) != 0 || joined.count(node.input(0)) != 0) {
      joined.insert(middle->output(0));
      continue;
    }
    const NodeProto* again = next(links, *middle, is_quantize);
    const NodeProto* last = again == nullptr ? nullptr : next(links, *again, is_dequantize);
    if (last == nullptr) continue;
    const auto first = pair_of(reader, node, *middle);
    const auto second = pair_of(reader, *again, *last);
    if (!first || !second || first->type != second->type || !(first->scale > 0) ||
        !(second->scale > 0) || reader.result_type(node) > onnx::TensorProto::INT8) {
      continue;
    }
    std::string scale = input_name(node, 1);
    std::string zero = input_name(node, 2);
    if (!(*first == *second)) {
      const ScalarQuantization both = common(*first, *second);
      onnx::TensorProto& scale_tensor = *graph.add_initializer();
      scale_tensor.set_name(scale = links.new_name(fmt::format("{}_joined", scale)));
      scale_tensor.set_data_type(onnx::TensorProto::FLOAT);
      scale_tensor.add_float_data(both.scale);
      onnx::TensorProto& zero_tensor = *graph.add_initializer();
      zero_tensor.set_name(zero = links.new_name(fmt::format("{}_joined", zero)));
      zero_tensor.set_data_type(both.type);
      zero_tensor.add_int32_data(static_cast<std::int32_t>(both.zero));
    }
    dropped.insert({middle, again});
    joined.insert(last->output(0));
    for (const NodeProto* const end : {&node, last}) {
      NodeProto& kept = changed[end] = *end;
      kept.set_input(1, scale);
      kept.set_input(2, zero);
    }
    changed[last].set_input(0, node.output(0));
  }
  if (dropped.empty()) return std::nullopt;
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  for (const NodeProto& one : model.graph().node()) {
    if (dropped.count(&one) != 0) continue;
    const auto found = changed.find(&one);
    *nodes.Add() = found == changed.end() ? one : found->second;
  }
  graph.mutable_node()->Swap(&nodes);
  return proto;
}

}  // namespace gemm64
