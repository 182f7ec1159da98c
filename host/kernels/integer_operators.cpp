// SPDX-License-Identifier: Apache-2.0
// Products of quantized tensors. Sums are exact; scales are multiplied and divided in float32, in
// the order of ONNX Runtime's kernels.
#include "host/kernels/integer_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/kernels/broadcast.hpp"
#include "host/kernels/integer_product.hpp"
#include "host/kernels/quantization.hpp"

namespace gemm64 {
namespace host {
namespace {

/// Returns uint8 values of a float32 tensor, by the smallest range that holds them and 0 (ONNX's
/// DynamicQuantizeLinear), and that range. Throws UsageError where it is not float32.
std::pair<Tensor, Quantization> quantize_by_range(const NodeContext& node, const Tensor& x) {
  if (x.type() != onnx::TensorProto::FLOAT) {
    throw failure(node, fmt::format("its input is {}; float32 is needed", describe(x)));
  }
  const float* from = x.values<float>();
  float low = 0;
  float high = 0;
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    low = std::min(low, from[i]);
    high = std::max(high, from[i]);
  }
  Quantization range;
  range.scale = high == low ? 1.0F : (high - low) / 255.0F;
  range.zero =
      static_cast<std::int32_t>(std::nearbyint(std::clamp(0.0F - low / range.scale, 0.0F, 255.0F)));
  Tensor values(onnx::TensorProto::UINT8, x.dims());
  std::transform(
      from, from + x.elements(), values.mutable_values<std::uint8_t>(),
      [&](float value) { return to_quantized<std::uint8_t>(value / range.scale, range.zero); });
  return {values, range};
}

/// Input `values` with the zero points of input `zero`.
IntegerOperand operand(const NodeContext& node, const Tensors& inputs, std::size_t values,
                       std::size_t zero) {
  const Tensor& tensor = input(node, inputs, values);
  return {tensor, zeros_of(node, optional_input(inputs, zero), tensor.type())};
}

/// factor * scales[i] / output, each rounded to float32.
std::vector<float> output_scales(float factor, std::vector<float> scales, float output) {
  for (float& scale : scales) scale = factor * scale / output;
  return scales;
}

/// Of the products with `b`.
std::int64_t columns_of(const Tensor& b) { return b.rank() == 1 ? 1 : b.dims().back(); }

/// Sums of a matrix product as a matrix, which has its columns along axis 1 also where an operand
/// is a vector.
Tensor as_matrix(const Tensor& sums, const Tensor& b) {
  const std::int64_t columns = columns_of(b);
  return sums.reshaped({columns == 0 ? 0 : sums.elements() / columns, columns});
}

/// sum * scale + bias, by column, of which there are `columns` along the last axis.
Tensor to_floats(const NodeContext& node, const Tensor& sums, std::int64_t columns,
                 const std::vector<float>& scales, const Tensor& bias) {
  const auto fits = [columns](std::int64_t count) { return count == columns; };
  if ((scales.size() != 1 && !fits(static_cast<std::int64_t>(scales.size()))) ||
      (bias.present() && (bias.type() != onnx::TensorProto::FLOAT || !fits(bias.elements())))) {
    throw failure(node, fmt::format("{} scales and a bias of {} do not fit {} columns",
                                    scales.size(), describe(bias), columns));
  }
  Tensor result(onnx::TensorProto::FLOAT, sums.dims());
  const std::int32_t* from = sums.values<std::int32_t>();
  float* to = result.mutable_values<float>();
  for (std::int64_t i = 0; i < sums.elements(); ++i) {
    const std::int64_t column = i % columns;
    to[i] = static_cast<float>(from[i]) *
            scales[scales.size() == 1 ? 0 : static_cast<std::size_t>(column)];
    if (bias.present()) to[i] += bias.values<float>()[column];
  }
  return result;
}

}  // namespace
}  // namespace host

ByteResults byte_results(const NodeContext& node, const Tensors& inputs) {
  const bool is_gemm = node.node->op_type() == "QGemm";
  const std::size_t y_scale = is_gemm ? 7 : 6;
  const DataType of_a = input(node, inputs, 0).type();
  const DataType type = is_gemm ? of_a : input(node, inputs, y_scale + 1).type();
  const Quantization a = quantization_of(node, inputs, 1, of_a);
  const Quantization y = quantization_of(node, inputs, y_scale, type);
  const float factor = (is_gemm ? attribute(*node.node, "alpha", 1.0F) : 1.0F) * a.scale;
  return {host::output_scales(factor, scales_of(node, input(node, inputs, 4)), y.scale), type,
          y.zero};
}

