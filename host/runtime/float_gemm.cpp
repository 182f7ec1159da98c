// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/float_gemm.hpp"

#include <fmt/format.h>

#include "host/numerics/quantize.hpp"
#include "host/numerics/slices.hpp"
#include "host/util/error.hpp"

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

std::vector<Job> sliced_jobs(const JobRunner& runner, const std::string& name,
                             const GemmShape& shape) {
  if (shape.k > static_cast<std::uint64_t>(kSlicesMaxDepth)) {
    throw UsageError(
        fmt::format("K is {}; float32 products go up to {}", shape.k, kSlicesMaxDepth));
  }
  std::vector<Job> jobs;
  for (std::uint64_t order = 0; order < kSlices; ++order) {
    const GemmShape sliced{shape.m, shape.k * (order + 1), shape.n};
    jobs.push_back(runner.job(fmt::format("{}/{}", name, order), sliced));
  }
  return jobs;
}

LayerReport run_sliced(JobRunner& runner, const std::string& name, const std::vector<Job>& jobs,
                       const MatrixF& a, const MatrixF& w, MatrixF& result,
                       const ProgressShare& progress) {
  const SlicedMatrix sliced_a = slice_rows(a);
  const SlicedMatrix sliced_w = slice_rows(w);
  Matrix<double> sums = Matrix<double>::Zero(a.rows(), w.rows());
  RunReport parts = runner.report(name, static_cast<std::uint64_t>(a.rows()));
  ProgressShare share = progress.inside();
  constexpr double kProducts = kSlices * (kSlices + 1) / 2.0;
  for (int order = 0; order < kSlices; ++order) {
    share.next((order + 1) / kProducts);
    MatrixI32 products;
    parts.layers.push_back(runner.run(jobs.at(static_cast<std::size_t>(order)),
                                      stack_slices(sliced_a, order, false),
                                      stack_slices(sliced_w, order, true), products, share));
    add_order(sums, products, order);
  }
  const auto size = [](Eigen::Index index) { return static_cast<std::uint64_t>(index); };
  const GemmShape shape{size(a.rows()), size(a.cols()), size(w.rows())};
  LayerReport layer = layer_of(parts, name, shape);
  layer.arithmetic = Arithmetic::kSlices;
  layer.padded = {shape.m, parts.layers[0].padded.k, parts.layers[0].padded.n};
  layer.published = published_cycles(shape, parts.geometry.n);
  result = scale_sums(sums, sliced_a, sliced_w);
  if (runner.options().check != CheckLevel::kLayers) return layer;
  const Matrix<double> exact = a.cast<double>() * w.cast<double>().transpose();
  layer.max_abs_error = slices_error(exact, result);
  layer.error_bound = slices_error_bound(sliced_a, sliced_w, static_cast<double>(a.cols()),
                                         exact.cwiseAbs().maxCoeff());
  return layer;
}

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
