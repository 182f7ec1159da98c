// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul: float32 to the bit as ONNX Runtime, other types by Eigen or a loop.
#include <fmt/format.h>

#include <algorithm>

#include "host/kernels/float_product.hpp"
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

/// A transposed factor is copied first.
template <class T>
void multiply(const Factor<T>& left, const Factor<T>& right, T* to) {
  if (left.transposed) {
    const Matrix<T> copy = left.stored.transpose();
    return multiply<T>({copy.data(), copy.rows(), copy.cols()}, right, to);
  }
  if (right.transposed) {
    const Matrix<T> copy = right.stored.transpose();
    return multiply<T>(left, {copy.data(), copy.rows(), copy.cols()}, to);
  }
  Eigen::Map<Matrix<T>> result(to, left.stored.rows(), right.stored.cols());
  multiply_plain<T>(left.stored, right.stored, result);
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

/// Sizes of a product of matrices, each transposed where the form says so.
struct Sizes {
  std::int64_t m, n, k;
};

/// The last two axes of a, and of b. Throws UsageError where their K differ.
Sizes sizes_of(const NodeContext& node, const GemmForm& form, const Tensor& a, const Tensor& b) {
  const auto size = [](const Tensor& x, bool from_end) {
    return x.dim(x.rank() - (from_end ? 1 : 2));
  };
  const std::int64_t k = size(a, !form.transpose_a);
  if (size(b, form.transpose_b) != k) throw failure(node, operands_do_not_fit(a, b));
  return {size(a, form.transpose_a), size(b, !form.transpose_b), k};
}

/// c = alpha * a * b, of matrices; c is added to where beta says so.
template <class T>
void product_of(const NodeContext& node, const GemmForm& form, const Sizes& sizes, const T* a,
                const T* b, bool weights, T* c) {
  const auto [m, n, k] = sizes;
  if constexpr (std::is_same_v<T, float>) {
    multiply(FloatProduct{m,
                          n,
                          k,
                          {a, form.transpose_a ? m : k, form.transpose_a},
                          {b, form.transpose_b ? k : n, form.transpose_b},
                          weights && node.packed_weights,
                          form.alpha,
                          form.beta},
             c);
  } else {
    const auto factor = [](const T* values, std::int64_t rows, std::int64_t columns, bool turned) {
      return Factor<T>(values, turned ? columns : rows, turned ? rows : columns, turned);
    };
    multiply<T>(factor(a, m, k, form.transpose_a), factor(b, k, n, form.transpose_b), c);
    if (form.alpha != 1) Eigen::Map<Matrix<T>>(c, m, n) *= scale_of<T>(form.alpha);
  }
}

/// beta times the bias first: what ONNX Runtime's float32 products are added to.
Tensor gemm_of_floats(const NodeContext& node, const Sizes& sizes, const Tensors& inputs) {
  GemmForm form = gemm_form(node);
  const Tensor& bias = optional_input(inputs, 2);
  if (!bias.present()) form.beta = 0;
  Tensor result(inputs[0].type(), {sizes.m, sizes.n});
  if (form.beta != 0) {
    std::fill_n(result.mutable_values<float>(), result.elements(), 0.0F);
    add_bias(node, {}, bias, result);
  }
  product_of<float>(node, form, sizes, inputs[0].values<float>(), inputs[1].values<float>(), true,
                    result.mutable_values<float>());
  return result;
}

}  // namespace

Tensors gemm(const NodeContext& node, const Tensors& inputs) {
  const Tensor& a = input(node, inputs, 0);
  const Tensor& b = input(node, inputs, 1);
  require_same_type(node, a, b);
  if (a.rank() != 2 || b.rank() != 2) throw failure(node, operands_do_not_fit(a, b));
  const GemmForm form = gemm_form(node);
  const Sizes sizes = sizes_of(node, form, a, b);
  if (a.type() == onnx::TensorProto::FLOAT) return {gemm_of_floats(node, sizes, inputs)};
  Tensor result(a.type(), {sizes.m, sizes.n});
  visit_factors(node, a.type(), [&](auto zero) {
    using T = decltype(zero);
    product_of<T>(node, form, sizes, factors<T>(a), factors<T>(b), true, products<T>(result));
  });
  add_bias(node, form, optional_input(inputs, 2), result);
  return {result};
}

namespace {

/// One product for each matrix of the stacks; `vector`: b is one.
template <class T>
void stacks_of(const NodeContext& node, const GemmForm& form, Sizes sizes, const Tensor& a,
               const Tensor& b, bool vector, Tensor& result) {
  const std::int64_t of_b = sizes.n * sizes.k;
  if (b.elements() == of_b && !form.transpose_a) {
    // One matrix on the right: rows of all matrices on the left are those of one, but that ONNX
    // Runtime takes each by itself where the right one is a vector.
    const std::int64_t rows = result.elements() / std::max<std::int64_t>(sizes.n, 1);
    sizes.m = vector ? 1 : rows;
    for (std::int64_t row = 0; row < rows; row += sizes.m) {
      product_of<T>(node, form, sizes, factors<T>(a) + row * sizes.k, factors<T>(b),
                    b.rank() == 2 && !vector, products<T>(result) + row * sizes.n);
    }
    return;
  }
  const auto stack = [](const Tensor& tensor) {
    return Dims(tensor.dims().begin(), tensor.dims().end() - 2);
  };
  const Dims to_stack = stack(result);
  for_each_row(Walk<3>{to_stack,
                       {row_major_strides(to_stack), broadcast_strides(stack(a), to_stack),
                        broadcast_strides(stack(b), to_stack)}},
               [&](const auto& offsets, std::int64_t length, const auto& steps) {
                 for (std::int64_t i = 0; i < length; ++i) {
                   const auto at = [&](std::size_t t) { return offsets[t] + i * steps[t]; };
                   product_of<T>(node, form, sizes, factors<T>(a) + at(1) * sizes.m * sizes.k,
                                 factors<T>(b) + at(2) * of_b, b.rank() == 2,
                                 products<T>(result) + at(0) * sizes.m * sizes.n);
                 }
               });
}

}  // namespace

Tensors matmul(const NodeContext& node, const Tensors& inputs) {
  return {multiply_stacks(node, input(node, inputs, 0), input(node, inputs, 1), {1, 0})};
}

}  // namespace host

Tensor multiply_stacks(const NodeContext& node, const Tensor& left, const Tensor& right,
                       const GemmForm& form) {
  require_same_type(node, left, right);
  if (left.rank() == 0 || right.rank() == 0) {
    throw failure(node, operands_do_not_fit(left, right));
  }
  // A vector is a matrix of one row or column, which the result leaves out again.
  const bool row = left.rank() == 1;
  const bool column = right.rank() == 1;
  const Tensor a = row ? left.reshaped({1, left.dim(0)}) : left;
  const Tensor b = column ? right.reshaped({right.dim(0), 1}) : right;
  const host::Sizes sizes = host::sizes_of(node, form, a, b);
  Dims dims;
  if (!broadcast_dims({a.dims().begin(), a.dims().end() - 2},
                      {b.dims().begin(), b.dims().end() - 2}, dims)) {
    throw failure(node, operands_do_not_fit(left, right));
  }
  Dims visible = dims;
  if (!row) visible.push_back(sizes.m);
  if (!column) visible.push_back(sizes.n);
  dims.insert(dims.end(), {sizes.m, sizes.n});
  Tensor result(a.type(), dims);
  host::visit_factors(node, a.type(), [&](auto zero) {
    host::stacks_of<decltype(zero)>(node, form, sizes, a, b, column, result);
  });
  return result.reshaped(visible);
}

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
