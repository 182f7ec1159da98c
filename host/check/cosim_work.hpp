// SPDX-License-Identifier: Apache-2.0
// Work that several devices are given: a memory, programs, and what disturbs them.
#pragma once

#include <cstdint>
#include <vector>

#include "host/device/geometry.hpp"
#include "host/tiling/job_program.hpp"

namespace gemm64 {

/// A program and where its results lie. One without commands is a further layer of the program
/// before it.
struct CosimProgram {
  std::vector<Command> commands;  // FINISH last
  std::uint64_t results = 0, result_bytes = 0;
};

/// What each side is given: a memory, and programs, one after the other.
struct CosimWork {
  std::vector<std::uint8_t> memory;  // from address 0 on, all of it
  std::uint64_t ring = 0;
  std::uint32_t places = 64;
  std::vector<CosimProgram> programs;
  std::vector<Job> jobs;  // whose results they are
  /// Addresses at which FENCEs write the counters. Of them sides without cycles know the bytes
  /// only.
  std::vector<std::uint64_t> snapshots;
  std::uint32_t watchdog = 0;  // 0: the device's own

  /// What disturbs the work. Sides that run firmware can do none of it.
  enum class Disturbance {
    kNone,
    kReset,     // a soft reset `after` cycles after the first doorbell; then all from the start
    kDoorbell,  // each program is submitted `after` cycles after the one before, done or not
    kClear      // INTERRUPT is cleared `after` cycles after the first doorbell
  };
  Disturbance disturbance = Disturbance::kNone;
  std::uint64_t after = 0;

  /// Are cycles predicted exactly, so that all sides that count them must agree?
  bool exact = false;
  /// Does the memory stall at random? Then no two sides need count the same cycles.
  bool random_stalls = false;
};

/// Jobs on random operands from a seed, each a program of its own, one after the other in a memory
/// of whole 64 KiB; of the jobs name, plan and geometry are taken. Throws UsageError if the
/// addresses of all do not fit the device.
CosimWork make_cosim_work(std::vector<Job> jobs, std::uint32_t seed);

/// Layers of one program: after each but the last a FENCE that waits for its results. The memory
/// is zero.
CosimWork make_fenced_work(const JobProgram& list);

/// The same of jobs, on random operands from a seed. A job with a source reads that one's results.
CosimWork make_fenced_work(const std::vector<Job>& jobs, const Geometry& geometry,
                           std::uint32_t seed);

/// Both of products. Throw UsageError as make_plan() does, too.
CosimWork make_cosim_work(const std::vector<GemmShape>& shapes, Accumulate accumulate,
                          const Geometry& geometry, std::uint32_t seed);
CosimWork make_fenced_work(const std::vector<GemmShape>& shapes, Accumulate accumulate,
                           const Geometry& geometry, std::uint32_t seed);

}  // namespace gemm64
