// SPDX-License-Identifier: Apache-2.0
// What GTKWave shows of a failure.
#pragma once

#include <string>

#include "host/check/failure.hpp"
#include "host/device/geometry.hpp"

namespace gemm64 {

/// Writes failure.save_file for failure.trace_file: the view called `view` (empty: the one that
/// shows the place best), opened at the first wrong value, with the signals of that place on top
/// and markers: A where the sum left the array (or something moved for the last time), B at the
/// first wrong value, C where the tile began. Throws UsageError where the file cannot be written.
void write_failure_view(const Failure& failure, const Geometry& geometry, const std::string& view);

}  // namespace gemm64
