// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "host/graph/proto/tensor_data.hpp"

namespace gemm64 {
namespace {

using onnx::AttributeProto;

constexpr std::size_t kMaxNumbers = 12;  // of a list that are shown

struct Value {
  std::string name;
  std::string text;
  std::vector<double> numbers;
};

std::string list_text(const std::vector<double>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < std::min(numbers.size(), kMaxNumbers); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : "x", numbers[i]);
  }
  if (numbers.size() > kMaxNumbers) text += fmt::format("x... ({} values)", numbers.size());
  return text.empty() ? "none" : text;
}

std::string tensor_text(const onnx::TensorProto& tensor) {
  return fmt::format("{} {}", data_type_name(tensor.data_type()),
                     dims_text({tensor.dims().begin(), tensor.dims().end()}));
}

Value value_of(const AttributeProto& attribute) {
  Value value{printable(attribute.name()), "", {}};
  // 32-bit floats as they are written, not as 64 bits show them.
  const auto shown = [](float number) { return std::stod(fmt::format("{}", number)); };
  switch (attribute.type()) {
    case AttributeProto::INT:
      value.numbers = {static_cast<double>(attribute.i())};
      break;
    case AttributeProto::FLOAT:
      value.numbers = {shown(attribute.f())};
      break;
    case AttributeProto::INTS:
      value.numbers.assign(attribute.ints().begin(), attribute.ints().end());
      break;
    case AttributeProto::FLOATS:
      std::transform(attribute.floats().begin(), attribute.floats().end(),
                     std::back_inserter(value.numbers), shown);
      break;
    case AttributeProto::STRING:
      value.text = printable(attribute.s());
      return value;
    case AttributeProto::TENSOR:
      value.text = tensor_text(attribute.t());
      return value;
    default:
      value.text = fmt::format("({})", AttributeProto::AttributeType_Name(attribute.type()));
      return value;
  }
  value.text = list_text(value.numbers);
  return value;
}

std::vector<Value> values_in(const OnnxModel& model, const onnx::NodeProto& node) {
  std::vector<Value> values;
  for (const AttributeProto& attribute : node.attribute()) values.push_back(value_of(attribute));
  if (node.op_type() == "Clip" && node.domain().empty()) {
    const char* const names[] = {"min", "max"};
    for (int i = 1; i < std::min(node.input_size(), 3); ++i) {
      const onnx::TensorProto* bound = model.constant(node.input(i));
      const auto number = bound == nullptr ? std::nullopt : float_values(*bound, 1);
      if (!number || number->size() != 1) continue;
      const auto shown = static_cast<double>(number->front());
      values.push_back({names[i - 1], list_text({shown}), {shown}});
    }
  }
  return values;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> attribute_texts(const OnnxModel& model,
                                                                 const onnx::NodeProto& node) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const Value& value : values_in(model, node)) texts.emplace_back(value.name, value.text);
  return texts;
}

void add_attributes(const OnnxModel& model, const onnx::NodeProto& node, OperatorKind& kind) {
  for (const Value& value : values_in(model, node)) {
    OperatorKind::Attribute& attribute = kind.attributes[value.name];
    ++attribute.count;
    for (const double number : value.numbers) {
      if (std::isnan(number)) continue;
      if (!attribute.range) attribute.range = {number, number};
      attribute.range->first = std::min(attribute.range->first, number);
      attribute.range->second = std::max(attribute.range->second, number);
    }
    auto& known = attribute.values;
    if (std::find(known.begin(), known.end(), value.text) != known.end()) continue;
    if (known.size() < OperatorKind::kMaxValues) {
      known.push_back(value.text);
    } else {
      attribute.more = true;
    }
  }
}

std::string short_attributes(const LayerAnalysis& layer) {
  static const std::set<std::string> all_ones{"dilations", "group", "strides", "alpha", "beta"};
  static const std::set<std::string> all_zeros{"pads", "ceil_mode", "transA"};
  std::string text;
  for (const auto& [name, value] : layer.attributes) {
    const auto only = [&text = value](const char* digits) {
      return text.find_first_not_of(digits) == std::string::npos;
    };
    const bool usual = (all_ones.count(name) != 0 && only("1x")) ||
                       (all_zeros.count(name) != 0 && only("0x")) || name == "training_mode" ||
                       (name == "auto_pad" && value == "NOTSET");
    if (!usual) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

}  // namespace gemm64
