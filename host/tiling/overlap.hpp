// SPDX-License-Identifier: Apache-2.0
// Where a job of a program begins before the job ahead of it has ended.
#pragma once

#include <cstdint>
#include <optional>

#include "host/device/geometry.hpp"
#include "host/tiling/job_commands.hpp"
#include "host/tiling/plan.hpp"

namespace gemm64 {

/// Cycles from a job's last sum until its results have been written to the tensor memory and are
/// read there, apart from the array.
constexpr std::uint64_t kThroughTensorMemory = 60;

/// A cut through a job's results, and how much of the next job the results before it suffice for.
struct Overlap {
  ResultCut cut;
  std::uint64_t early_blocks = 0;
  std::uint32_t early_tiles = 0;
  std::uint64_t early_words = 0;
};

/// The overlap at which the array waits least between a job and the one after it, which reads its
/// results, or a map of which they are the last part; none where there is nothing to gain. What
/// waits for the cut comes while the rest of the first job is computed, and the results after the
/// cut are stored and loaded while the array works on what comes before it. `on_chip`: the results
/// stay in the tensor memory.
std::optional<Overlap> find_overlap(const Plan& plan, const Plan& next, const Geometry& geometry,
                                    bool on_chip = false);

/// Blocks of a convolution that cover the way through memory: they may begin while the job before
/// it, whose results it does not read, is still stored.
std::uint64_t covering_blocks(const Plan& next, const Geometry& geometry);

}  // namespace gemm64
