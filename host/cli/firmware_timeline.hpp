// SPDX-License-Identifier: Apache-2.0
// A run of firmware on one axis: functions, registers, interrupts, the accelerator's engines, its
// bursts.
#pragma once

#include <string>
#include <vector>

#include "host/check/timeline.hpp"
#include "host/check/trace_events.hpp"
#include "host/tiling/job.hpp"
#include "host/tiling/job_program.hpp"
#include "sim/integrations/systemc/platform.hpp"

namespace gemm64 {

/// A trace that Perfetto opens. Tracks, from the top: functions, registers, interrupt, accelerator;
/// with an RTL that is observed those of Timeline; bursts.
class FirmwareTimeline {
 public:
  /// Throws UsageError where `file` cannot be written. Without finish() no file appears.
  explicit FirmwareTimeline(const std::string& file);

  /// Observes a platform's RTL, which is about to run `jobs` one after the other. They live until
  /// finish(), the timeline as long as the platform.
  void observe(Platform& platform, const std::vector<Job>& jobs);
  /// The same of programs, one after the other.
  void observe(Platform& platform, const JobProgram& programs);

  /// Writes the events of the run. Throws OutputError where they are lost.
  void finish(const FirmwareReport& report);

 private:
  TraceEvents trace_;
  std::unique_ptr<Timeline> engines_;
};

}  // namespace gemm64
