// SPDX-License-Identifier: Apache-2.0
// How many cycles a program takes on the accelerator, by engine and cause, without simulating it.
#pragma once

#include <cstddef>
#include <vector>

#include "host/cycles/ring.hpp"
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
  std::vector<Counters> starts;  // before the first tile of each MATMUL that was asked for
  DramCounts dram;               // of the channel, where memory is one
};

/// Predicts every counter of a program, run from an idle device whose memory answers each request
/// after `memory.latency` cycles and then gives or takes a beat per cycle on every port; stalls and
/// limits of bandwidth are not predicted. Exact: the counters of the RTL are the same to the clock.
///
/// A max-plus recurrence: each event happens a fixed number of cycles after the latest of what it
/// waits for (host/cycles/README.md). Throws UsageError, naming the command, for a program that the
/// accelerator would reject or could not finish: loads and STOREs must fit its MATMULs, and FINISH
/// must be the last command. `matmuls`: those whose starts are asked for, indices in the program in
/// ascending order. `ring`: where the commands are, on which the cycles depend only where memory is
/// a DRAM channel.
Prediction predict(const std::vector<Command>& program, const Geometry& geometry,
                   const MemoryTiming& memory, const std::vector<std::size_t>& matmuls = {},
                   const Ring& ring = {});

/// The same of a ring to which commands are added while the accelerator works: of each FINISH, what
/// was counted when it ended the work before it. So it is of the last command where that is no
/// FINISH, but nothing is left to do after it.
struct RingPrediction {
  std::vector<PredictedSnapshot> finishes;
  std::vector<PredictedSnapshot> snapshots;
  std::vector<Counters> starts;  // as of a Prediction
  DramCounts dram;
};

/// Predicts programs that follow each other in a ring, each up to its FINISH, on an accelerator
/// that fetches the next while one runs. `given`: for each command the first cycle in which it is
/// in the ring, counted from the first in which the accelerator is busy, which it stays. As far as
/// programs can end: of one that cannot, and of later ones, nothing is said.
RingPrediction predict_ring(const std::vector<Command>& commands,
                            const std::vector<std::uint64_t>& given, const Geometry& geometry,
                            const MemoryTiming& memory, const Ring& ring = {});

/// Only the final counters.
Counters predict_counters(const std::vector<Command>& program, const Geometry& geometry,
                          const MemoryTiming& memory, const Ring& ring = {});

}  // namespace gemm64
