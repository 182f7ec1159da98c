// SPDX-License-Identifier: Apache-2.0
#include "host/onnx/linear_layer.hpp"

#include <algorithm>

namespace gemm64 {
namespace {

constexpr int kFloat = onnx::TensorProto::FLOAT;

bool is_gemm(const onnx::NodeProto& node) { return node.op_type() == "Gemm"; }

/// Sizes of [1, ..., 1, rows, columns], none of them 0.
bool is_matrix(const std::vector<std::int64_t>& dims) {
  return dims.size() >= 2 && std::count(dims.begin(), dims.end(), 0) == 0 &&
         std::all_of(dims.begin(), dims.end() - 2, [](std::int64_t dim) { return dim == 1; });
}

std::optional<TensorType> input_type(const OnnxModel& model, const onnx::NodeProto& node, int i) {
  return i < node.input_size() ? model.type(node.input(i)) : std::nullopt;
}

}  // namespace

std::string why_on_host(const onnx::NodeProto& node, bool constant_weights,
                        const std::optional<TensorType>& a, const std::optional<TensorType>& b) {
  const std::string& type = node.op_type();
  if (node.domain().empty() && (type == "Conv" || type == "ConvTranspose")) {
    return "convolutions run on the host";
  }
  if (!node.domain().empty() || (type != "Gemm" && type != "MatMul")) {
    return printable(type) + " runs on the host";
  }
  if (!constant_weights) return "its weights depend on the input";
  if (!a || !b) return "its shape is not known";
  if (a->data_type != kFloat || b->data_type != kFloat) return "its operands are not float32";
  // A stack of one matrix must not add axes to the result.
  if (a->dims.size() < (is_gemm(node) ? 2U : 1U) || !is_matrix(b->dims) ||
      b->dims.size() > std::max<std::size_t>(a->dims.size(), 2)) {
    return "its weights are not a matrix";
  }
  return std::count(a->dims.begin(), a->dims.end(), 0) != 0 ? "its input is empty" : "";
}

std::string why_on_host(const OnnxModel& model, const onnx::NodeProto& node) {
  const bool constant_weights = node.input_size() > 1 && model.is_constant(node.input(1));
  return why_on_host(node, constant_weights, input_type(model, node, 0),
                     input_type(model, node, 1));
}

std::optional<ProductSizes> linear_product(const OnnxModel& model, const onnx::NodeProto& node) {
  if (!why_on_host(model, node).empty()) return std::nullopt;
  const TensorType a = *input_type(model, node, 0);
  const TensorType b = *input_type(model, node, 1);
  const bool transposed = is_gemm(node) && attribute(node, "transB", std::int64_t{0}) != 0;
  const std::size_t rank = b.dims.size();
  const std::int64_t k = b.dims[rank - (transposed ? 1 : 2)];
  const std::int64_t n = b.dims[rank - (transposed ? 2 : 1)];
  const auto size = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return ProductSizes{size(a.elements() / k), size(k), size(n)};
}

}  // namespace gemm64
