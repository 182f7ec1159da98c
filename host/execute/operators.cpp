// SPDX-License-Identifier: Apache-2.0
#include "host/execute/operators.hpp"

#include <fmt/format.h>

#include <map>

#include "host/onnx/tensor.hpp"

namespace gemm64 {
namespace {

const std::map<std::string, OperatorEntry>& registry() {
  static const std::map<std::string, OperatorEntry> entries = [] {
    std::map<std::string, OperatorEntry> all;
    for (const auto& family :
         {conv_operators(), pool_operators(), linear_operators(), elementwise_operators(),
          normalize_operators(), shape_operators(), move_operators()}) {
      for (const OperatorEntry& entry : family) all.emplace(entry.name, entry);
    }
    return all;
  }();
  return entries;
}

}  // namespace

const OperatorEntry* find_operator(const std::string& name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : &found->second;
}

std::vector<std::string> supported_operators() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : registry()) names.push_back(name);
  return names;
}

UsageError failure(const NodeContext& node, const std::string& what) {
  return UsageError(fmt::format("{}: {}", node.label, what));
}

const Tensor& optional_input(const Tensors& inputs, std::size_t index) {
  static const Tensor absent;
  return index < inputs.size() ? inputs[index] : absent;
}

const Tensor& input(const NodeContext& node, const Tensors& inputs, std::size_t index) {
  const Tensor& tensor = optional_input(inputs, index);
  if (!tensor.present()) {
    throw failure(node, fmt::format("it has no input number {}, which it needs", index + 1));
  }
  return tensor;
}

std::size_t checked_axis(const NodeContext& node, std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) {
    throw failure(node, fmt::format("axis {} of a tensor of {} dimensions", axis, rank));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

std::vector<std::int64_t> integers(const NodeContext& node, const Tensor& tensor) {
  if (tensor.rank() > 1) {
    throw failure(node, fmt::format("a list of integers is needed, {} is given", describe(tensor)));
  }
  if (tensor.type() == onnx::TensorProto::INT32) {
    const auto* values = tensor.values<std::int32_t>();
    return {values, values + tensor.elements()};
  }
  if (tensor.type() != onnx::TensorProto::INT64) {
    throw failure(node, fmt::format("int64 is needed where {} is given", describe(tensor)));
  }
  const auto* values = tensor.values<std::int64_t>();
  return {values, values + tensor.elements()};
}

const onnx::AttributeProto* find_attribute(const NodeContext& node, const std::string& name) {
  for (const onnx::AttributeProto& attribute : node.node->attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

std::vector<std::int64_t> axes_of(const NodeContext& node, const Tensors& inputs,
                                  std::int64_t moved) {
  if (node.opset < moved) return attribute(*node.node, "axes", Dims{});
  const Tensor& axes = optional_input(inputs, 1);
  return axes.present() ? integers(node, axes) : Dims{};
}

}  // namespace gemm64
