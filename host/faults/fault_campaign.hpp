// SPDX-License-Identifier: Apache-2.0
// Carries out a campaign of faults: each try on a device of its own, several in parallel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "host/device/debug_device.hpp"
#include "host/device/registry.hpp"
#include "host/faults/campaign.hpp"
#include "host/runtime/run_report.hpp"

namespace gemm64 {

/// Builds a device for a try. Called by several threads.
using MakeTryDevice = std::function<std::unique_ptr<DebugDevice>(const DeviceOptions&)>;

/// The check that is put to the test; by default that of every run, RunReport::verified().
using Check = std::function<bool(const RunReport&)>;
bool run_check(const RunReport& report);

/// The watchdog ends a run within thousands of cycles, the driver within some two million.
inline constexpr std::uint64_t kMaxCycles = 4'000'000;

/// Runs the program of `drawn` with its fault on a new device, a product in the very cycles in
/// which `gemm64 gemm` runs it, and judges the run by `check`, and by results of its own next to
/// it. Wrong results are looked at again, and the diagnosis compared with the fault. What nothing
/// ends within max_cycles hung.
TriedFault carry_out(const FaultTry& drawn, const MakeTryDevice& make,
                     const Check& check = run_check, std::uint64_t max_cycles = kMaxCycles);

struct CampaignOptions {
  std::uint32_t array = 8;
  bool self_check = false;  // on devices that find faults of their own
  unsigned flips = 1;       // of bits in a try, 1 or 2
  FaultPrograms programs;
  std::uint64_t first = 0;  // index of the first try
  std::uint64_t count = 1000;
  std::uint32_t seed = 1;
  unsigned jobs = 1;
};

/// Called after each try with the result so far; one call at a time.
using CampaignProgress = std::function<void(const CampaignReport& so_far)>;

/// Tries `count` faults. What comes out depends on all but jobs only. Throws what `make`
/// throws.
CampaignReport run_campaign(const CampaignOptions& options, const MakeTryDevice& make,
                            const CampaignProgress& progress = nullptr);

}  // namespace gemm64
