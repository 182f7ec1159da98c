// SPDX-License-Identifier: Apache-2.0
#include "host/session/float64_reference.hpp"

#include <cmath>
#include <functional>

#include "host/execute/linear.hpp"
#include "host/kernels/gemm.hpp"

namespace gemm64 {
namespace {

/// Products in double, rounded once, and how far sums in float32 may be from them.
class ExactProduct {
 public:
  MatrixF operator()(const MatrixF& a, const ConstMapF& weights) {
    shape = {static_cast<std::uint64_t>(a.rows()), static_cast<std::uint64_t>(a.cols()),
             static_cast<std::uint64_t>(weights.rows())};
    const Matrix<double> exact_a = a.cast<double>();
    MatrixF result(a.rows(), weights.rows());
    constexpr Eigen::Index kRows = 256;  // of the weights at a time: bounds the memory for doubles
    double longest_weights = 0;
    for (Eigen::Index first = 0; first < weights.rows(); first += kRows) {
      const Eigen::Index count = std::min(kRows, weights.rows() - first);
      const Matrix<double> part = weights.middleRows(first, count).cast<double>();
      longest_weights = std::max(longest_weights, part.rowwise().norm().maxCoeff());
      result.middleCols(first, count) = (exact_a * part.transpose()).cast<float>();
    }
    // Sums of K products in any order are within K + 2 roundings of the sum of magnitudes, which
    // is at most the product of the norms.
    bound = static_cast<double>(a.cols() + 2) * 0x1p-24 * exact_a.rowwise().norm().maxCoeff() *
            longest_weights;
    return result;
  }

  GemmShape shape;
  double bound = 0;
};

}  // namespace

LayerReport compare_with_double(const Step& step, const Tensors& inputs, const Tensor& found) {
  ExactProduct product;
  const Tensor exact = run_linear(step.context, inputs, std::ref(product));
  const bool is_gemm = step.context.node->op_type() == "Gemm";
  const double alpha = is_gemm ? static_cast<double>(gemm_form(step.context).alpha) : 1.0;
  const MatrixF expected = as_rows(exact);
  LayerReport layer;
  layer.shape = product.shape;
  layer.max_abs_error = max_abs_error(expected, as_rows(found));
  // alpha, beta and the bias round three times more.
  layer.error_bound = std::abs(alpha) * product.bound +
                      3 * 0x1p-23 * static_cast<double>(expected.cwiseAbs().maxCoeff());
  return layer;
}

}  // namespace gemm64
