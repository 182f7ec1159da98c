// SPDX-License-Identifier: Apache-2.0
// The same work on several devices, and where they disagree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/check/cosim_work.hpp"
#include "host/device/counters.hpp"
#include "host/device/device.hpp"

namespace gemm64 {

/// What a side has done.
struct CosimOutcome {
  std::string side;
  /// Sides of one family ("rtl", "tlm") count the same cycles, predicted or not; those of no family
  /// count none.
  std::string family;
  std::string failure;  // why it could not do the work; empty: it has
  std::vector<std::uint8_t> memory;
  std::vector<std::string> interrupts;                           // causes, in their order
  std::vector<std::pair<std::string, std::uint32_t>> registers;  // STATUS, ERROR, ...
  std::optional<Counters> counters;
  std::vector<Counters> snapshots;      // taken out of the memory, which is zero there
  std::optional<std::uint64_t> cycles;  // in which the accelerator worked
};

/// Takes the snapshots of FENCEs out of the memory of a side that has done the work.
void take_snapshots(const CosimWork& work, CosimOutcome& outcome);

/// Carries the work out on a device, by the driver in C. What the device throws becomes `failure`.
CosimOutcome run_cosim(Device& device, const CosimWork& work, std::string side, std::string family);

/// How a side compares with those before it.
struct CosimVerdict {
  std::string side;
  std::optional<std::uint64_t> cycles;
  /// Of each: empty where it agrees, or there is nothing to compare; else in words what differs.
  std::string failure, memory, interrupts, registers, counters;
  bool agrees() const {
    return failure.empty() && memory.empty() && interrupts.empty() && registers.empty() &&
           counters.empty();
  }
};

/// Compares each side with the first one: memory byte for byte, the order of interrupts, registers
/// where both tell of them; counters with the first of its family, or, where they are predicted
/// exactly, with the first that has any; of sides without cycles, those of bytes; none where the
/// work was disturbed at a cycle, failed, or waited for random stalls; snapshots of FENCEs
/// likewise.
class Cosim {
 public:
  explicit Cosim(const CosimWork& work)
      : exact_(work.exact),
        repeatable_(work.disturbance == CosimWork::Disturbance::kNone && !work.random_stalls) {}

  const CosimVerdict& add(CosimOutcome outcome);
  const std::vector<CosimVerdict>& verdicts() const { return verdicts_; }
  bool agree() const;

 private:
  const bool exact_;
  const bool repeatable_;
  std::vector<CosimOutcome> outcomes_;  // the memory of the first only
  std::vector<CosimVerdict> verdicts_;
};

}  // namespace gemm64
