// SPDX-License-Identifier: Apache-2.0
#include "host/execute/linear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "host/execute/gemm.hpp"

namespace gemm64 {
namespace {

using onnx::TensorProto;

/// A tensor of [1, ..., 1, rows, columns].
bool is_matrix(const Tensor& tensor) {
  return tensor.rank() >= 2 && tensor.elements() != 0 &&
         std::all_of(tensor.dims().begin(), tensor.dims().end() - 2,
                     [](std::int64_t dim) { return dim == 1; });
}

ConstMapF matrix(const Tensor& tensor, std::int64_t rows, std::int64_t columns) {
  return {tensor.values<float>(), rows, columns};
}

}  // namespace

bool is_linear(const NodeContext& node, const Tensors& inputs) {
  const std::string& type = node.node->op_type();
  if (inputs.size() < 2 || (type != "Gemm" && type != "MatMul")) return false;
  const Tensor& a = inputs[0];
  const Tensor& b = inputs[1];
  if (a.type() != TensorProto::FLOAT || b.type() != TensorProto::FLOAT) return false;
  if (a.elements() == 0 || a.rank() < (type == "Gemm" ? 2u : 1u) || !is_matrix(b)) return false;
  // A stack of one matrix must not add axes to the result.
  return b.rank() <= std::max<std::size_t>(a.rank(), 2);
}

std::int64_t linear_depth(const NodeContext& node, const Tensors& inputs) {
  const Tensor& b = inputs[1];
  const bool transposed = node.node->op_type() == "Gemm" && gemm_form(node).transpose_b;
  return b.dim(b.rank() - (transposed ? 1 : 2));
}

Tensor run_linear(const NodeContext& node, const Tensors& inputs, const LinearFunction& product) {
  const Tensor& a = inputs[0];
  const Tensor& b = inputs[1];
  const bool is_gemm = node.node->op_type() == "Gemm";
  const GemmForm form = is_gemm ? gemm_form(node) : GemmForm{};
  const std::int64_t b_rows = b.dim(b.rank() - 2);
  const std::int64_t b_columns = b.dim(b.rank() - 1);
  const std::int64_t k = form.transpose_b ? b_columns : b_rows;
  const std::int64_t n = form.transpose_b ? b_rows : b_columns;
  const std::int64_t a_k = form.transpose_a ? a.dim(0) : a.dims().back();
  if (a_k != k) throw failure(node, operands_do_not_fit(a, b));

  const std::int64_t m = a.elements() / k;
  MatrixF rows;
  if (form.transpose_a) {
    rows = matrix(a, k, m).transpose();
  } else {
    rows = matrix(a, m, k);
  }
  MatrixF transposed;
  if (!form.transpose_b) transposed = matrix(b, k, n).transpose();
  const float* weights = form.transpose_b ? b.values<float>() : transposed.data();
  const MatrixF found = product(rows, ConstMapF(weights, n, k));

  Dims dims = is_gemm ? Dims{m, n} : a.dims();
  dims.back() = n;
  Tensor result(TensorProto::FLOAT, dims);
  Eigen::Map<MatrixF> values(result.mutable_values<float>(), m, n);
  values = form.alpha == 1 ? found : MatrixF(form.alpha * found);
  if (is_gemm) add_bias(node, form, optional_input(inputs, 2), result);
  return result;
}

}  // namespace gemm64
