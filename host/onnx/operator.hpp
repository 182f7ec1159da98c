// SPDX-License-Identifier: Apache-2.0
// What is known of each operator, in one table: host/execute/operator_table.inc has a row for each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/onnx/onnx.pb.h"

namespace gemm64 {

class NodeShapes;
class RuleNode;
class Tensor;
struct NodeContext;
struct Work;

using ShapeRule = void(RuleNode&);
using WorkRule = std::optional<Work>(const NodeShapes&);
using OperatorFunction = std::vector<Tensor>(const NodeContext&, const std::vector<Tensor>&);

struct OperatorInfo {
  std::string_view domain;  // "" is ONNX's own
  std::string_view name;
  /// A letter for each input, the last for all further ones: d data (weights where constant), q
  /// data of quantized values, a an addend (a bias where it is a constant vector), b a bias, t a
  /// statistic of training, s a setting. Letters in parentheses come again and again.
  std::string_view roles;
  /// Does the output share its input's memory?
  bool is_view = false;
  /// Sets the outputs' types (host/onnx/shape_rules.hpp); throws NotKnown if it cannot.
  ShapeRule* shape = nullptr;
  /// Counts MACs (host/onnx/work.hpp); empty where it cannot.
  WorkRule* work = nullptr;
  /// The first opset whose form of the node `function` reads.
  std::int64_t since = 0;
  /// Computes the node (host/execute/operators.hpp); nullptr where the host does not.
  OperatorFunction* function = nullptr;
  /// Does the function compute on float32 what it is given in 16 bits?
  bool widens = false;
};

/// The row of an operator, or nullptr.
const OperatorInfo* find_operator(std::string_view domain, std::string_view name);

/// All rows, by domain and name.
const std::vector<OperatorInfo>& operator_table();

/// Computes a node from tensors that are known before the network runs (one without a type is an
/// input that was left out). Empty where the host does not compute such a node.
std::optional<std::vector<onnx::TensorProto>> fold(const onnx::NodeProto& node, std::int64_t opset,
                                                   const std::vector<onnx::TensorProto>& inputs);

}  // namespace gemm64
