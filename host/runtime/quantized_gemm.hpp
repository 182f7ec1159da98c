// SPDX-License-Identifier: Apache-2.0
// A float32 product as one int8 product between quantized operands.
#pragma once

#include "host/runtime/job_runner.hpp"

namespace gemm64 {

/// `result` = a[M x K] * w[N x K]^T by `job`, an M x K x N one: a single scale for all of `a`, from
/// its own largest magnitude, and one for each row of `w`.
LayerReport run_quantized(JobRunner& runner, const Job& job, const MatrixF& a,
                          const Eigen::Ref<const MatrixF>& w, MatrixF& result,
                          const ProgressShare& progress);

}  // namespace gemm64
