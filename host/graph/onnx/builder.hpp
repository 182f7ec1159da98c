// SPDX-License-Identifier: Apache-2.0
// Writes nodes, attributes and constants into an ONNX graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Adds to a node an attribute that it does not have yet.
void set_attribute(onnx::NodeProto& node, const std::string& name, std::int64_t value);
void set_attribute(onnx::NodeProto& node, const std::string& name, float value);
void set_attribute(onnx::NodeProto& node, const std::string& name,
                   const std::vector<std::int64_t>& values);

/// Declares a graph's input or output. A size of 0 stands for one that is left open and is called
/// "batch".
void declare(onnx::ValueInfoProto& value, const std::string& name,
             const std::vector<std::int64_t>& dims);

/// Appends to a graph, in the order in which nodes run. That names are unique is the caller's care.
class GraphBuilder {
 public:
  explicit GraphBuilder(onnx::GraphProto& graph) : graph_(graph) {}

  /// The node stays where it is when more are added.
  onnx::NodeProto& add_node(const std::string& op_type, const std::string& name,
                            const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs);

  /// An initializer: `values` as a vector of int64. Returns its name.
  std::string add_integers(const std::string& name, const std::vector<std::int64_t>& values);
  /// An initializer: a scalar of a floating-point type (FLOAT, DOUBLE, FLOAT16 or BFLOAT16).
  std::string add_scalar(const std::string& name, int data_type, double value);
  /// An initializer: float32, row by row, all zero. Returns its values for the caller to fill; they
  /// stay where they are when more is added.
  float* add_floats(const std::string& name, const std::vector<std::int64_t>& dims);

 private:
  onnx::TensorProto& add_initializer(const std::string& name, int data_type,
                                     const std::vector<std::int64_t>& dims);

  onnx::GraphProto& graph_;
};

}  // namespace gemm64
