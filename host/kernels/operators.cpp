// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/operators.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gemm64 {
namespace {

bool is_narrow(DataType type) {
  return type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::BFLOAT16;
}

/// The same values as float32, or from float32 as `to`.
template <class To, class From>
Tensor converted(const Tensor& from) {
  Tensor result(data_type_of<To>(), from.dims());
  std::transform(from.values<From>(), from.values<From>() + from.elements(),
                 result.mutable_values<To>(), [](From value) { return static_cast<To>(value); });
  return result;
}

Tensor widened(const Tensor& tensor) {
  if (tensor.type() == onnx::TensorProto::FLOAT16) return converted<float, Eigen::half>(tensor);
  return converted<float, Eigen::bfloat16>(tensor);
}

Tensor narrowed(const Tensor& tensor, DataType type) {
  if (type == onnx::TensorProto::FLOAT16) return converted<Eigen::half, float>(tensor);
  return converted<Eigen::bfloat16, float>(tensor);
}

}  // namespace

Tensors compute(const Kernel& kernel, const NodeContext& node, const Tensors& inputs) {
  DataType narrow = onnx::TensorProto::UNDEFINED;
  for (const Tensor& tensor : inputs) {
    if (is_narrow(tensor.type())) narrow = tensor.type();
  }
  if (!kernel.widens || narrow == onnx::TensorProto::UNDEFINED)
    return kernel.function(node, inputs);
  Tensors wide = inputs;
  for (Tensor& tensor : wide) {
    if (is_narrow(tensor.type())) tensor = widened(tensor);
  }
  Tensors results = kernel.function(node, wide);
  // Further outputs, such as statistics, are float32 by definition.
  if (!results.empty() && results[0].type() == onnx::TensorProto::FLOAT) {
    results[0] = narrowed(results[0], narrow);
  }
  return results;
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
    throw failure(node, fmt::format("axis {} of a tensor of {}", axis,
                                    counted(static_cast<std::uint64_t>(rank), "dimension")));
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
