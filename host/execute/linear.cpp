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

std::string why_on_host(const Step& step, const Tensors& inputs) {
  const std::string& type = step.context.node->op_type();
  if (type == "Conv" || type == "ConvTranspose") return "convolutions run on the host";
  if (type != "Gemm" && type != "MatMul") return type + " runs on the host";
  if (inputs.size() < 2 || !step.constant_weights) return "its weights depend on the input";
  const Tensor& a = inputs[0];
  const Tensor& b = inputs[1];
  if (a.type() != TensorProto::FLOAT || b.type() != TensorProto::FLOAT) {
    return "its operands are not float32";
  }
  // A stack of one matrix must not add axes to the result.
  if (a.rank() < (type == "Gemm" ? 2u : 1u) || !is_matrix(b) ||
      b.rank() > std::max<std::size_t>(a.rank(), 2)) {
    return "its weights are not a matrix";
  }
  return a.elements() == 0 ? "its input is empty" : "";
}

std::optional<GemmShape> linear_shape(const OnnxModel& model, const Step& step) {
  const onnx::NodeProto& node = *step.context.node;
  const bool is_gemm = node.op_type() == "Gemm";
  if (!step.constant_weights || (!is_gemm && node.op_type() != "MatMul")) return std::nullopt;
  const std::optional<TensorType> a = model.type(node.input(0));
  const std::optional<TensorType> b = model.type(node.input(1));
  if (!a || !b || a->data_type != TensorProto::FLOAT || b->data_type != TensorProto::FLOAT) {
    return std::nullopt;
  }
  const std::size_t rank = b->dims.size();
  if (a->dims.empty() || rank < 2 || rank > std::max<std::size_t>(a->dims.size(), 2)) {
    return std::nullopt;
  }
  const GemmForm form = is_gemm ? gemm_form(step.context) : GemmForm{};
  const std::int64_t k = b->dims[rank - (form.transpose_b ? 1 : 2)];
  const std::int64_t n = b->dims[rank - (form.transpose_b ? 2 : 1)];
  const bool is_one_matrix = b->elements() == k * n;
  if (!is_one_matrix || k == 0 || n == 0 || a->elements() == 0) return std::nullopt;
  const auto size = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return GemmShape{size(a->elements() / k), size(k), size(n)};
}

MatrixF as_rows(const Tensor& tensor) {
  const std::int64_t rows = tensor.rank() < 2 ? 1 : tensor.dim(0);
  return Eigen::Map<const MatrixF>(tensor.values<float>(), rows, tensor.elements() / rows);
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
