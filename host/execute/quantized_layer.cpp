// SPDX-License-Identifier: Apache-2.0
#include "host/execute/quantized_layer.hpp"

#include <algorithm>
#include <cmath>

#include "host/execute/gemm.hpp"
#include "host/execute/integer_product.hpp"

namespace gemm64 {
namespace {

using onnx::TensorProto;

template <class T>
MatrixI8 moved(const T* values, std::int64_t rows, std::int64_t columns) {
  const Eigen::Map<const Matrix<T>> from(values, rows, columns);
  if constexpr (std::is_same_v<T, std::int8_t>) return from;
  return from.unaryExpr([](T value) { return static_cast<std::int8_t>(value ^ 0x80); });
}

}  // namespace

std::int32_t move_to_int8(DataType type) { return type == TensorProto::UINT8 ? -128 : 0; }

MatrixI8 as_int8(const Tensor& tensor, std::int64_t rows, std::int64_t columns) {
  return tensor.type() == TensorProto::UINT8 ? moved(tensor.values<std::uint8_t>(), rows, columns)
                                             : moved(tensor.values<std::int8_t>(), rows, columns);
}

namespace {

/// Weights as [N x K].
MatrixI8 weights_of(const onnx::NodeProto& node, const Tensor& b) {
  const std::int64_t rows = b.dim(b.rank() - 2);
  const std::int64_t columns = b.dim(b.rank() - 1);
  const MatrixI8 stored = as_int8(b, rows, columns);
  if (attribute(node, "transB", std::int64_t{0}) != 0) return stored;
  return stored.transpose();
}

/// Why the device gives the sums of a product alone; empty where it gives 8-bit results.
std::string why_sums(const Executor& executor, const NodeContext& context, const Tensors& inputs) {
  const onnx::NodeProto& node = *context.node;
  if (node.op_type() != "QLinearMatMul" &&
      (node.op_type() != "QGemm" || !optional_input(inputs, 7).present())) {
    return "its results are not of 8 bits";
  }
  for (int i = 1; i < node.input_size(); ++i) {
    if (!node.input(i).empty() && !executor.model().is_constant(node.input(i))) {
      return "its scales depend on the input";
    }
  }
  const DataType type = inputs[3].type();
  const std::vector<std::int32_t> zeros = zeros_of(context, optional_input(inputs, 5), type);
  if (std::any_of(zeros.begin(), zeros.end(),
                  [&](std::int32_t zero) { return zero + move_to_int8(type) != 0; })) {
    return "its weights have a zero point";
  }
  return "";
}

/// Sums wrap at 32 bits, as the device's do.
std::int32_t wrapped(std::int64_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(value)));
}

bool can_be_applied(const std::vector<float>& scales) {
  return std::all_of(scales.begin(), scales.end(),
                     [](float scale) { return std::isfinite(scale) && !std::signbit(scale); });
}

}  // namespace

std::optional<QuantizedLayer> quantized_layer(const Executor& executor, const Step& step,
                                              const Tensors& inputs, std::string& why) {
  const NodeContext& context = step.context;
  why = why_sums(executor, context, inputs);
  if (!why.empty()) return std::nullopt;
  const Tensor& a = inputs[0];
  const Tensor& b = inputs[3];
  QuantizedLayer layer;
  layer.w = weights_of(*context.node, b);
  const std::int64_t n = layer.w.rows();
  const std::int64_t k = layer.w.cols();
  if (a.dims().back() != k) throw failure(context, operands_do_not_fit(a, b));

  const Tensor none;
  const Tensor& bias = context.node->op_type() == "QGemm" ? optional_input(inputs, 6) : none;
  if (bias.present() && (bias.elements() != n || bias.dims().back() != n)) {
    why = "its bias is not one for each column";
    return std::nullopt;
  }
  ByteResults results = byte_results(context, inputs);
  if (results.scales.size() == 1) {
    results.scales.resize(static_cast<std::size_t>(n), results.scales[0]);
  }
  if (static_cast<std::int64_t>(results.scales.size()) != n || !can_be_applied(results.scales)) {
    why = "its scales are not positive numbers, one for each column";
    return std::nullopt;
  }
  layer.name = node_label(*context.node, static_cast<int>(&step - executor.steps().data()));
  layer.input = a;
  layer.a = as_int8(a, a.elements() / k, k);
  layer.type = results.type;
  layer.zero = results.zero;
  layer.scale = std::move(results.scales);
  const std::int64_t a_zero =
      quantization_of(context, inputs, 1, a.type()).zero + move_to_int8(a.type());
  for (std::int64_t column = 0; column < n; ++column) {
    const std::int64_t sum = layer.w.row(column).cast<std::int64_t>().sum();
    const std::int64_t own = bias.present() ? bias.values<std::int32_t>()[column] : 0;
    layer.bias.push_back(wrapped(own - a_zero * sum));
  }
  return layer;
}

bool same_values(const Tensor& a, const Tensor& b) {
  return a.present() && a.storage() == b.storage() && a.raw() == b.raw() &&
         a.elements() == b.elements() && a.type() == b.type();
}

}  // namespace gemm64