namespace host {

Tensors matmul_integer(const NodeContext& node, const Tensors& inputs) {
  return {matrix_sums(node, operand(node, inputs, 0, 2), operand(node, inputs, 1, 3))};
}

Tensors conv_integer(const NodeContext& node, const Tensors& inputs) {
  return {convolution_sums(node, operand(node, inputs, 0, 2), operand(node, inputs, 1, 3))};
}

Tensors qlinear_matmul(const NodeContext& node, const Tensors& inputs) {
  const IntegerOperand a = operand(node, inputs, 0, 2);
  const IntegerOperand b = operand(node, inputs, 3, 5);
  const ByteResults results = byte_results(node, inputs);
  const Tensor sums = matrix_sums(node, a, b);
  return {requantize(node, as_matrix(sums, b.values), 1, {results.scales, {}}, results.type,
                     results.zero)
              .reshaped(sums.dims())};
}

Tensors qlinear_conv(const NodeContext& node, const Tensors& inputs) {
  if (attribute(*node.node, "channels_last", std::int64_t{0}) != 0) {
    throw failure(node, "channels_last is not supported");
  }
  const IntegerOperand x = operand(node, inputs, 0, 2);
  const IntegerOperand weights = operand(node, inputs, 3, 5);
  const Quantization of_x = quantization_of(node, inputs, 1, x.values.type());
  const DataType type = input(node, inputs, 7).type();
  const Quantization y = quantization_of(node, inputs, 6, type);
  const OutputScale scale{
      output_scales(of_x.scale, scales_of(node, input(node, inputs, 4)), y.scale),
      optional_input(inputs, 8)};
  return {requantize(node, convolution_sums(node, x, weights), 1, scale, type, y.zero)};
}

namespace {

Tensor transposed(const NodeContext& node, const Tensor& matrix) {
  return visit_bytes(node, matrix.type(), [&](auto kind) {
    using T = decltype(kind);
    Tensor result(matrix.type(), {matrix.dim(1), matrix.dim(0)});
    for (std::int64_t row = 0; row < matrix.dim(0); ++row) {
      for (std::int64_t column = 0; column < matrix.dim(1); ++column) {
        result.mutable_values<T>()[column * matrix.dim(0) + row] =
            matrix.values<T>()[row * matrix.dim(1) + column];
      }
    }
    return result;
  });
}

/// Input `index`, a matrix.
const Tensor& gemm_factor(const NodeContext& node, const Tensors& inputs, std::size_t index) {
  const Tensor& matrix = input(node, inputs, index);
  if (matrix.rank() != 2) {
    throw failure(node, fmt::format("{} is no matrix", describe(matrix)));
  }
  return matrix;
}

}  // namespace

Tensors qgemm(const NodeContext& node, const Tensors& inputs) {
  const Tensor& a_stored = gemm_factor(node, inputs, 0);
  const bool a_transposed = attribute(*node.node, "transA", std::int64_t{0}) != 0;
  const Tensor a = a_transposed ? transposed(node, a_stored) : a_stored;
  const Tensor& b = gemm_factor(node, inputs, 3);
  const Quantization of_a = quantization_of(node, inputs, 1, a.type());
  const Tensor product =
      matrix_sums(node, {a, {of_a.zero}}, {b, zeros_of(node, optional_input(inputs, 5), b.type())},
                  attribute(*node.node, "transB", std::int64_t{0}) != 0);
  Tensor sums = product;
  const Tensor& bias = optional_input(inputs, 6);
  if (bias.present()) {
    Dims dims;
    if (bias.type() != onnx::TensorProto::INT32 ||
        !broadcast_dims(bias.dims(), product.dims(), dims) || dims != product.dims()) {
      throw failure(node, fmt::format("its bias is {}; int32 that stretches to {} is needed",
                                      describe(bias), dims_text(product.dims())));
    }
    const Tensor addends = broadcast(bias, dims);
    sums = Tensor(product.type(), dims);
    for (std::int64_t i = 0; i < sums.elements(); ++i) {
      sums.mutable_values<std::int32_t>()[i] =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(product.values<std::int32_t>()[i]) +
                                    static_cast<std::uint32_t>(addends.values<std::int32_t>()[i]));
    }
  }
  if (!optional_input(inputs, 7).present()) {
    const float alpha = attribute(*node.node, "alpha", 1.0F);
    const std::vector<float> b_scales = scales_of(node, input(node, inputs, 4));
    return {to_floats(node, sums, sums.dim(1), output_scales(alpha * of_a.scale, b_scales, 1), {})};
  }
  const ByteResults results = byte_results(node, inputs);
  return {requantize(node, sums, 1, {results.scales, {}}, results.type, results.zero)};
}

Tensors dynamic_quantize_matmul(const NodeContext& node, const Tensors& inputs) {
  const auto [values, range] = quantize_by_range(node, input(node, inputs, 0));
  const IntegerOperand b = operand(node, inputs, 1, 3);
  return {to_floats(node, matrix_sums(node, {values, {range.zero}}, b), columns_of(b.values),
                    output_scales(range.scale, scales_of(node, input(node, inputs, 2)), 1),
                    optional_input(inputs, 4))};
}

Tensors matmul_integer_to_float(const NodeContext& node, const Tensors& inputs) {
  const IntegerOperand a = operand(node, inputs, 0, 4);
  const IntegerOperand b = operand(node, inputs, 1, 5);
  const std::vector<float> a_scales = scales_of(node, input(node, inputs, 2));
  if (a_scales.size() != 1) throw failure(node, "its first operand has more than one scale");
  return {to_floats(node, matrix_sums(node, a, b), columns_of(b.values),
                    output_scales(a_scales[0], scales_of(node, input(node, inputs, 3)), 1),
                    optional_input(inputs, 6))};
}

}  // namespace host
}  // namespace gemm64
