// SPDX-License-Identifier: Apache-2.0
// How jobs are run, and who observes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "host/check/failure.hpp"
#include "host/check/investigation.hpp"
#include "host/check/job_observer.hpp"
#include "host/device/device.hpp"
#include "host/device/memory_timing.hpp"
#include "host/device/registers.hpp"
#include "host/driver/driver.hpp"
#include "host/tiling/plan.hpp"

namespace gemm64 {

/// What becomes of a Linear layer of float32 (8-bit ones are computed as they are).
enum class Precision {
  kFile,    // float32: of a file that has no 8-bit layer for the device, there in slices; otherwise
            // on the host
  kInt8,    // quantized by its own input, which is another arithmetic than the file's
  kFloat32  // on the device in four slices of 7 bits an operand, ten exact int8 products
};
/// "file", "int8" or "float32"; "device" or "host".
const char* name(Precision precision);
const char* name(Accumulate accumulate);

/// What of the device's values is compared. Whatever it is, these are the values that go on.
enum class CheckLevel {
  kLayers,   // each layer's with the host's exact arithmetic on the inputs that the device had
  kOutputs,  // the network's outputs with those of a run on the host
  kNone,     // none; the host computes nothing but its own nodes
};
const char* name(CheckLevel check);

/// Called with the first job that failed; finds out more, and adds it to `failure`.
using Investigate = std::function<void(const JobRun& run, Failure& failure)>;

/// The only job of a run that is run; the sums of all others are the reference's.
struct OneJob {
  std::size_t index = 0;
  std::uint64_t first_clock = 0;                // in which it begins, with a reset
  std::function<void(std::uint64_t)> reset_at;  // of the device, as DebugDevice's
};

/// Devices on which work that does not depend on each other runs.
struct SideBySide {
  unsigned jobs = 1;                              // devices, the runner's own included
  std::function<std::unique_ptr<Device>()> make;  // called by several threads
  Timeouts timeouts;                              // of their drivers
};

struct RunOptions {
  CheckLevel check = CheckLevel::kLayers;  // of jobs that run by themselves: kLayers, or not at all
  Precision precision = Precision::kFile;
  Accumulate accumulate = Accumulate::kDevice;
  ResultCode results = ResultCode::kInt8;  // of layers of 8-bit values; kInt32: their sums
  bool convolutions = true;                // on the device, those of quantized networks
  bool lanes = true;                       // depthwise ones on the depthwise unit
  MemoryTiming memory;
  bool one_program = false;     // all jobs as one, consecutively with fences; see JobRunner::finish
  bool finishes_later = false;  // one_program: run_group() leaves finish() to its caller
  Investigate investigate;      // empty: a failure is only reported
  std::optional<OneJob> only;   // empty: all run
  std::vector<JobObserver*> observers;  // of each job; the device must show its cycles
};

}  // namespace gemm64
