// SPDX-License-Identifier: Apache-2.0
// How convolutions that follow each other share the scratchpad.
#pragma once

#include <vector>

#include "host/device/geometry.hpp"
#include "host/tiling/job.hpp"

namespace gemm64 {

/// Gives convolutions that follow each other planes of one capacity, as far as each has room in
/// them: the pixels of one then follow those of the one before, while these are still read.
/// Where the capacity changes, the pixels wait until none is kept.
void share_planes(std::vector<Job>& jobs, const Geometry& geometry);

}  // namespace gemm64
