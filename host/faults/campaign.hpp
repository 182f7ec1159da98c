// SPDX-License-Identifier: Apache-2.0
// A campaign of faults: what is drawn for each try, and what became of it. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "host/check/finding.hpp"
#include "host/device/fault.hpp"
#include "host/device/geometry.hpp"
#include "host/device/memory_timing.hpp"
#include "host/faults/fault_layers.hpp"
#include "host/tiling/plan.hpp"

namespace gemm64 {

/// The kinds of faults that are drawn for a program; of two flips at once, those that flip bits.
std::vector<Fault::Kind> kinds_of(FaultProgram program, unsigned flips = 1);

/// Draws a place for a fault of its kind from all that such an accelerator has, each bit as likely
/// as the others.
void draw_any_place(std::mt19937& random, const Geometry& geometry, Fault& fault);

/// Programs of one kind, or of all where there is none.
using FaultPrograms = std::optional<FaultProgram>;

/// One program and one fault. All of it follows from the campaign's seed, its programs and the
/// index.
struct FaultTry {
  std::uint32_t campaign_seed = 0;
  FaultPrograms programs;
  std::uint64_t index = 0;
  std::uint32_t array = 0;  // rows and columns
  bool self_check = false;  // the device finds faults of its own
  FaultProgram program = FaultProgram::kProducts;
  GemmShape shape;  // of a product
  Accumulate accumulate = Accumulate::kDevice;
  std::vector<FaultLayer> layers;  // of any other
  MemoryTiming memory;
  std::uint32_t seed = 0;      // of operands and stalls
  std::uint32_t watchdog = 0;  // cycles
  Fault fault;
  std::optional<Fault> second;  // a flip in the same cycle, where two are drawn

  std::vector<Fault> faults() const;
};

/// Draws a try for such an accelerator. Its kinds of programs and faults come by turns; the fault's
/// clock counts from the program's first cycle, and is before its end. The second of two `flips`
/// is another bit of the same word, row of the array, command, set of parameters or beat; of
/// registers and of the table, any other.
FaultTry draw_try(std::uint32_t seed, FaultPrograms programs, std::uint64_t index,
                  const Geometry& geometry, unsigned flips = 1);

/// The command that runs it again: of a product "gemm64 gemm 3 9 8 --array 8 ... --inject
/// weight:0,3:7@512".
std::string command_of(const FaultTry& fault_try);

enum class FaultOutcome {
  kMasked,         // every sum is right, and the check found nothing
  kWrongSums,      // found by the host's check: results differ from the reference
  kWrongCounters,  // found by it: the results are right, counters are not as predicted
  kDeviceError,    // found by the device: it stopped with an error that names what is wrong
  kRunAgain,       // found by it in itself: the program ran again, and its results are right
  kStopped,        // the bus, an assertion of the RTL or the driver's limit ended the run
  kHung,           // nothing ended it
  kUnnoticed       // a sum is wrong, and the run was reported as verified
};
inline constexpr std::size_t kFaultOutcomes = 8;
/// "masked", "wrong_sums", ...
const char* name(FaultOutcome outcome);

/// What was seen of a try.
struct Evidence {
  bool hung = false;      // ended from outside
  std::string error;      // of device or driver; empty: none
  bool reported = false;  // the device reported it
  bool again = false;     // it found a fault of its own, and the program ran again
  bool verified = false;  // the run's own verdict
  bool right = false;     // what a comparison next to it says of every sum
};
FaultOutcome classify(const Evidence& evidence);

/// Is that where the fault shows first, in results of the array or of the lanes as `plan` has them?
/// Any place will do for one outside, and none where the failure did not come again.
bool is_place_of(const Fault& fault, const Finding& finding, const Plan& plan);

struct TriedFault {
  FaultTry fault_try;  // the fault's clock is now the device's, as --inject takes it
  FaultOutcome outcome = FaultOutcome::kMasked;
  std::string error;      // where it stopped
  std::string diagnosis;  // of wrong results
  bool misdiagnosed = false;
  std::uint64_t found_after = 0;  // cycles, where the device found it in itself
  std::string found_in;           // the memory that it named, empty where sums were wrong
  std::uint64_t found_word = 0;   // and the word
  // Of a device that checks itself: does the fault do anything to one that does not, in the same
  // cycles? There it ended otherwise than masked.
  bool matters = false;
};

/// What a device that checks itself found of those faults of a kind that matter.
struct SelfFound {
  std::uint64_t matter = 0;
  std::uint64_t again = 0;             // of them: found, and the program ran again
  std::uint64_t error = 0;             // of them: stopped with an error of another kind
  std::uint64_t median = 0, most = 0;  // cycles from a fault to the interrupt, of `again`
};

struct CampaignReport {
  std::uint32_t array = 0;
  std::uint32_t seed = 0;
  bool self_check = false;
  unsigned flips = 1;  // of a try
  FaultPrograms programs;
  std::vector<TriedFault> tries;  // by index
  unsigned jobs = 0;              // in parallel
  double seconds = 0;             // of wall time

  /// Of the tries with such a program and such a fault, where these are given: how many came to
  /// such an end, and how many were diagnosed elsewhere.
  std::uint64_t count(FaultPrograms program, std::optional<Fault::Kind> kind,
                      FaultOutcome outcome) const;
  std::uint64_t misdiagnosed(FaultPrograms program = {},
                             std::optional<Fault::Kind> kind = {}) const;
  std::uint64_t count(FaultOutcome outcome) const { return count({}, {}, outcome); }
  SelfFound self_found(FaultPrograms program, std::optional<Fault::Kind> kind) const;
  /// Did nothing hang, nothing go unnoticed, and did each diagnosis find the place?
  bool holds() const;
};

}  // namespace gemm64
