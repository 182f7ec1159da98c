// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/linear_layer.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "host/graph/onnx/supported.hpp"
#include "host/kernels/broadcast.hpp"
#include "host/kernels/matmul_bits.hpp"
#include "host/util/divide.hpp"

namespace gemm64 {
namespace {

constexpr int kFloat = onnx::TensorProto::FLOAT;

bool is_gemm(const onnx::NodeProto& node) {
  return node.op_type() == "Gemm" || node.op_type() == "QGemm";
}

bool is_byte(int type) {
  return type == onnx::TensorProto::INT8 || type == onnx::TensorProto::UINT8;
}

/// Products of integers: their weights' input.
std::optional<int> quantized_weights(const onnx::NodeProto& node) {
  static const std::map<std::string, int> inputs{{"QLinearMatMul", 3},
                                                 {"MatMulInteger", 1},
                                                 {"com.microsoft.QGemm", 3},
                                                 {"com.microsoft.DynamicQuantizeMatMul", 1},
                                                 {"com.microsoft.MatMulIntegerToFloat", 1},
                                                 {"com.microsoft.MatMulNBits", 1},
                                                 {"com.microsoft.QAttention", 1},
                                                 {"ConvInteger", 1},
                                                 {"QLinearConv", 3}};
  const auto found = inputs.find(operator_name(node));
  return found == inputs.end() ? std::nullopt : std::optional<int>(found->second);
}

/// Sizes of [1, ..., 1, rows, columns], none of them 0.
bool is_matrix(const std::vector<std::int64_t>& dims) {
  return dims.size() >= 2 && std::count(dims.begin(), dims.end(), 0) == 0 &&
         std::all_of(dims.begin(), dims.end() - 2, [](std::int64_t dim) { return dim == 1; });
}

std::int64_t number(const onnx::NodeProto& node, const char* name) {
  return attribute(node, name, std::int64_t{0});
}

bool is_in_blocks(const onnx::NodeProto& node) {
  return operator_name(node) == "com.microsoft.MatMulNBits";
}

std::optional<TensorType> input_type(const OnnxModel& model, const onnx::NodeProto& node, int i) {
  return i < node.input_size() ? model.type(node.input(i)) : std::nullopt;
}

/// Is the input empty?
std::string why_empty(const TensorType& a) {
  return std::count(a.dims.begin(), a.dims.end(), 0) != 0 ? "its input is empty" : "";
}

std::int64_t groups_of(const onnx::NodeProto& node) {
  return is_quantized_convolution(node) ? attribute(node, "group", std::int64_t{1}) : 1;
}

/// Of a quantized convolution.
std::string why_convolution_on_host(const onnx::NodeProto& node, const TensorType& x,
                                    const TensorType& weights) {
  const std::size_t rank = x.dims.size();
  const std::int64_t groups = groups_of(node);
  if (rank < 3 || rank > 5 || weights.dims.size() != rank || groups < 1 ||
      weights.dims[0] % groups != 0 || weights.dims[1] != x.dims[1] / groups ||
      x.dims[1] % groups != 0 || attribute(node, "channels_last", std::int64_t{0}) != 0) {
    return "its shapes do not fit";  // the host will tell more
  }
  return why_empty(weights);
}

/// Does a node multiply two stacks of matrices, if the second one is none of constants?
bool multiplies_stacks(const onnx::NodeProto& node) {
  const std::string name = operator_name(node);
  return name == "MatMulInteger" || name == "com.microsoft.MatMulIntegerToFloat";
}

/// The products of two stacks of matrices; nothing where they do not fit.
std::optional<Products> stack_products(const Dims& a, const Dims& b) {
  const Dims a_stack(a.begin(), a.end() - 2), b_stack(b.begin(), b.end() - 2);
  Dims stack;
  if (b[b.size() - 2] != a.back() || !broadcast_dims(a_stack, b_stack, stack)) return std::nullopt;
  const auto product = [](const Dims& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{1}, std::multiplies<>());
  };
  const auto size = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  Products made{{size(a[a.size() - 2]), size(a.back()), size(b.back())}, product(stack)};
  // Rows of a stack that meet one matrix are rows of one product.
  if (product(b_stack) == 1) made.shape.m *= std::exchange(made.count, 1);
  return made;
}

std::string why_stacks_on_host(const TensorType& a, const TensorType& b) {
  if (!is_byte(a.data_type) || !is_byte(b.data_type)) return "its operands are not of 8 bits";
  if (a.dims.size() < 2 || b.dims.size() < 2) return "an operand is a vector";
  if (!why_empty(a).empty() || !why_empty(b).empty()) return "an operand is empty";
  return stack_products(a.dims, b.dims) ? "" : "its shapes do not fit";  // the host will tell more
}

std::string why_blocks_on_host(const onnx::NodeProto& node, const TensorType& a,
                               const std::optional<TensorType>& zero_points) {
  if (!multiplies_integers(node, zero_points ? zero_points->data_type : 0)) {
    return "its activations are floats in the file";
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  const std::int64_t k = number(node, "K"), n = number(node, "N");
  if (k < 1 || k > kMost || n < 1 || n > kMost || a.dims.empty() || a.dims.back() != k) {
    return "its shapes do not fit";  // the host will tell more
  }
  return why_empty(a);
}

std::string why_quantized_on_host(const onnx::NodeProto& node, const TensorType& a,
                                  const TensorType& b) {
  const bool dynamic = a.data_type == kFloat && node.op_type() == "DynamicQuantizeMatMul";
  if ((!dynamic && !is_byte(a.data_type)) || !is_byte(b.data_type)) {
    return "its operands are not of 8 bits";
  }
  if (is_quantized_convolution(node)) {
    const std::string why = why_convolution_on_host(node, a, b);
    return why.empty() ? why_empty(a) : why;
  }
  if (a.dims.empty() || b.dims.size() != 2 || !is_matrix(b.dims)) {
    return "its weights are not a matrix";
  }
  if (is_gemm(node) && number(node, "transA") != 0) {
    return "its activations are transposed";
  }
  if (node.op_type() == "QAttention" && a.dims.back() != b.dims[0]) {
    return "its shapes do not fit";  // the host will tell more
  }
  return why_empty(a);
}

}  // namespace

std::uint64_t blocks_of_k(const onnx::NodeProto& node) {
  const std::int64_t size = number(node, "block_size");
  if (!is_in_blocks(node) || size < 1) return 1;
  return divide_up(static_cast<std::uint64_t>(number(node, "K")), static_cast<std::uint64_t>(size));
}

bool is_float_product(const onnx::NodeProto& node) {
  return node.domain().empty() && (node.op_type() == "Gemm" || node.op_type() == "MatMul");
}

bool is_quantized_convolution(const onnx::NodeProto& node) {
  return node.domain().empty() &&
         (node.op_type() == "QLinearConv" || node.op_type() == "ConvInteger");
}

int weights_input(const onnx::NodeProto& node) { return quantized_weights(node).value_or(1); }

std::string why_on_host(const onnx::NodeProto& node, bool constant_weights,
                        const InputTypes& input) {
  const std::string& type = node.op_type();
  if (node.domain().empty() && type == "ConvTranspose") {
    return "transposed convolutions run on the host";
  }
  if (node.domain().empty() && type == "Conv") {
    return "convolutions run on the device only where their values are of 8 bits";
  }
  const bool quantized = quantized_weights(node).has_value();
  if (!quantized && (!node.domain().empty() || (type != "Gemm" && type != "MatMul"))) {
    return "the device has no unit for " + printable(type);
  }
  const bool stacks = multiplies_stacks(node);
  if (!constant_weights && !stacks) return "its weights depend on the input";
  const std::optional<TensorType> a = input(0), b = input(weights_input(node));
  if (!a || !b) return "its shape is not known";
  if (stacks && (!constant_weights || b->dims.size() > 2)) return why_stacks_on_host(*a, *b);
  if (is_in_blocks(node)) return why_blocks_on_host(node, *a, input(3));
  if (quantized) return why_quantized_on_host(node, *a, *b);
  if (a->data_type != kFloat || b->data_type != kFloat) return "its operands are not float32";
  // A stack of one matrix must not add axes to the result.
  if (a->dims.size() < (is_gemm(node) ? 2U : 1U) || !is_matrix(b->dims) ||
      b->dims.size() > std::max<std::size_t>(a->dims.size(), 2)) {
    return "its weights are not a matrix";
  }
  return why_empty(*a);
}

std::string why_on_host(const OnnxModel& model, const onnx::NodeProto& node) {
  const int weights = weights_input(node);
  const bool constant = node.input_size() > weights && model.is_constant(node.input(weights));
  return why_on_host(node, constant, [&](int i) { return input_type(model, node, i); });
}

std::optional<Products> linear_product(const OnnxModel& model, const onnx::NodeProto& node) {
  if (!why_on_host(model, node).empty()) return std::nullopt;
  const TensorType a = *input_type(model, node, 0);
  const auto size = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  if (is_in_blocks(node)) {
    return Products{{size(a.elements() / a.dims.back()), size(number(node, "block_size")),
                     size(number(node, "N"))},
                    blocks_of_k(node)};
  }
  const TensorType b = *input_type(model, node, weights_input(node));
  if (is_quantized_convolution(node)) {
    const auto y = node.output_size() == 0 ? std::nullopt : model.type(node.output(0));
    if (!y || y->dims.size() != a.dims.size() || y->elements() == 0) return std::nullopt;
    const std::int64_t groups = groups_of(node);
    return Products{
        {size(y->elements() / b.dims[0]), size(b.elements() / b.dims[0]), size(b.dims[0] / groups)},
        size(groups)};
  }
  if (multiplies_computed(model, node)) return stack_products(a.dims, b.dims);
  const bool transposed = is_gemm(node) && number(node, "transB") != 0;
  const std::size_t rank = b.dims.size();
  const std::int64_t k = b.dims[rank - (transposed ? 1 : 2)];
  const std::int64_t n = b.dims[rank - (transposed ? 2 : 1)];
  return Products{{size(a.elements() / k), size(k), size(n)}, 1};
}

bool multiplies_computed(const OnnxModel& model, const onnx::NodeProto& node) {
  if (!multiplies_stacks(node)) return false;
  const std::string& name = node.input(weights_input(node));
  return !model.is_constant(name) || model.type(name)->dims.size() > 2;
}

ProductSizes size_of_layer(const onnx::NodeProto& node, const Products& products) {
  ProductSizes all = products.shape;
  if (is_in_blocks(node)) {
    all.k = static_cast<std::uint64_t>(number(node, "K"));
  } else if (is_quantized_convolution(node)) {
    all.n *= products.count;
  } else {
    all.m *= products.count;
  }
  return all;
}

}  // namespace gemm64
