// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "host/graph/onnx/operator.hpp"
#include "host/graph/onnx/work.hpp"

namespace gemm64 {

// The table's columns are functions: this declares them.
#define HOST(domain, name, roles, work_rule, since, function) \
  KNOWN(domain, name, roles, work_rule)                       \
  namespace host {                                            \
  OperatorFunction function;                                  \
  }
#define MOVE HOST
#define VIEW HOST
#define KNOWN(domain, name, roles, work_rule) \
  namespace work {                            \
  WorkRule work_rule;                         \
  }
#include "host/graph/onnx/operator_table.inc"
#undef HOST
#undef KNOWN

namespace {

bool before(const OperatorInfo& a, const OperatorInfo& b) {
  return std::tie(a.domain, a.name) < std::tie(b.domain, b.name);
}

std::vector<OperatorInfo> make_table() {
  std::vector<OperatorInfo> table{
#define ROW(domain, name, roles, view, work_rule, since, function, widens) \
  {{function, since, widens}, domain, #name, roles, view, work::work_rule},
#undef MOVE
#undef VIEW
#define HOST(domain, name, roles, work_rule, since, function) \
  ROW(domain, name, roles, false, work_rule, since, host::function, true)
#define MOVE(domain, name, roles, work_rule, since, function) \
  ROW(domain, name, roles, false, work_rule, since, host::function, false)
#define VIEW(domain, name, roles, work_rule, since, function) \
  ROW(domain, name, roles, true, work_rule, since, host::function, false)
#define KNOWN(domain, name, roles, work_rule) \
  ROW(domain, name, roles, false, work_rule, 0, nullptr, false)
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

std::vector<std::string> supported_operators() {
  std::vector<std::string> names;
  for (const OperatorInfo& info : operator_table()) {
    if (info.function == nullptr) continue;
    names.push_back(fmt::format("{}{}{}", info.domain, info.domain.empty() ? "" : ".", info.name));
  }
  return names;
}

}  // namespace gemm64
