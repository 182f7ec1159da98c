// SPDX-License-Identifier: Apache-2.0
// A campaign of faults: what is drawn for each try, and what became of it. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "host/device/fault.hpp"
#include "host/device/geometry.hpp"
#include "host/device/memory_timing.hpp"
#include "host/job/plan.hpp"

namespace gemm64 {

/// One product and one fault. All of it follows from the campaign's seed and the index.
struct FaultTry {
  std::uint64_t index = 0;
  std::uint32_t array = 0;  // rows and columns
  GemmShape shape;
  Accumulate accumulate = Accumulate::kDevice;
  MemoryTiming memory;
  std::uint32_t seed = 0;      // of operands and stalls
  std::uint32_t watchdog = 0;  // clocks
  Fault fault;
};

/// Draws a try for such an accelerator. Its kinds of faults come by turns; the fault's clock counts
/// from the product's first clock, and lies before its end.
FaultTry draw_try(std::uint32_t seed, std::uint64_t index, const Geometry& geometry);

/// The command that runs it again: "gemm64 gemm 3 9 8 --array 8 ... --inject weight:0,3:7@512".
std::string command_of(const FaultTry& fault_try);

enum class FaultOutcome {
  kMasked,         // every sum is right, and the check found nothing
  kWrongSums,      // found by the check: sums differ from the reference
  kWrongCounters,  // found by the check: the sums are right, counters are not as predicted
  kStopped,        // the device or the driver ended the run with an error
  kHung,           // nothing ended it
  kUnnoticed       // a sum is wrong, and the run was told to be verified
};
inline constexpr std::size_t kFaultOutcomes = 6;
/// "masked", "wrong_sums", ...
const char* name(FaultOutcome outcome);

/// What was seen of a try.
struct Evidence {
  bool hung = false;      // ended from outside
  std::string error;      // of device or driver; empty: none
  bool verified = false;  // the run's own verdict
  bool right = false;     // what a comparison beside it says of every sum
};
FaultOutcome classify(const Evidence& evidence);

struct TriedFault {
  FaultTry fault_try;  // the fault's clock is now the device's, as --inject takes it
  FaultOutcome outcome = FaultOutcome::kMasked;
  std::string error;  // where it stopped
};

struct CampaignReport {
  std::uint32_t array = 0;
  std::uint32_t seed = 0;
  std::vector<TriedFault> tries;  // by index
  unsigned jobs = 0;              // side by side
  double seconds = 0;             // of wall time

  /// How many tries with such a fault came to such an end; `kind` is an index into kFaultKinds.
  std::uint64_t count(std::size_t kind, FaultOutcome outcome) const;
  std::uint64_t count(FaultOutcome outcome) const;
  /// Did nothing hang, and nothing go unnoticed?
  bool holds() const;
};

}  // namespace gemm64
