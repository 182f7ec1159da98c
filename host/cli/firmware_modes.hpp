// SPDX-License-Identifier: Apache-2.0
// Runs of firmware on the platform, and their report.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/cli/firmware_timeline.hpp"
#include "host/cli/network_source.hpp"
#include "sim/integrations/systemc/cosim_sides.hpp"

namespace gemm64 {

struct FirmwareCommand : NetworkOptions {
  std::string elf;
  std::uint64_t max_instructions = 10'000'000'000;
};

/// Work for the firmware, and how it is given to the accelerator.
struct FirmwareMode {
  const char* name;
  bool one_at_a_time;
  const CosimWork& work;
  const CosimOutcome& expected;  // of it
  const std::vector<FirmwareJob>& jobs;
};

struct ModeReport {
  const char* mode;
  FirmwareReport report;
  std::uint64_t busy = 0;  // cycles; 0 where a job failed
  CosimVerdict verdict;    // on memory and counters
  double seconds = 0;

  /// Are all jobs done, and is all as expected?
  bool held() const { return report.exit_code == 0 && verdict.agrees(); }

  /// Part of the time between the first doorbell and the end of the work in which the array had
  /// nothing to do.
  double waiting() const;
};

/// Boots the firmware. `observe` shows an RTL to a timeline; empty: there is none. Throws
/// DeviceError, once what was printed is shown, where the processor did not come to an end.
ModeReport run_mode(const FirmwareCommand& options, const Elf& elf, const FirmwareMode& how,
                    const std::function<void(Platform&)>& observe = nullptr);

/// What was printed, a table of figures, and what is not as expected; `names`: of the jobs.
std::string text_of(const std::vector<ModeReport>& modes, const std::vector<Job>& names);
nlohmann::ordered_json json_of(const std::vector<ModeReport>& modes);

}  // namespace gemm64
