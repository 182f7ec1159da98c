// SPDX-License-Identifier: Apache-2.0
// Carries out a campaign of faults in a whole network.
//
// Only the program that is hit runs on the RTL: every program begins from a reset and takes all its
// operands from the host, so that a fast device can run those before and after it. One process runs
// that program without a fault, and at the clock of each fault a copy of the process (fork) goes on
// with it: cycles before a fault are simulated once for all faults of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/device/debug_device.hpp"
#include "host/driver/driver.hpp"
#include "host/faults/network_campaign.hpp"

namespace gemm64 {

/// What a run of a network gave.
struct OutputDigest {
  std::uint64_t digest = 0;        // of all bytes of all outputs
  std::vector<std::int64_t> best;  // of the first output, the index of each image's largest value
  std::string error;               // that ended it on the device; empty: none
};

/// Returns a digest of bytes, which goes on from another one.
std::uint64_t digest_of(const void* data, std::size_t bytes, std::uint64_t from = 0);

/// Runs the network on a device. Requires that it resets the device before each program and starts
/// no thread that outlives the call. Called in several processes.
using RunNetwork = std::function<OutputDigest(Device&, const Timeouts&)>;

struct NetworkCampaignOptions {
  std::string model;  // for messages
  std::uint32_t array = 8;
  std::uint32_t seed = 1;
  std::uint32_t latency = 100;  // of the memory, in cycles
  bool self_check = false;
  std::uint64_t first = 0;  // index of the first try
  std::uint64_t count = 1000;
  std::uint64_t repeat = 0;  // tries to repeat wholly on the RTL
  unsigned jobs = 1;         // processes
};

struct NetworkCampaignDevices {
  std::function<std::unique_ptr<DebugDevice>()> rtl;
  std::function<std::unique_ptr<Device>()> fast;  // with the same results, and predicted cycles
};

/// Notified of the tries that have ended; one call at a time.
using NetworkCampaignProgress = std::function<void(std::uint64_t ended, std::uint64_t of)>;

/// Tries `count` faults and repeats a sample of them. The report depends on all options but jobs,
/// times left out. Throws UsageError where the network runs no program on the device, and
/// DeviceError where it fails without a fault.
NetworkCampaignReport run_network_campaign(const NetworkCampaignOptions& options,
                                           const NetworkCampaignDevices& devices,
                                           const RunNetwork& run,
                                           const NetworkCampaignProgress& progress = nullptr);

}  // namespace gemm64
