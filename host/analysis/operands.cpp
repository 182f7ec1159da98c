// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/operands.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>

namespace gemm64 {
namespace {

using onnx::TensorProto;

/// Inputs that say how to work rather than what to work on: `first` and all after it.
int first_setting(const std::string& op_type) {
  static const std::map<std::string, int> first{
      {"Clip", 1},           {"ConstantOfShape", 0}, {"CumSum", 1}, {"Dropout", 1},
      {"Expand", 1},         {"OneHot", 1},          {"Pad", 1},    {"Range", 0},
      {"ReduceSum", 1},      {"Reshape", 1},         {"Resize", 1}, {"Slice", 1},
      {"Split", 1},          {"Squeeze", 1},         {"Tile", 1},   {"TopK", 1},
      {"Unsqueeze", 1},      {"Upsample", 1},        {"Trilu", 1},  {"Loop", 0},
      {"QuantizeLinear", 1}, {"DequantizeLinear", 1}};
  const auto found = first.find(op_type);
  return found == first.end() ? -1 : found->second;
}

int bias_input(const std::string& op_type) {
  static const std::map<std::string, int> bias{{"BatchNormalization", 2},
                                               {"Conv", 2},
                                               {"ConvTranspose", 2},
                                               {"GRU", 3},
                                               {"Gemm", 2},
                                               {"LSTM", 3},
                                               {"InstanceNormalization", 2},
                                               {"LayerNormalization", 2},
                                               {"QLinearConv", 8},
                                               {"RNN", 3}};
  const auto found = bias.find(op_type);
  return found == bias.end() ? -1 : found->second;
}

/// Do the operator's operands hold numbers of 32 or 64 bits that were trained?
bool has_integer_weights(const std::string& op_type) {
  return op_type == "QLinearConv" || op_type == "DequantizeLinear" || op_type == "MatMulInteger" ||
         op_type == "ConvInteger" || op_type == "QLinearMatMul";
}

bool is_index_type(int data_type) {
  return data_type == TensorProto::INT32 || data_type == TensorProto::INT64 ||
         data_type == TensorProto::BOOL || data_type == TensorProto::STRING ||
         data_type == TensorProto::UINT32 || data_type == TensorProto::UINT64;
}

}  // namespace

Operand operand(const OnnxModel& model, const onnx::NodeProto& node, int i) {
  const std::string& op = node.op_type();
  const int setting = first_setting(op);
  if (setting >= 0 && i >= setting) return Operand::kSetting;
  if (!model.is_constant(node.input(i))) return Operand::kActivation;
  const std::optional<TensorType> type = model.type(node.input(i));
  if (!type || type->dims.empty()) return Operand::kSetting;
  if (is_index_type(type->data_type) && !has_integer_weights(op)) return Operand::kSetting;
  if (op == "BatchNormalization" && i >= 3) return Operand::kStatistic;
  if (i == bias_input(op)) return Operand::kBias;
  // A Linear layer as MatMul has its bias in the Add behind it.
  if (op == "Add" && type->dims.size() == 1) return Operand::kBias;
  return Operand::kWeight;
}

bool is_view(const onnx::NodeProto& node) {
  static const std::initializer_list<const char*> views{"Constant", "Flatten", "Identity",
                                                        "Reshape",  "Squeeze", "Unsqueeze"};
  return node.domain().empty() &&
         std::any_of(views.begin(), views.end(),
                     [&node](const char* view) { return node.op_type() == view; });
}

}  // namespace gemm64
