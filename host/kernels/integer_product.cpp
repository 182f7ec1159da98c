// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/integer_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "host/kernels/broadcast.hpp"

namespace gemm64 {
namespace {

std::int64_t product(Dims::const_iterator begin, Dims::const_iterator end) {
  return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
}

/// Sizes of a matrix product, as NumPy sees them.
struct MatrixShape {
  Dims stack, a_stack, b_stack;
  std::int64_t m, k, n;
  Dims result;
};

MatrixShape matrix_shape(const NodeContext& node, Dims a, Dims b) {
  if (a.empty() || b.empty()) throw failure(node, "a scalar cannot be multiplied as a matrix");
  const bool a_is_vector = a.size() == 1;
  const bool b_is_vector = b.size() == 1;
  if (a_is_vector) a.insert(a.begin(), 1);
  if (b_is_vector) b.push_back(1);
  MatrixShape shape{{},
                    Dims(a.begin(), a.end() - 2),
                    Dims(b.begin(), b.end() - 2),
                    a[a.size() - 2],
                    a.back(),
                    b.back(),
                    {}};
  if (shape.k != b[b.size() - 2] || !broadcast_dims(shape.a_stack, shape.b_stack, shape.stack)) {
    throw failure(node,
                  fmt::format("its operands {} and {} do not fit", dims_text(a), dims_text(b)));
  }
  shape.result = shape.stack;
  if (!a_is_vector) shape.result.push_back(shape.m);
  if (!b_is_vector) shape.result.push_back(shape.n);
  return shape;
}

void check_zeros(const NodeContext& node, const IntegerOperand& operand, std::int64_t channels) {
  if (operand.zeros.size() == 1 || static_cast<std::int64_t>(operand.zeros.size()) == channels)
    return;
  throw failure(node, fmt::format("{} zero points do not fit {} channels of {}",
                                  operand.zeros.size(), channels, describe(operand.values)));
}

/// A matrix of int8, or of uint8 moved into its range, with the sum of each row.
struct SignedRows {
  MatrixI8 values;
  std::int32_t moved = 0;  // what was subtracted from each value
  MatrixI32 sums;
};

SignedRows signed_rows(const NodeContext& node, const Tensor& tensor, std::int64_t offset,
                       std::int64_t rows, std::int64_t length, bool transposed) {
  SignedRows result{MatrixI8(rows, length), 0, {}};
  visit_bytes(node, tensor.type(), [&](auto kind) {
    using T = decltype(kind);
    result.moved = std::is_signed_v<T> ? 0 : 128;
    using Stored = Eigen::Map<const Matrix<T>>;
    const T* const stored = tensor.values<T>() + offset;
    const auto moved = [&result](T value) {
      return static_cast<std::int8_t>(value - result.moved);
    };
    if (transposed) {
      result.values = Stored(stored, length, rows).transpose().unaryExpr(moved);
    } else {
      result.values = Stored(stored, rows, length).unaryExpr(moved);
    }
    return 0;
  });
  result.sums = result.values.template cast<std::int32_t>().rowwise().sum();
  return result;
}

/// The sums of matrix `a_matrix` of a stack by matrix `b_matrix` from a product of int8: what zero
/// points and moved values add is put back, exactly, modulo 2^32.
void sums_by_product(const NodeContext& node, const IntegerOperand& a, std::int64_t a_matrix,
                     const IntegerOperand& b, std::int64_t b_matrix, bool b_transposed,
                     const MatrixShape& shape, std::int32_t* to) {
  const SignedRows left =
      signed_rows(node, a.values, a_matrix * shape.m * shape.k, shape.m, shape.k, false);
  const SignedRows right =
      signed_rows(node, b.values, b_matrix * shape.k * shape.n, shape.n, shape.k, !b_transposed);
  const MatrixI32 product = (*node.product)(left.values, right.values);
  const std::int64_t a_shift = left.moved - a.zeros[0];
  for (std::int64_t column = 0; column < shape.n; ++column) {
    const std::int64_t b_shift =
        right.moved - b.zeros[b.zeros.size() == 1 ? 0 : static_cast<std::size_t>(column)];
    const std::int64_t of_column = a_shift * right.sums(column) + shape.k * a_shift * b_shift;
    for (std::int64_t row = 0; row < shape.m; ++row) {
      to[row * shape.n + column] =
          static_cast<std::int32_t>(product(row, column) + of_column + b_shift * left.sums(row));
    }
  }
}

}  // namespace

Tensor matrix_sums(const NodeContext& node, const IntegerOperand& a, const IntegerOperand& b,
                   bool b_transposed) {
  Dims b_dims = b.values.dims();
  if (b_transposed) std::swap(b_dims.at(0), b_dims.at(1));
  MatrixShape shape = matrix_shape(node, a.values.dims(), b_dims);
  check_zeros(node, a, 1);
  check_zeros(node, b, shape.n);
  Tensor result(onnx::TensorProto::INT32, shape.result);
  std::int32_t* to = result.mutable_values<std::int32_t>();
  // Rows of a stack that meet one matrix are rows of one product.
  if (product(shape.b_stack.begin(), shape.b_stack.end()) == 1) {
    shape.m *= product(shape.stack.begin(), shape.stack.end());
    shape.stack.clear();
    shape.a_stack.clear();
    shape.b_stack.clear();
  }
  const std::int64_t count = product(shape.stack.begin(), shape.stack.end());
  const Dims a_steps = broadcast_strides(shape.a_stack, shape.stack);
  const Dims b_steps = broadcast_strides(shape.b_stack, shape.stack);
  const Dims steps = row_major_strides(shape.stack);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t a_matrix = 0;
    std::int64_t b_matrix = 0;
    for (std::size_t axis = 0; axis < shape.stack.size(); ++axis) {
      const std::int64_t at = i / steps[axis] % shape.stack[axis];
      a_matrix += at * a_steps[axis];
      b_matrix += at * b_steps[axis];
    }
    sums_by_product(node, a, a_matrix, b, b_matrix, b_transposed, shape,
                    to + i * shape.m * shape.n);
  }
  return result;
}

