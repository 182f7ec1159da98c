// SPDX-License-Identifier: Apache-2.0
// Chains of jobs that run stripe by stripe, so that the maps between them need no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/device/geometry.hpp"
#include "host/tiling/job.hpp"
#include "host/tiling/tensor_placement.hpp"

namespace gemm64 {

/// What a job does for one stripe: a convolution of some rows of its map.
struct StripePart {
  Plan plan;
  std::uint64_t in_pixel = 0;  // of the whole map that it reads, its first one
  std::uint64_t out_row = 0;   // of the job's results, its first one
};

/// A chain and its cut. Stripes share the rows that windows need on both sides of their border;
/// these are computed for each.
struct StripeGroup {
  JobStripes jobs;
  std::vector<std::vector<StripePart>> parts;  // of each job of the chain, of each stripe
};

/// Returns the chains of consecutive convolutions of one image for which stripes save bytes: a map
/// between two of them is read by the second only, and does not fit the tensor memory together with
/// that one's results. The number of stripes is the least with which these maps fit, if possible
/// next to the maps that the chain reads and writes.
std::vector<StripeGroup> find_stripes(const std::vector<Job>& jobs, const Geometry& geometry);

}  // namespace gemm64
