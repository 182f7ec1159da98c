// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/operands.hpp"

#include <algorithm>

#include "host/graph/onnx/operator.hpp"

namespace gemm64 {
namespace {

using onnx::TensorProto;

/// The letter of input `i` (OperatorInfo::roles). Inputs of unknown operators are data.
char role_letter(const OperatorInfo* info, int i) {
  if (info == nullptr) return 'd';
  const std::string_view roles = info->roles;
  const std::size_t open = roles.find('(');
  const auto index = static_cast<std::size_t>(i);
  if (open == std::string_view::npos) return roles[std::min(index, roles.size() - 1)];
  if (index < open) return roles[index];
  const std::size_t length = roles.size() - open - 2;
  return roles[open + 1 + (index - open) % length];
}

bool is_index_type(int data_type) {
  return data_type == TensorProto::INT32 || data_type == TensorProto::INT64 ||
         data_type == TensorProto::BOOL || data_type == TensorProto::STRING ||
         data_type == TensorProto::UINT32 || data_type == TensorProto::UINT64;
}

}  // namespace

Operand operand(const OnnxModel& model, const onnx::NodeProto& node, int i) {
  const char letter = role_letter(find_operator(node.domain(), node.op_type()), i);
  if (letter == 's') return Operand::kSetting;
  if (!model.is_constant(node.input(i))) return Operand::kActivation;
  const std::optional<TensorType> type = model.type(node.input(i));
  if (type && type->dims.empty()) return Operand::kSetting;
  if (letter == 't') return Operand::kStatistic;
  if (letter == 'b') return Operand::kBias;
  // Indices and shapes; but quantized operators have weights that are integers.
  if (letter != 'q' && type && is_index_type(type->data_type)) return Operand::kSetting;
  // A Linear layer as MatMul has its bias in the Add after it.
  if (letter == 'a' && type && type->dims.size() == 1) return Operand::kBias;
  return Operand::kWeight;
}

bool is_folded(const OnnxModel& model, const onnx::NodeProto& node) {
  return std::all_of(
      node.output().begin(), node.output().end(),
      [&model](const std::string& output) { return output.empty() || model.is_constant(output); });
}

Origins::Origins(const OnnxModel& model) : model_(model) {
  for (const onnx::NodeProto& node : model.graph().node()) {
    if (!is_folded(model, node)) continue;
    for (const std::string& output : node.output()) producers_[output] = &node;
  }
}

std::set<std::string> Origins::of(const std::string& value) const {
  std::set<std::string> origins;
  std::set<std::string> seen{value};
  std::vector<std::string> open{value};
  while (!open.empty()) {
    const std::string at = open.back();
    open.pop_back();
    bool is_made = false;
    const auto producer = producers_.find(at);
    for (int i = 0; producer != producers_.end() && i < producer->second->input_size(); ++i) {
      const std::string& input = producer->second->input(i);
      if (input.empty() || operand(model_, *producer->second, i) == Operand::kSetting) continue;
      is_made = true;
      if (seen.insert(input).second) open.push_back(input);
    }
    if (!is_made) origins.insert(at);
  }
  return origins;
}

}  // namespace gemm64
