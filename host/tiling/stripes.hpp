// SPDX-License-Identifier: Apache-2.0
// Groups of jobs that run stripe by stripe, so that the maps between them need no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "host/device/geometry.hpp"
#include "host/tiling/job.hpp"
#include "host/tiling/tensor_placement.hpp"

namespace gemm64 {

/// Where rows of a map are stored: from its first word, in pixels.
struct StripeView {
  std::uint64_t first = 0;   // the first pixel
  std::uint64_t pixels = 0;  // from a channel block to the next
};

/// The work of a job for one stripe: a convolution of some rows of its map.
struct StripePart {
  Plan plan;
  StripeView read, operand;
  std::uint64_t first_row = 0;  // of the job's results
  std::uint64_t out_row = 0;    // the same of those that are stored: of an inner job the stripe's
};

/// Jobs and their cut. Stripes share the rows that windows need on both sides of their border;
/// these are computed for each.
struct StripeGroup {
  JobStripes jobs;
  std::vector<std::vector<StripePart>> parts;  // of each job, of each stripe
};

/// Jobs [first, second] that are not to be one group.
using RefusedStripes = std::vector<std::pair<std::size_t, std::size_t>>;

/// Returns groups of consecutive convolutions and pools of one image for which stripes save time: a
/// map that only jobs of its group read is never whole. Groups cover the jobs so that the estimated
/// cost is the least, each in the fewest stripes with which the maps between its jobs fit the
/// tensor memory, next to those that are there whole meanwhile.
std::vector<StripeGroup> find_stripes(const std::vector<Job>& jobs, const Geometry& geometry,
                                      const RefusedStripes& refused = {});

}  // namespace gemm64
