// SPDX-License-Identifier: Apache-2.0
// A campaign of faults in the programs of a whole network: what is drawn for each try, and what
// became of it. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/device/fault.hpp"
#include "host/device/geometry.hpp"

namespace gemm64 {

/// The structures that such a fault can hit, in the order of their turns: all in which a bit can
/// flip, and no handshake that is lost.
const std::vector<Fault::Kind>& network_fault_kinds();

/// The cycles of a program in which the driver waits for it, counted from the reset before it.
struct ProgramWindow {
  std::uint64_t begin = 0, end = 0;
};

/// One flipped bit in one of a network's programs.
struct NetworkTry {
  std::uint64_t index = 0;  // of the campaign
  std::size_t program = 0;
  Fault fault;  // its clock counts from the reset before the program
};

/// Draws a try. Structures come by turns; each bit of one and each cycle of all programs is as
/// likely as the others.
NetworkTry draw_network_try(std::uint32_t seed, std::uint64_t index, const Geometry& geometry,
                            const std::vector<ProgramWindow>& programs);

enum class NetworkOutcome {
  kMasked,    // all outputs are the same
  kDetected,  // the device reported an error, or found the fault in itself and ran again
  kStopped,   // a rule of AXI, an assertion of the RTL or the driver's limit ended the run
  kSilent     // an output differs, and nothing reported it
};
inline constexpr std::size_t kNetworkOutcomes = 4;
/// "masked", "detected", "stopped", "silent".
const char* name(NetworkOutcome outcome);

struct TriedNetworkFault {
  NetworkTry drawn;
  NetworkOutcome outcome = NetworkOutcome::kMasked;
  bool top1_changed = false;  // of any image
  std::string error;
  std::uint64_t outputs = 0;  // a digest of all bytes of all outputs
  std::uint64_t results = 0;  // the same of what the host read after the program that was hit
  std::uint64_t cycles = 0;   // that the RTL simulated for this try
};

/// A try that ended otherwise when all of the network ran on the RTL.
struct RepeatedOtherwise {
  std::size_t at = 0;  // of the tries
  TriedNetworkFault whole;
};

/// A probability, 0 to 1.
struct Interval {
  double low = 0, high = 1;
};

/// Returns Wilson's score interval of 95 % for `hits` of `tries`.
Interval wilson_interval(std::uint64_t hits, std::uint64_t tries);

struct NetworkCampaignReport {
  std::string model;
  std::uint32_t array = 0;
  std::uint32_t seed = 0;
  bool self_check = false;
  std::vector<ProgramWindow> programs;
  std::vector<TriedNetworkFault> tries;  // by index
  std::size_t repeated = 0;              // of them, wholly on the RTL
  std::vector<RepeatedOtherwise> otherwise;
  unsigned jobs = 0;
  double seconds = 0;  // of wall time, repeated tries left out
  double processor_seconds = 0;
  double repeat_seconds = 0;  // of these

  using Kind = std::optional<Fault::Kind>;
  std::uint64_t count(Kind kind) const;
  std::uint64_t count(Kind kind, NetworkOutcome outcome) const;
  std::uint64_t top1_changed(Kind kind) const;
  std::uint64_t cycles() const;  // of all programs
  /// Did each repeated try end in the same way?
  bool holds() const { return otherwise.empty(); }
};

}  // namespace gemm64
