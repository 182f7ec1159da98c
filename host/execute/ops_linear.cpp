// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul, by Eigen.
#include <fmt/format.h>

#include "host/execute/gemm.hpp"
#include "host/execute/operators.hpp"
#include "host/execute/strided.hpp"
#include "host/execute/visit.hpp"
#include "host/numerics/matrix.hpp"

namespace gemm64 {
namespace host {
namespace {

template <class Function>
auto visit_factors(const NodeContext& node, DataType type, Function function) {
  return visit_types<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>(
      node, type, function);
}

template <class T>
Eigen::Map<const Matrix<T>> matrix(const T* values, std::int64_t rows, std::int64_t columns) {
  return {values, rows, columns};
}

template <class T>
void add_bias_of(const GemmForm& form, const Tensor& bias, Tensor& result) {
  const auto beta = static_cast<T>(form.beta);
  const T* from = bias.values<T>();
  T* to = result.mutable_values<T>();
  for_each_row(
      Walk<2>{result.dims(),
              {row_major_strides(result.dims()), broadcast_strides(bias.dims(), result.dims())}},
      [&](const auto& offsets, std::int64_t length, const auto& steps) {
        for (std::int64_t i = 0; i < length; ++i) {
          to[offsets[0] + i * steps[0]] += beta * from[offsets[1] + i * steps[1]];
        }
      });
}

template <class T>
Tensor gemm_of(const NodeContext& node, const Tensor& a, const Tensor& b) {
  const GemmForm form = gemm_form(node);
  const std::int64_t m = a.dim(form.transpose_a ? 1 : 0);
  const std::int64_t k = a.dim(form.transpose_a ? 0 : 1);
  const std::int64_t n = b.dim(form.transpose_b ? 0 : 1);
  if (b.dim(form.transpose_b ? 1 : 0) != k) throw failure(node, operands_do_not_fit(a, b));
  Tensor result(a.type(), {m, n});
  Eigen::Map<Matrix<T>> to(result.mutable_values<T>(), m, n);
  const auto left = matrix(a.values<T>(), a.dim(0), a.dim(1));
  const auto right = matrix(b.values<T>(), b.dim(0), b.dim(1));
  // Four kinds, so that no operand is copied to be transposed.
  if (form.transpose_a && form.transpose_b) to.noalias() = left.transpose() * right.transpose();
  if (form.transpose_a && !form.transpose_b) to.noalias() = left.transpose() * right;
  if (!form.transpose_a && form.transpose_b) to.noalias() = left * right.transpose();
  if (!form.transpose_a && !form.transpose_b) to.noalias() = left * right;
  if (form.alpha != 1) to *= static_cast<T>(form.alpha);
  return result;
}

}  // namespace

Tensors gemm(const NodeContext& node, const Tensors& inputs) {
  const Tensor& a = input(node, inputs, 0);
  const Tensor& b = input(node, inputs, 1);
  require_same_type(node, a, b);
  if (a.rank() != 2 || b.rank() != 2) throw failure(node, operands_do_not_fit(a, b));
  Tensor result =
      visit_factors(node, a.type(), [&](auto zero) { return gemm_of<decltype(zero)>(node, a, b); });
  add_bias(node, gemm_form(node), optional_input(inputs, 2), result);
  return {result};
}

namespace {

/// One product for each matrix of the stacks, which stretch to one another as in NumPy.
template <class T>
void matmul_of(const Tensor& a, const Tensor& b, Tensor& result) {
  const auto stack = [](const Tensor& tensor) {
    return Dims(tensor.dims().begin(), tensor.dims().end() - 2);
  };
  const Dims to_stack = stack(result);
  const auto rows = a.dim(a.rank() - 2);
  const auto depth = a.dim(a.rank() - 1);
  const auto columns = b.dim(b.rank() - 1);
  for_each_row(Walk<3>{to_stack,
                       {row_major_strides(to_stack), broadcast_strides(stack(a), to_stack),
                        broadcast_strides(stack(b), to_stack)}},
               [&](const auto& offsets, std::int64_t length, const auto& steps) {
                 for (std::int64_t i = 0; i < length; ++i) {
                   const auto at = [&](std::size_t t) { return offsets[t] + i * steps[t]; };
                   Eigen::Map<Matrix<T>>(result.mutable_values<T>() + at(0) * rows * columns, rows,
                                         columns)
                       .noalias() = matrix(a.values<T>() + at(1) * rows * depth, rows, depth) *
                                    matrix(b.values<T>() + at(2) * depth * columns, depth, columns);
                 }
               });
}

}  // namespace

Tensors matmul(const NodeContext& node, const Tensors& inputs) {
  Tensor a = input(node, inputs, 0);
  Tensor b = input(node, inputs, 1);
  require_same_type(node, a, b);
  if (a.rank() == 0 || b.rank() == 0) throw failure(node, operands_do_not_fit(a, b));
  // A vector is a matrix of one row or column, which the result leaves out again.
  const bool row = a.rank() == 1;
  const bool column = b.rank() == 1;
  if (row) a = a.reshaped({1, a.dim(0)});
  if (column) b = b.reshaped({b.dim(0), 1});
  Dims dims;
  if (a.dims().back() != b.dim(b.rank() - 2) ||
      !broadcast_dims({a.dims().begin(), a.dims().end() - 2},
                      {b.dims().begin(), b.dims().end() - 2}, dims)) {
    throw failure(node, operands_do_not_fit(inputs[0], inputs[1]));
  }
  Dims visible = dims;
  if (!row) visible.push_back(a.dim(a.rank() - 2));
  if (!column) visible.push_back(b.dims().back());
  dims.insert(dims.end(), {a.dim(a.rank() - 2), b.dims().back()});
  Tensor result(a.type(), dims);
  visit_factors(node, a.type(), [&](auto zero) {
    matmul_of<decltype(zero)>(a, b, result);
    return 0;
  });
  return {result.reshaped(visible)};
}

}  // namespace host

GemmForm gemm_form(const NodeContext& node) {
  return {attribute(*node.node, "alpha", 1.0F), attribute(*node.node, "beta", 1.0F),
          attribute(*node.node, "transA", std::int64_t{0}) != 0,
          attribute(*node.node, "transB", std::int64_t{0}) != 0};
}

void add_bias(const NodeContext& node, const GemmForm& form, const Tensor& bias, Tensor& result) {
  if (!bias.present() || form.beta == 0) return;
  require_same_type(node, result, bias);
  Dims dims;
  if (!broadcast_dims(bias.dims(), result.dims(), dims) || dims != result.dims()) {
    throw failure(node, fmt::format("its bias, {}, does not broadcast to {}", describe(bias),
                                    dims_text(result.dims())));
  }
  host::visit_factors(node, result.type(), [&](auto zero) {
    host::add_bias_of<decltype(zero)>(form, bias, result);
    return 0;
  });
}

std::string operands_do_not_fit(const Tensor& a, const Tensor& b) {
  return fmt::format("its operands, {} and {}, do not fit together", describe(a), describe(b));
}

}  // namespace gemm64
