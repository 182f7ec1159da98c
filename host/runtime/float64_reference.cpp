// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/float64_reference.hpp"

#include <algorithm>
#include <cmath>

#include "host/graph/proto/attribute.hpp"

namespace gemm64 {
namespace {

using MatrixD = Matrix<double>;

/// A tensor as a matrix whose columns are its last axis, transposed if the node's attribute says
/// so.
MatrixD matrix_of(const onnx::NodeProto& node, const char* transposed, const Tensor& tensor) {
  const std::int64_t columns = tensor.dims().back();
  const Eigen::Map<const MatrixF> values(tensor.values<float>(), tensor.elements() / columns,
                                         columns);
  if (attribute(node, transposed, std::int64_t{0}) != 0) return values.transpose().cast<double>();
  return values.cast<double>();
}

/// Adds beta * bias, which broadcasts.
void add_bias(const onnx::NodeProto& node, const Tensor& bias, MatrixD& result) {
  const Eigen::Index columns = bias.rank() == 0 ? 1 : bias.dims().back();
  const Eigen::Index rows = bias.elements() / std::max<Eigen::Index>(columns, 1);
  const Eigen::Map<const MatrixF> values(bias.values<float>(), rows, columns);
  result += attribute(node, "beta", 1.0F) *
            values.cast<double>().replicate(result.rows() / rows, result.cols() / columns);
}

}  // namespace

LayerReport compare_with_double(const onnx::NodeProto& node, const Tensors& inputs,
                                const Tensor& found) {
  const MatrixD a = matrix_of(node, "transA", inputs[0]);
  const Tensor& weights = inputs[1];
  const bool is_transposed = attribute(node, "transB", std::int64_t{0}) != 0;
  const Eigen::Index k = a.cols(), n = weights.elements() / k;
  const Eigen::Map<const MatrixF> w(weights.values<float>(), is_transposed ? n : k,
                                    is_transposed ? k : n);
  MatrixD exact(a.rows(), n);
  constexpr Eigen::Index kColumns = 256;  // of weights at a time: bounds the memory for doubles
  double longest_weights = 0;
  for (Eigen::Index first = 0; first < n; first += kColumns) {
    const Eigen::Index count = std::min(kColumns, n - first);
    MatrixD part;  // K x N
    if (is_transposed) {
      part = w.middleRows(first, count).transpose().cast<double>();
    } else {
      part = w.middleCols(first, count).cast<double>();
    }
    longest_weights = std::max(longest_weights, part.colwise().norm().maxCoeff());
    exact.middleCols(first, count) = a * part;
  }
  const double alpha = attribute(node, "alpha", 1.0F);
  exact *= alpha;
  if (inputs.size() > 2 && inputs[2].present()) add_bias(node, inputs[2], exact);

  const MatrixF expected = exact.cast<float>();
  const Eigen::Map<const MatrixF> values(found.values<float>(), a.rows(), n);
  LayerReport layer;
  layer.shape = {static_cast<std::uint64_t>(a.rows()), static_cast<std::uint64_t>(k),
                 static_cast<std::uint64_t>(n)};
  layer.max_abs_error = max_abs_error(expected, MatrixF(values));
  // Sums of K products in any order are within K + 2 roundings of the sum of magnitudes, which is
  // at most the product of the norms. alpha, beta and the bias round three times more.
  layer.error_bound = std::abs(alpha) * static_cast<double>(k + 2) * 0x1p-24 *
                          a.rowwise().norm().maxCoeff() * longest_weights +
                      3 * 0x1p-23 * static_cast<double>(expected.cwiseAbs().maxCoeff());
  return layer;
}

}  // namespace gemm64
