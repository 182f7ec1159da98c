// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/linear.hpp"

#include <fmt/format.h>

#include "host/kernels/broadcast.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace {

/// Gemm is alpha * A * B + beta * C, A and B transposed where it says so.
struct GemmForm {
  float alpha = 1;
  float beta = 1;
  bool transpose_a = false;
  bool transpose_b = false;
};

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
  const Tensor addends = broadcast(bias, dims);
  for (std::int64_t i = 0; i < result.elements(); ++i) {
    result.mutable_values<float>()[i] += form.beta * addends.values<float>()[i];
  }
}

std::string operands_do_not_fit(const Tensor& a, const Tensor& b) {
  return fmt::format("its operands, {} and {}, do not fit together", describe(a), describe(b));
}

ConstMapF matrix(const Tensor& tensor, std::int64_t rows, std::int64_t columns) {
  return {tensor.values<float>(), rows, columns};
}

}  // namespace

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
  Tensor result(onnx::TensorProto::FLOAT, dims);
  Eigen::Map<MatrixF> values(result.mutable_values<float>(), m, n);
  values = form.alpha == 1 ? found : MatrixF(form.alpha * found);
  if (is_gemm) add_bias(node, form, optional_input(inputs, 2), result);
  return result;
}

}  // namespace gemm64
