// SPDX-License-Identifier: Apache-2.0
// Small models for tests, written in ONNX's own text form.
#pragma once

#include "host/graph/onnx/model.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_parser.hpp"

namespace gemm64 {

/// A model of one graph, such as "(float[2,3] x, float[3,4] w) => (float[2,4] y) {y = MatMul(x,
/// w)}", in which the inputs called `weights` become initializers: floats 0, 1/64, 2/64, ..., or
/// integers 0, 1, 2, ...
inline onnx::ModelProto parse_model(const std::string& graph,
                                    const std::vector<std::string>& weights = {},
                                    std::int64_t opset = 13, std::int64_t ir_version = 7) {
  onnx::ModelProto model;
  model.set_ir_version(ir_version);
  model.add_opset_import()->set_version(opset);
  model.add_opset_import()->set_domain("com.microsoft");
  model.mutable_opset_import(1)->set_version(1);
  onnx::GraphProto& to = *model.mutable_graph();
  to = parse_graph(graph);
  to.set_name("test");
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> inputs;
  inputs.Swap(to.mutable_input());
  for (const onnx::ValueInfoProto& input : inputs) {
    bool is_weight = false;
    for (const std::string& weight : weights) is_weight |= weight == input.name();
    // Up to version 3 initializers are inputs too.
    if (!is_weight || ir_version < 4) *to.add_input() = input;
    if (!is_weight) continue;
    onnx::TensorProto& tensor = *to.add_initializer();
    tensor.set_name(input.name());
    const int data_type = input.type().tensor_type().elem_type();
    tensor.set_data_type(data_type);
    std::vector<float> values(1);
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      tensor.add_dims(dim.dim_value());
      values.resize(values.size() * static_cast<std::size_t>(dim.dim_value()));
    }
    if (data_type == onnx::TensorProto::INT8 || data_type == onnx::TensorProto::UINT8) {
      for (std::size_t i = 0; i < values.size(); ++i) tensor.add_int32_data(static_cast<int>(i));
      continue;
    }
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 64;
    tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  }
  return model;
}

inline OnnxModel load_text(const std::string& graph, const std::vector<std::string>& weights = {},
                           std::int64_t opset = 13, const ImportOptions& options = {}) {
  return OnnxModel::from_proto(parse_model(graph, weights, opset), "test.onnx", options);
}

}  // namespace gemm64
