// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/integer_node.hpp"

#include <map>
#include <string>

#include "host/graph/onnx/supported.hpp"
#include "host/kernels/integer_operators.hpp"
#include "host/kernels/integer_product.hpp"

namespace gemm64 {

namespace {

/// An attribute of the same operator without quantization.
bool is_of_attention(const std::string& name) {
  return name == "num_heads" || name == "unidirectional" || name == "mask_filter_value" ||
         name == "scale" || name == "do_rotary" || name == "past_present_share_buffer";
}

/// The queries, keys and values of a QAttention without their bias: exact sums as floats.
Tensor projected(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& weights = input(node, inputs, 1);
  const std::vector<float> x_scales = scales_of(node, input(node, inputs, 3));
  const std::vector<float> w_scales = scales_of(node, input(node, inputs, 4));
  Tensor sums = matrix_sums(node, {x, zeros_of(node, optional_input(inputs, 6), x.type())},
                            {weights, zeros_of(node, optional_input(inputs, 7), weights.type())});
  const std::int64_t columns = weights.dims().back();
  const auto scales = static_cast<std::int64_t>(w_scales.size());
  if (x_scales.size() != 1 || (scales != 1 && scales != columns)) {
    throw failure(node, "its scales do not fit its weights, " + describe(weights));
  }
  Tensor result(onnx::TensorProto::FLOAT, sums.dims());
  for (std::int64_t i = 0; i < sums.elements(); ++i) {
    const float by = x_scales[0] * w_scales[static_cast<std::size_t>(i % scales)];
    result.mutable_values<float>()[i] = static_cast<float>(sums.values<std::int32_t>()[i]) * by;
  }
  return result;
}

Tensor identity(std::int64_t size) {
  Tensor matrix(onnx::TensorProto::FLOAT, {size, size});
  Eigen::Map<MatrixF>(matrix.mutable_values<float>(), size, size).setIdentity();
  return matrix;
}

/// ONNX Runtime attends: an Attention whose weights are ones on the diagonal.
Tensors quantized_attention(const NodeContext& node, const Tensors& inputs,
                            const HostNodes& nodes) {
  HostNodes::Values given;
  onnx::NodeProto attention;
  attention.set_name(node.label);
  attention.set_op_type("Attention");
  attention.set_domain("com.microsoft");
  const auto give = [&](const char* name, const Tensor& tensor) {
    attention.add_input(tensor.present() ? node.label + name : "");
    if (tensor.present()) given[node.label + name] = tensor;
  };
  const Tensor sums = projected(node, inputs);
  give(" projected", sums);
  give(" identity", identity(sums.dims().back()));
  give(" bias", input(node, inputs, 2));
  give(" mask", optional_input(inputs, 5));
  give(" past", optional_input(inputs, 8));
  for (const onnx::AttributeProto& attribute : node.node->attribute()) {
    if (is_of_attention(attribute.name())) *attention.add_attribute() = attribute;
  }
  std::vector<std::string> wanted;
  for (const std::string& output : node.node->output()) {
    attention.add_output(output.empty() ? "" : node.label + output);
    if (!output.empty()) wanted.push_back(node.label + output);
  }
  const std::map<std::string, Tensor> found = nodes.values(wanted, given, {attention});
  Tensors results;
  for (const std::string& name : attention.output()) {
    results.push_back(name.empty() ? Tensor() : found.at(name));
  }
  return results;
}

}  // namespace

Tensors compute_integer_node(const NodeContext& context, const Tensors& inputs,
                             const HostNodes& nodes) {
  static const std::map<std::string, host::OperatorFunction*> functions{
      {"ConvInteger", host::conv_integer},
      {"MatMulInteger", host::matmul_integer},
      {"QLinearConv", host::qlinear_conv},
      {"QLinearMatMul", host::qlinear_matmul},
      {"com.microsoft.DynamicQuantizeMatMul", host::dynamic_quantize_matmul},
      {"com.microsoft.MatMulIntegerToFloat", host::matmul_integer_to_float},
      {"com.microsoft.MatMulNBits", host::matmul_n_bits},
      {"com.microsoft.QGemm", host::qgemm}};
  const std::string name = operator_name(*context.node);
  if (name == "com.microsoft.QAttention") return quantized_attention(context, inputs, nodes);
  return functions.at(name)(context, inputs);
}

}  // namespace gemm64
