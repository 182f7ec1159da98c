// SPDX-License-Identifier: Apache-2.0
#include "host/rewrite/quantize_shapes.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "host/rewrite/fold_batch_normalization.hpp"
#include "host/rewrite/fold_pads.hpp"
#include "host/rewrite/quantize.hpp"

namespace gemm64 {
namespace {

constexpr std::int64_t kFewValues = 4096;

std::int64_t elements(const onnx::TensorProto& tensor) {
  std::int64_t elements = 1;
  for (const std::int64_t size : tensor.dims()) elements *= size;
  return elements;
}

/// A range for each value of float32.
Ranges any_ranges(const OnnxModel& model) {
  Ranges ranges;
  const auto add = [&](const std::string& name) {
    const auto type = model.type(name);
    if (type && type->data_type == onnx::TensorProto::FLOAT) ranges[name] = {0.0F, 1.0F};
  };
  for (const onnx::NodeProto& node : model.graph().node()) {
    for (const std::string& name : node.input()) add(name);
    for (const std::string& name : node.output()) add(name);
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
  const OnnxModel file = OnnxModel::from_proto(std::move(filled), model.name());
  const OnnxModel folded = with_folded_pads(file.rewritten(fold_batch_normalization(file)));
  onnx::ModelProto proto = quantize_model(folded, any_ranges(folded)).proto;
  drop_weights(proto);
  return proto;
}

}  // namespace gemm64
