// SPDX-License-Identifier: Apache-2.0
// Runs a product that failed again on devices that can be looked into: once to find the moment,
// once to trace it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "host/check/failure.hpp"
#include "host/device/debug_device.hpp"
#include "host/driver/driver.hpp"
#include "host/numerics/matrix.hpp"
#include "host/tiling/job.hpp"

namespace gemm64 {

/// A job with its operands: all that a run depends on.
struct JobRun {
  const Job& job;
  const SharedBytes& packed;  // the weights, as Driver::run takes them
  const MatrixI8& a;
  const MatrixI8& w;
  const std::vector<std::uint8_t>* parameters = nullptr;  // of 8-bit results, as Driver::run does

  /// The program that it was part of, with the operands of all jobs, and its place in it; null
  /// where it ran by itself.
  const JobProgram* list = nullptr;
  const std::vector<JobOperands>* operands = nullptr;
  std::size_t place = 0;
};

/// Builds a device like that of the failed run, faults included: without a trace, or to trace into
/// the investigation's file.
using MakeDebugDevice = std::function<std::unique_ptr<DebugDevice>(bool traced)>;

/// Fills in what the diagnosis finds, and traces the cycles around it; `failure` says what
/// failed and in which cycle the product began. Cycles are numbered as in the failed run. Where the
/// product does not fail again, the finding's place is kNone and nothing is traced. Of a wrong
/// counter there is no value to look for: nothing runs.
void investigate(const JobRun& run, const MakeDebugDevice& make, const Timeouts& timeouts,
                 Failure& failure);

}  // namespace gemm64
