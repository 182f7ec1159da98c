// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "host/graph/onnx/operator.hpp"
#include "host/graph/onnx/work.hpp"

namespace gemm64 {

// The table's last column is a function: this declares it.
#define ROW(domain, name, roles, work_rule) \
  namespace work {                          \
  WorkRule work_rule;                       \
  }
#define VIEW ROW
#include "host/graph/onnx/operator_table.inc"
#undef ROW
#undef VIEW

namespace {

bool before(const OperatorInfo& a, const OperatorInfo& b) {
  return std::tie(a.domain, a.name) < std::tie(b.domain, b.name);
}

std::vector<OperatorInfo> make_table() {
  std::vector<OperatorInfo> table{
#define ROW(domain, name, roles, work_rule) {domain, #name, roles, false, work::work_rule},
#define VIEW(domain, name, roles, work_rule) {domain, #name, roles, true, work::work_rule},
#include "host/graph/onnx/operator_table.inc"
  };
  std::sort(table.begin(), table.end(), before);
  return table;
}

}  // namespace

const std::vector<OperatorInfo>& operator_table() {
  static const std::vector<OperatorInfo> table = make_table();
  return table;
}

const OperatorInfo* find_operator(std::string_view domain, std::string_view name) {
  OperatorInfo wanted;
  wanted.domain = domain == "ai.onnx" ? "" : domain;
  wanted.name = name;
  const auto& table = operator_table();
  const auto found = std::lower_bound(table.begin(), table.end(), wanted, before);
  return found == table.end() || before(wanted, *found) ? nullptr : &*found;
}

}  // namespace gemm64