namespace {

template <class T>
void requantize_channel(const std::int32_t* sums, std::int64_t count, std::int32_t bias,
                        float scale, std::int32_t zero, T* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    // Sums wrap, as ONNX Runtime's and the accelerator's do.
    const auto sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[i]) +
                                               static_cast<std::uint32_t>(bias));
    to[i] = to_quantized<T>(static_cast<float>(sum) * scale, zero);
  }
}

template <class T>
Tensor requantize_to(const Tensor& sums, std::size_t axis, const OutputScale& scale,
                     std::int32_t zero) {
  Tensor result(data_type_of<T>(), sums.dims());
  const auto middle = sums.dims().begin() + static_cast<std::ptrdiff_t>(axis);
  const std::int64_t channels = *middle;
  const std::int64_t inner = product(middle + 1, sums.dims().end());
  const std::int32_t* from = sums.values<std::int32_t>();
  const std::int32_t* bias = scale.bias.present() ? scale.bias.values<std::int32_t>() : nullptr;
  T* to = result.mutable_values<T>();
  for (std::int64_t row = 0; inner > 0 && row < sums.elements() / inner; ++row) {
    const std::int64_t channel = row % channels;
    const float factor = scale.scales.size() == 1 ? scale.scales[0]
                                                  : scale.scales[static_cast<std::size_t>(channel)];
    requantize_channel(from + row * inner, inner, bias == nullptr ? 0 : bias[channel], factor, zero,
                       to + row * inner);
  }
  return result;
}

}  // namespace

Tensor requantize(const NodeContext& node, const Tensor& sums, std::size_t axis,
                  const OutputScale& scale, DataType type, std::int32_t zero) {
  const std::int64_t channels = sums.dim(axis);
  if (scale.scales.size() != 1 && static_cast<std::int64_t>(scale.scales.size()) != channels) {
    throw failure(node, fmt::format("{} scales do not fit {} output channels", scale.scales.size(),
                                    channels));
  }
  if (scale.bias.present() &&
      (scale.bias.type() != onnx::TensorProto::INT32 || scale.bias.elements() != channels)) {
    throw failure(
        node, fmt::format("its bias is {}; {} int32 are needed", describe(scale.bias), channels));
  }
  return visit_bytes(node, type, [&](auto kind) {
    return requantize_to<decltype(kind)>(sums, axis, scale, zero);
  });
}

}  // namespace gemm64
