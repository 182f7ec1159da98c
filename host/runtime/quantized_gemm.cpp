// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/quantized_gemm.hpp"

#include "host/numerics/quantize.hpp"

namespace gemm64 {

LayerReport run_quantized(JobRunner& runner, const Job& job, const MatrixF& a,
                          const Eigen::Ref<const MatrixF>& w, MatrixF& result,
                          const ProgressShare& progress) {
  const QuantizedMatrix input = quantize_per_tensor(a);
  const QuantizedMatrix weights = quantize_per_row(w);
  MatrixI32 sums;
  LayerReport layer = runner.run(job, input.values, weights.values, sums, progress);
  result =
      dequantize_linear(sums, input.scales(0), weights.scales, Eigen::VectorXf::Zero(w.rows()));
  return layer;
}

}  // namespace gemm64
