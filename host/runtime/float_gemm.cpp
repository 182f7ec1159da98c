// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/float_gemm.hpp"

#include "host/runtime/quantized_gemm.hpp"
#include "host/runtime/sliced_gemm.hpp"

namespace gemm64 {

std::vector<Job> float_jobs(const JobRunner& runner, Precision precision, const std::string& name,
                            const GemmShape& shape) {
  if (precision != Precision::kInt8) return sliced_jobs(runner, name, shape);
  return {runner.job(name, shape)};
}

LayerReport run_float(JobRunner& runner, Precision precision, const std::string& name,
                      const MatrixF& a, const Eigen::Ref<const MatrixF>& w, MatrixF& result,
                      const ProgressShare& progress) {
  const auto size = [](Eigen::Index index) { return static_cast<std::uint64_t>(index); };
  const std::vector<Job> jobs =
      float_jobs(runner, precision, name, {size(a.rows()), size(a.cols()), size(w.rows())});
  if (precision != Precision::kInt8) {
    return run_sliced(runner, name, jobs, a, MatrixF(w), result, progress);
  }
  LayerReport layer = run_quantized(runner, jobs.front(), a, w, result, progress);
  layer.arithmetic = Arithmetic::kQuantizedOnTheWay;
  return layer;
}

}  // namespace gemm64
