// SPDX-License-Identifier: Apache-2.0
// How many clocks a program takes on the accelerator, by engine and cause, without simulating it.
#pragma once

#include <cstddef>
#include <vector>

#include "host/device/counters.hpp"
#include "host/device/geometry.hpp"
#include "host/device/memory_timing.hpp"
#include "host/device/registers.hpp"

namespace gemm64 {

/// The counters that the device writes to memory when a FENCE passes.
struct PredictedSnapshot {
  std::size_t command;  // the FENCE's index in the program
  Counters counters{};
};

/// What a program counts.
struct Prediction {
  Counters counters{};  // in the end
  std::vector<PredictedSnapshot> snapshots;
};

/// Predicts every counter of a program, run from an idle device whose memory answers each request
/// after `memory.latency` clocks and then gives or takes a beat a clock on every port; stalls and
/// limits of bandwidth are not predicted. Exact: the counters of the RTL are the same to the clock.
///
/// A max-plus recurrence: each event happens a fixed number of clocks after the latest of what it
/// waits for (host/cycles/README.md). Throws UsageError, naming the command, for a program that the
/// accelerator would reject or could not finish: loads and STOREs must fit its MATMULs, and FINISH
/// must be the last command.
Prediction predict(const std::vector<Command>& program, const Geometry& geometry,
                   const MemoryTiming& memory);

/// The counters in the end alone.
Counters predict_counters(const std::vector<Command>& program, const Geometry& geometry,
                          const MemoryTiming& memory);

}  // namespace gemm64
