// SPDX-License-Identifier: Apache-2.0
// A product that failed, and what its diagnosis found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "host/check/finding.hpp"
#include "host/numerics/quality.hpp"
#include "host/tiling/plan.hpp"

namespace gemm64 {

/// A mismatch, an error of the device such as a time-out, or a counter that is not as predicted.
struct Failure {
  std::string product;    // name
  std::size_t index = 0;  // of the products of a run
  GemmShape shape;
  std::uint64_t first_clock = 0;  // in which the product began
  Mismatches mismatches;          // none: an error
  std::string error;              // the device's message
  std::string counter;            // the first that is wrong, where all else is right
  Finding finding;
  std::uint64_t trace_begin = 0;  // the traced cycles
  std::uint64_t trace_end = 0;
  std::string trace_file;   // empty: none was written
  std::string save_file;    // GTKWave's; empty: none was written
  std::string replay_file;  // what `gemm64 replay` reads
  std::string note;         // what else is to be said, a line
};

/// Some lines for a person: what differs, where it went wrong for the first time, and when.
std::string describe(const Failure& failure);

}  // namespace gemm64
