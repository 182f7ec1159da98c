// SPDX-License-Identifier: Apache-2.0
#include "host/execute/quantized_layer.hpp"

#include <algorithm>
#include <cmath>

#include "host/execute/dynamic_range.hpp"
#include "host/execute/gemm.hpp"
#include "host/execute/integer_product.hpp"
#include "host/execute/linear.hpp"
#include "host/onnx/linear_layer.hpp"

namespace gemm64 {
namespace {

using onnx::TensorProto;

/// What to add to an 8-bit value to have it as int8.
std::int32_t move_to_int8(DataType type) { return type == TensorProto::UINT8 ? -128 : 0; }

template <class T>
MatrixI8 moved(const T* values, std::int64_t rows, std::int64_t columns) {
  const Eigen::Map<const Matrix<T>> from(values, rows, columns);
  if constexpr (std::is_same_v<T, std::int8_t>) return from;
  return from.unaryExpr([](T value) { return static_cast<std::int8_t>(value ^ 0x80); });
}

/// The values as a matrix of int8, moved down by 128 where they are uint8.
MatrixI8 as_int8(const Tensor& tensor, std::int64_t rows, std::int64_t columns) {
  return tensor.type() == TensorProto::UINT8
             ? moved(tensor.values<std::uint8_t>(), rows, columns)
             : moved(tensor.values<std::int8_t>(), rows, columns);
}

/// Weights as [N x K].
MatrixI8 weights_of(const onnx::NodeProto& node, const Tensor& b) {
  const std::int64_t rows = b.dim(b.rank() - 2);
  const std::int64_t columns = b.dim(b.rank() - 1);
  const MatrixI8 stored = as_int8(b, rows, columns);
  if (attribute(node, "transB", std::int64_t{0}) != 0) return stored;
  return stored.transpose();
}

bool has_byte_results(const onnx::NodeProto& node, const Tensors& inputs) {
  if (node.op_type() == "QLinearMatMul") return true;
  return node.op_type() == "QGemm" && optional_input(inputs, 7).present();
}

/// Are the weights' values what is multiplied, with nothing to be taken from them?
bool has_zero_points(const NodeContext& node, const Tensor& zero, DataType type) {
  const std::vector<std::int32_t> zeros = zeros_of(node, zero, type);
  return std::any_of(zeros.begin(), zeros.end(),
                     [&](std::int32_t value) { return value + move_to_int8(type) != 0; });
}

/// Sums wrap at 32 bits, as the device's do.
std::int32_t wrapped(std::int64_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(value)));
}

/// Fills in bias, scale, zero point and type. Leaves the layer one of bare sums where the device
/// cannot compute its results.
void add_results(const NodeContext& node, const Tensors& inputs, QuantizedLayer& layer) {
  const std::int64_t n = layer.w.rows();
  const Tensor none;
  const Tensor& bias = node.node->op_type() == "QGemm" ? optional_input(inputs, 6) : none;
  if (bias.present() && (bias.elements() != n || bias.dims().back() != n)) return;
  ByteResults results = byte_results(node, inputs);
  if (results.scales.size() == 1) results.scales.resize(static_cast<std::size_t>(n), results.scales[0]);
  const bool usable = static_cast<std::int64_t>(results.scales.size()) == n &&
                      std::all_of(results.scales.begin(), results.scales.end(), [](float scale) {
                        return std::isfinite(scale) && !std::signbit(scale);
                      });
  if (!usable) return;
  const DataType a_type = inputs[0].type();
  const std::int64_t a_zero =
      quantization_of(node, inputs, 1, a_type).zero + move_to_int8(a_type);
  layer.type = results.type;
  layer.zero = results.zero;
  layer.scale = std::move(results.scales);
  for (std::int64_t column = 0; column < n; ++column) {
    const std::int64_t sum = layer.w.row(column).cast<std::int64_t>().sum();
    const std::int64_t own = bias.present() ? bias.values<std::int32_t>()[column] : 0;
    layer.bias.push_back(wrapped(own - a_zero * sum));
  }
}

}  // namespace

std::optional<QuantizedLayer> quantized_layer(const Executor& executor, const Step& step,
                                              const Tensors& inputs) {
  const onnx::NodeProto& node = *step.context.node;
  const std::optional<LinearOperands> operands = linear_operands(node);
  if (!operands || !operands->quantized || !why_on_host(step, inputs).empty()) return std::nullopt;
  QuantizedLayer layer;
  layer.name = node_label(node, static_cast<int>(&step - executor.steps().data()));
  layer.input = inputs[0];
  const Tensor a = node.op_type() == "DynamicQuantizeMatMul"
                       ? quantize_by_range(step.context, inputs[0]).first
                       : inputs[0];
  const Tensor& b = inputs[static_cast<std::size_t>(operands->b)];
  layer.w = weights_of(node, b);
  const std::int64_t k = layer.w.cols();
  if (a.dims().back() != k) throw failure(step.context, operands_do_not_fit(a, b));
  layer.a = as_int8(a, a.elements() / k, k);
  const Tensor& b_zero = optional_input(inputs, static_cast<std::size_t>(operands->b_zero));
  if (has_byte_results(node, inputs) && !has_zero_points(step.context, b_zero, b.type())) {
    add_results(step.context, inputs, layer);
  }
  return layer;
}

bool same_values(const Tensor& a, const Tensor& b) {
  return a.present() && a.storage() == b.storage() && a.raw() == b.raw() &&
         a.elements() == b.elements() && a.type() == b.type();
}

}  // namespace gemm64
