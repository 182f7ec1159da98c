// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul, by Eigen.
#include <fmt/format.h>

#include "host/kernels/gemm.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/strided.hpp"
#include "host/kernels/visit.hpp"
#include "host/numerics/matrix.hpp"

namespace gemm64 {
namespace host {
namespace {

/// Calls function(T()) with T of the products' types. Signed integers are taken as unsigned ones,
/// which give the same bits and wrap.
template <class Function>
void visit_factors(const NodeContext& node, DataType type, Function function) {
  if (type == onnx::TensorProto::INT32) return function(std::uint32_t{});
  if (type == onnx::TensorProto::INT64) return function(std::uint64_t{});
  visit_types<float, double, std::uint32_t, std::uint64_t>(node, type, [&](auto zero) {
    function(zero);
    return 0;
  });
}

template <class T>
const T* factors(const Tensor& tensor) {
  return reinterpret_cast<const T*>(tensor.raw());
}

template <class T>
T* products(Tensor& tensor) {
  return reinterpret_cast<T*>(tensor.mutable_raw());
}

/// A row-major matrix, seen as its transpose where it says so.
template <class T>
struct Factor {
  Eigen::Map<const Matrix<T>> stored;
  bool transposed;

  Factor(const T* values, std::int64_t rows, std::int64_t columns, bool transposed = false)
      : stored(values, rows, columns), transposed(transposed) {}
};

/// The product of untransposed factors. By Eigen for floats; integers are rare, and a loop for them
/// compiles in a fraction of the time.
template <class T>
void multiply_plain(const Eigen::Map<const Matrix<T>>& left,
                    const Eigen::Map<const Matrix<T>>& right, Eigen::Map<Matrix<T>> result) {
  if constexpr (std::is_floating_point_v<T>) {
    result.noalias() = left * right;
  } else {
    result.setZero();
    for (Eigen::Index i = 0; i < result.rows(); ++i) {
      for (Eigen::Index k = 0; k < left.cols(); ++k) result.row(i) += left(i, k) * right.row(k);
    }
  }
}

/// A transposed factor is copied first, but for float32 weights, which are large and often
/// transposed.
template <class T>
void multiply(const Factor<T>& left, const Factor<T>& right, T* to) {
  if (left.transposed) {
    const Matrix<T> copy = left.stored.transpose();
    return multiply<T>({copy.data(), copy.rows(), copy.cols()}, right, to);
  }
  const std::int64_t columns = right.transposed ? right.stored.rows() : right.stored.cols();
  Eigen::Map<Matrix<T>> result(to, left.stored.rows(), columns);
  if (!right.transposed) return multiply_plain<T>(left.stored, right.stored, result);
  if constexpr (std::is_same_v<T, float>) {
    result.noalias() = left.stored * right.stored.transpose();
  } else {
    const Matrix<T> copy = right.stored.transpose();
    multiply_plain<T>(left.stored, {copy.data(), copy.rows(), copy.cols()}, result);
  }
}

/// alpha or beta. Through a signed integer, since a negative number has no unsigned value.
template <class T>
T scale_of(float value) {
  if constexpr (std::is_floating_point_v<T>) return value;
  return static_cast<T>(static_cast<std::int64_t>(value));
}

template <class T>
void add_bias_of(const GemmForm& form, const Tensor& bias, Tensor& result) {
  const auto beta = scale_of<T>(form.beta);
  const T* from = factors<T>(bias);
  T* to = products<T>(result);
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
  multiply<T>({factors<T>(a), a.dim(0), a.dim(1), form.transpose_a},
              {factors<T>(b), b.dim(0), b.dim(1), form.transpose_b}, products<T>(result));
  if (form.alpha != 1) {
    Eigen::Map<Matrix<T>>(products<T>(result), m, n) *= scale_of<T>(form.alpha);
  }
  return result;
}

}  // namespace

Tensors gemm(const NodeContext& node, const Tensors& inputs) {
  const Tensor& a = input(node, inputs, 0);
  const Tensor& b = input(node, inputs, 1);
  require_same_type(node, a, b);
  if (a.rank() != 2 || b.rank() != 2) throw failure(node, operands_do_not_fit(a, b));
  Tensor result;
  visit_factors(node, a.type(), [&](auto zero) { result = gemm_of<decltype(zero)>(node, a, b); });
  add_bias(node, gemm_form(node), optional_input(inputs, 2), result);
  return {result};
}

namespace {

/// One product for each matrix of the stacks, which broadcast against each other as in NumPy.
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
                   multiply<T>({factors<T>(a) + at(1) * rows * depth, rows, depth},
                               {factors<T>(b) + at(2) * depth * columns, depth, columns},
                               products<T>(result) + at(0) * rows * columns);
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
  visit_factors(node, a.type(), [&](auto zero) { matmul_of<decltype(zero)>(a, b, result); });
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
  host::visit_factors(node, result.type(),
                      [&](auto zero) { host::add_bias_of<decltype(zero)>(form, bias, result); });
}

std::string operands_do_not_fit(const Tensor& a, const Tensor& b) {
  return fmt::format("its operands, {} and {}, do not fit together", describe(a), describe(b));
}

}  // namespace gemm64
