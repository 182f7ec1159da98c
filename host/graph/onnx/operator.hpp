// SPDX-License-Identifier: Apache-2.0
// What is known of each operator, in one table: operator_table.inc has a row for each.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace gemm64 {

class NodeShapes;
struct Work;

using WorkRule = std::optional<Work>(const NodeShapes&);

struct OperatorInfo {
  std::string_view domain;  // "" is ONNX's own
  std::string_view name;
  /// A letter for each input, the last for all further ones: d data (weights where constant), q
  /// data of quantized values, a an addend (a bias where it is a constant vector), b a bias, t a
  /// statistic of training, s a setting. Letters in parentheses come again and again.
  std::string_view roles;
  /// Does the output share its input's memory?
  bool is_view = false;
  /// Counts MACs (host/graph/onnx/work.hpp); empty where it cannot.
  WorkRule* work = nullptr;
};

/// The row of an operator, or nullptr.
const OperatorInfo* find_operator(std::string_view domain, std::string_view name);

/// All rows, by domain and name.
const std::vector<OperatorInfo>& operator_table();

}  // namespace gemm64
