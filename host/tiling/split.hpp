// SPDX-License-Identifier: Apache-2.0
// A job as several smaller ones, for devices that share it.
#pragma once

#include <cstdint>
#include <vector>

#include "host/numerics/matrix.hpp"
#include "host/tiling/job.hpp"

namespace gemm64 {

/// The axis along which a job is split: parts share its weights, or its activations.
enum class SplitAxis { kRows, kColumns };

/// Part of a job: rows [first_row, first_row + M of the part) and the columns likewise.
struct JobPart {
  std::uint64_t first_row = 0;
  std::uint64_t first_column = 0;
  Job job;
};

/// Splits a job into at most `parts` jobs of whole blocks of M, or of whole tiles of N, as even as
/// they can be; there are fewer where the job has fewer blocks or tiles. Throws
/// std::invalid_argument if `parts` is 0.
std::vector<JobPart> split(const Job& job, SplitAxis axis, std::uint32_t parts,
                           const Geometry& geometry);

/// The rows of A[M x K], or of W[N x K], that a part of a job needs.
MatrixI8 part_of_activations(const JobPart& part, const MatrixI8& a);
MatrixI8 part_of_weights(const JobPart& part, const MatrixI8& w);

/// C[M x N] of the job from those of its parts, in the order of split().
MatrixI32 join(const Job& job, const std::vector<JobPart>& parts,
               const std::vector<MatrixI32>& sums);

}  // namespace gemm64
