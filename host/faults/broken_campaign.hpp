// SPDX-License-Identifier: Apache-2.0
// Broken programs on the RTL and on the reference device in parallel: many of them, and how each
// ended. Plain data but for the functions that carry them out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/device/device.hpp"
#include "host/device/registers.hpp"
#include "host/faults/broken_program.hpp"

namespace gemm64 {

/// How a program ended on one side.
struct ProgramEnd {
  enum class Kind {
    kDone,      // FINISH was reached
    kRefused,   // an error, whose code, engine and command are reported
    kWaited,    // for what never comes: the watchdog ended it
    kUnending,  // nothing ended it
    kBroken     // the device broke a rule of its own: of AXI, or an assertion
  };
  Kind kind = Kind::kDone;
  std::uint32_t code = 0, engine = 0, command = 0;  // of ERROR
  std::string text;                                 // for people
  std::vector<std::uint8_t> memory;                 // without the ring
  std::vector<std::uint64_t> bytes;                 // over each port

  bool same_error(const ProgramEnd& other) const {
    return code == other.code && engine == other.engine && command == other.command;
  }
};

enum class BrokenOutcome {
  kSameResult,    // both done, every byte of memory and of traffic the same
  kSameRefusal,   // the same code, engine and command
  kOtherRefusal,  // each reported another of the errors that the program has
  kWaited,        // both waited, or only the RTL, for space that only the reference has
  kRaced,         // both done, or UNWRITTEN on a device with checks; what was read depends on
                  // cycles (program_truth.hpp)
  kDiffers,
  kNextWrong  // whatever it did itself, the legal program after it was wrong
};
inline constexpr std::size_t kBrokenOutcomes = 7;
/// "same_result", ...
const char* name(BrokenOutcome outcome);

struct TriedProgram {
  std::uint64_t index = 0;
  ProgramKind kind = ProgramKind::kProduct;
  std::vector<std::string> changes;
  BrokenOutcome outcome = BrokenOutcome::kSameResult;
  std::string rtl, reference;  // how it ended on each
  std::string why;             // in words, where it differs or the next one is wrong
};

struct BrokenReport {
  std::uint32_t array = 0, seed = 0;
  std::uint64_t first = 0;
  std::vector<TriedProgram> tries;  // by index
  unsigned jobs = 0;                // in parallel
  double seconds = 0;               // of wall time

  std::uint64_t count(ProgramKind kind, BrokenOutcome outcome) const;
  std::uint64_t count(BrokenOutcome outcome) const;
  bool holds() const;
};

/// Builds an RTL device of that array whose memory has that many bytes. Called by several threads.
using MakeRtl = std::function<std::unique_ptr<Device>(
    std::uint32_t array, const MemoryTiming& memory, std::uint32_t seed, std::uint64_t bytes)>;

/// Runs a broken program and the one after it on both sides, and compares (README.md).
TriedProgram try_broken_program(const BrokenProgram& drawn, const Geometry& geometry,
                                const MakeRtl& make);

struct BrokenOptions {
  std::uint32_t array = 8;
  std::uint64_t first = 0, count = 1000;
  std::uint32_t seed = 1;
  unsigned jobs = 1;
};
/// Called after each try; one call at a time.
using BrokenProgress = std::function<void(const BrokenReport& so_far)>;

/// Tries the programs `first` to first + count - 1 of a seed. What comes out depends on array, seed
/// and these only.
BrokenReport run_broken_programs(const BrokenOptions& options, const MakeRtl& make,
                                 const BrokenProgress& progress = nullptr);

}  // namespace gemm64
