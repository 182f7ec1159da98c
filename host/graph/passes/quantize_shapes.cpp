// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/quantize_shapes.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "host/graph/passes/fold_batch_normalization.hpp"
#include "host/graph/passes/fold_pads.hpp"
#include "host/graph/passes/quantize.hpp"

namespace gemm64 {
namespace {

constexpr std::int64_t kFewValues = 4096;

std::int64_t elements(const onnx::TensorProto& tensor) {
  std::int64_t elements = 1;
  for (const std::int64_t size : tensor.dims()) elements *= size;
  return elements;
}

/// Does a node give the values, or the largest or the mean of the values, that it reads?
bool keeps_range(const onnx::NodeProto& node) {
  static const std::set<std::string> kMoves = {
      "Dropout", "Expand",  "Flatten", "Identity",  "MaxPool",   "Pad",     "Reshape",
      "Resize",  "Squeeze", "Tile",    "Transpose", "Unsqueeze", "Upsample"};
  if (kMoves.count(node.op_type()) != 0) return true;
  return node.op_type() == "AveragePool";
}

/// A range in whose steps, a power of two, sums are exact: that is what lets the device have an
/// average pool, as most measured ranges do.
constexpr float kExactRange = 255.0F / 128;

bool averages(const OnnxModel& model, const onnx::NodeProto& node) {
  if (node.op_type() != "AveragePool") return false;
  const auto from = model.type(node.input(0)), to = model.type(node.output(0));
  return !from || !to || from->dims != to->dims;
}

/// A range for each value of float32. No two are the same, as no two measured ones are, but of
/// nodes that keep theirs.
Ranges any_ranges(const OnnxModel& model) {
  Ranges ranges;
  const auto add = [&](const std::string& name) {
    const auto type = model.type(name);
    if (!type || type->data_type != onnx::TensorProto::FLOAT || ranges.count(name) != 0) return;
    // From 1 to 3, in steps that leave each far from the others.
    ranges[name] = {0.0F, 1.0F + static_cast<float>(ranges.size() * 89 % 144) / 72.0F};
  };
  for (const onnx::NodeProto& node : model.graph().node()) {
    for (const std::string& name : node.input()) add(name);
    if (averages(model, node)) ranges[node.input(0)] = {0.0F, kExactRange};
    if (node.input_size() != 0 && node.output_size() != 0 && keeps_range(node)) {
      const auto from = ranges.find(node.input(0));
      if (from != ranges.end()) ranges[node.output(0)] = from->second;
    }
    for (const std::string& name : node.output()) add(name);
    if (node.op_type() != "Concat") continue;
    const auto all = ranges.find(node.output(0));
    if (all == ranges.end()) continue;
    all->second = {0.0F, 0.0F};
    for (const std::string& name : node.input()) {
      all->second.second = std::max(all->second.second, ranges[name].second);
    }
  }
  return ranges;
}

/// Zeros for weights that the file lacks.
void fill_weights(onnx::ModelProto& proto) {
  for (onnx::TensorProto& tensor : *proto.mutable_graph()->mutable_initializer()) {
    if (tensor.data_type() != onnx::TensorProto::FLOAT) continue;
    if (!tensor.raw_data().empty() || tensor.float_data_size() != 0) continue;
    tensor.clear_external_data();
    tensor.clear_data_location();
    tensor.mutable_raw_data()->assign(static_cast<std::size_t>(elements(tensor)) * sizeof(float),
                                      '\0');
  }
}

/// Leaves of the weights what a plan reads: their shapes.
void drop_weights(onnx::ModelProto& proto) {
  for (onnx::TensorProto& tensor : *proto.mutable_graph()->mutable_initializer()) {
    if (tensor.data_type() == onnx::TensorProto::INT8 && elements(tensor) > kFewValues) {
      tensor.clear_raw_data();
      tensor.clear_int32_data();
    }
  }
}

}  // namespace

onnx::ModelProto quantize_shapes(const OnnxModel& model) {
  onnx::ModelProto filled = model.proto();
  fill_weights(filled);
  OnnxModel file = OnnxModel::from_proto(std::move(filled), model.name());
  // To fold copies all weights, so it does not where there is nothing to fold.
  const auto& nodes = file.graph().node();
  const bool folds = std::any_of(nodes.begin(), nodes.end(), [](const onnx::NodeProto& node) {
    return node.op_type() == "BatchNormalization";
  });
  const OnnxModel folded =
      fold_pads(folds ? file.rewritten(fold_batch_normalization(file)) : std::move(file));
  onnx::ModelProto proto = quantize_model(folded, any_ranges(folded)).proto;
  drop_weights(proto);
  return proto;
}

}  // namespace gemm64
