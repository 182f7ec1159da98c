// SPDX-License-Identifier: Apache-2.0
// Finds the cycle in which an element of a job's results leaves the chip.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/check/finding.hpp"
#include "host/device/debug_device.hpp"
#include "host/tiling/job.hpp"
#include "host/tiling/job_program.hpp"

namespace gemm64 {

/// Observes a program from reset, of one job or more. The planes of a job on the depthwise lanes
/// leave one after the other, a row of N channels for each pixel.
class BeatWatch : public Observer {
 public:
  /// Watches the result at `row`, `column` of job `place` of a list, or of one that runs by itself.
  BeatWatch(const Job& job, std::uint64_t row, std::uint64_t column, const JobProgram* list,
            std::size_t place);

  void clock(std::uint64_t clock, const Probe& probe) override;

  /// The place kLanes, and the cycle of the element's last beat; kNone where it never left.
  Finding finding() const { return finding_; }

 private:
  std::uint64_t beats_;  // still to come, the element's included
  const std::uint64_t lane_;
  Finding finding_;
};

}  // namespace gemm64
