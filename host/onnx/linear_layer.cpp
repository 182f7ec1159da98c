// SPDX-License-Identifier: Apache-2.0
#include "host/onnx/linear_layer.hpp"

#include <algorithm>

namespace gemm64 {
namespace {

constexpr int kFloat = onnx::TensorProto::FLOAT;

struct QuantizedForm {
  const char* domain;
  const char* op_type;
  LinearOperands operands;
};

constexpr const char* kMicrosoft = "com.microsoft";
constexpr QuantizedForm kQuantizedForms[] = {
    {"", "MatMulInteger", {0, 1, 3, true}},
    {"", "QLinearMatMul", {0, 3, 5, true}},
    {kMicrosoft, "QGemm", {0, 3, 5, true}},
    {kMicrosoft, "MatMulIntegerToFloat", {0, 1, 5, true}},
    {kMicrosoft, "DynamicQuantizeMatMul", {0, 1, 3, true}},
};

bool is_gemm(const onnx::NodeProto& node) {
  return node.op_type() == "Gemm" || node.op_type() == "QGemm";
}

bool is_byte(int type) {
  return type == onnx::TensorProto::INT8 || type == onnx::TensorProto::UINT8;
}

/// Sizes of [1, ..., 1, rows, columns], none of them 0.
bool is_matrix(const std::vector<std::int64_t>& dims) {
  return dims.size() >= 2 && std::count(dims.begin(), dims.end(), 0) == 0 &&
         std::all_of(dims.begin(), dims.end() - 2, [](std::int64_t dim) { return dim == 1; });
}

std::optional<TensorType> input_type(const OnnxModel& model, const onnx::NodeProto& node, int i) {
  return i < node.input_size() ? model.type(node.input(i)) : std::nullopt;
}

bool is_convolution(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  if (node.domain() == kMicrosoft) return type == "QLinearConv";
  return node.domain().empty() && (type == "Conv" || type == "ConvTranspose" ||
                                   type == "ConvInteger" || type == "QLinearConv");
}

}  // namespace

std::optional<LinearOperands> linear_operands(const onnx::NodeProto& node) {
  if (node.domain().empty() && (node.op_type() == "Gemm" || node.op_type() == "MatMul")) {
    return LinearOperands{};
  }
  for (const QuantizedForm& form : kQuantizedForms) {
    if (node.domain() == form.domain && node.op_type() == form.op_type) return form.operands;
  }
  return std::nullopt;
}

bool has_constant_weights(const OnnxModel& model, const onnx::NodeProto& node) {
  const std::optional<LinearOperands> operands = linear_operands(node);
  if (!operands) return false;
  const auto constant = [&](int i) {
    return i < node.input_size() && (node.input(i).empty() || model.is_constant(node.input(i)));
  };
  if (!constant(operands->b) || node.input(operands->b).empty()) return false;
  if (node.op_type() != "QGemm" && node.op_type() != "QLinearMatMul") return true;
  for (int i = 1; i < node.input_size(); ++i) {
    if (!constant(i)) return false;
  }
  return true;
}

std::string why_on_host(const onnx::NodeProto& node, bool constant_weights,
                        const std::optional<TensorType>& a, const std::optional<TensorType>& b) {
  if (is_convolution(node)) return "convolutions run on the host";
  const std::optional<LinearOperands> operands = linear_operands(node);
  if (!operands) return printable(node.op_type()) + " runs on the host";
  if (!constant_weights) {
    return operands->quantized ? "its weights or scales depend on the input"
                               : "its weights depend on the input";
  }
  if (!a || !b) return "its shape is not known";
  if (operands->quantized) {
    const bool dynamic = node.op_type() == "DynamicQuantizeMatMul";
    if (!is_byte(b->data_type) || (dynamic ? a->data_type != kFloat : !is_byte(a->data_type))) {
      return "its operands are not of 8 bits";
    }
    if (attribute(node, "transA", std::int64_t{0}) != 0) return "its input is transposed";
  } else if (a->data_type != kFloat || b->data_type != kFloat) {
    return "its operands are not float32";
  }
  // A stack of one matrix must not add axes to the result.
  if (a->dims.size() < (is_gemm(node) ? 2U : 1U) || !is_matrix(b->dims) ||
      b->dims.size() > std::max<std::size_t>(a->dims.size(), 2)) {
    return "its weights are not a matrix";
  }
  return std::count(a->dims.begin(), a->dims.end(), 0) != 0 ? "its input is empty" : "";
}

std::string why_on_host(const OnnxModel& model, const onnx::NodeProto& node) {
  const LinearOperands operands = linear_operands(node).value_or(LinearOperands{});
  return why_on_host(node, has_constant_weights(model, node), input_type(model, node, operands.a),
                     input_type(model, node, operands.b));
}

std::optional<ProductSizes> linear_product(const OnnxModel& model, const onnx::NodeProto& node) {
  if (!why_on_host(model, node).empty()) return std::nullopt;
  const LinearOperands operands = *linear_operands(node);
  const TensorType a = *input_type(model, node, operands.a);
  const TensorType b = *input_type(model, node, operands.b);
  const bool transposed = is_gemm(node) && attribute(node, "transB", std::int64_t{0}) != 0;
  const std::size_t rank = b.dims.size();
  const std::int64_t k = b.dims[rank - (transposed ? 1 : 2)];
  const std::int64_t n = b.dims[rank - (transposed ? 2 : 1)];
  const auto size = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return ProductSizes{size(a.elements() / k), size(k), size(n)};
}

}  // namespace gemm64
