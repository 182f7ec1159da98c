// SPDX-License-Identifier: Apache-2.0
// A float32 product on the device: one int8 product of quantized operands, or exact products of
// slices (host/numerics/slices.hpp).
#pragma once

#include <string>
#include <vector>

#include "host/runtime/job_runner.hpp"

namespace gemm64 {

/// The jobs that an M x K x N product of float32 operands takes: one quantized (kInt8), or four
/// sliced.
std::vector<Job> float_jobs(const JobRunner& runner, Precision precision, const std::string& name,
                            const GemmShape& shape);

/// `result` = a[M x K] * w[N x K]^T by these jobs.
LayerReport run_float(JobRunner& runner, Precision precision, const std::string& name,
                      const MatrixF& a, const Eigen::Ref<const MatrixF>& w, MatrixF& result,
                      const ProgressShare& progress);

/// `result` = a[M x K] * w[N x K]^T by `job`, an M x K x N one: a single scale for all of `a`, from
/// its own largest magnitude, and one for each row of `w`.
LayerReport run_quantized(JobRunner& runner, const Job& job, const MatrixF& a,
                          const Eigen::Ref<const MatrixF>& w, MatrixF& result,
                          const ProgressShare& progress);

/// The jobs of an M x K x N product: four, with depths of K, 2K, 3K and 4K. Throws UsageError if
/// K is too large for exact sums.
std::vector<Job> sliced_jobs(const JobRunner& runner, const std::string& name,
                             const GemmShape& shape);

/// `result` = a[M x K] * w[N x K]^T by the jobs of sliced_jobs(), compared with a product in
/// double.
LayerReport run_sliced(JobRunner& runner, const std::string& name, const std::vector<Job>& jobs,
                       const MatrixF& a, const MatrixF& w, MatrixF& result,
                       const ProgressShare& progress);

}  // namespace gemm64
