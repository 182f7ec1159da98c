// SPDX-License-Identifier: Apache-2.0
// An observer that also knows which job is in progress.
#pragma once

#include <cstdint>
#include <vector>

#include "host/device/debug_device.hpp"
#include "host/tiling/job.hpp"
#include "host/tiling/job_program.hpp"

namespace gemm64 {

/// Called where each job begins and ends; between the two calls come the job's cycles, those of its
/// register accesses included.
class JobObserver : public Observer {
 public:
  /// The jobs to come, before the first one runs. May throw UsageError.
  virtual void announce(const std::vector<Job>& jobs) { static_cast<void>(jobs); }

  /// The job begins in `clock` from an accelerator just reset. It lives until end().
  virtual void begin(const Job& job, std::uint64_t clock) = 0;
  virtual void end(std::uint64_t clock) = 0;

  /// A list of jobs begins instead, as one program.
  virtual void begin(const JobProgram& list, std::uint64_t clock) {
    static_cast<void>(list);
    static_cast<void>(clock);
  }
};

}  // namespace gemm64
