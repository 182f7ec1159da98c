// SPDX-License-Identifier: Apache-2.0
// A float32 product as ten exact int8 products of slices (see numerics/slices.hpp).
#pragma once

#include <vector>

#include "host/runtime/job_runner.hpp"

namespace gemm64 {

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
