// SPDX-License-Identifier: Apache-2.0
// A float32 product on the device: quantized, or in slices.
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

}  // namespace gemm64
