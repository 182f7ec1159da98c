// SPDX-License-Identifier: Apache-2.0
// `faults --model`: a campaign of faults in a whole network.
#pragma once

#include <cstdint>

#include "host/cli/network_source.hpp"
#include "host/faults/network_campaign.hpp"

namespace gemm64 {

struct NetworkFaultsOptions {
  NetworkOptions network;  // `model`: a file, or empty for `network.network`
  std::uint64_t first = 0;
  std::uint64_t count = 1000;
  std::uint64_t repeat = 0;  // tries, wholly on the RTL
  unsigned jobs = 1;
};

/// Opens the network and carries out the campaign. Throws as open_network() and
/// run_network_campaign() do.
NetworkCampaignReport network_faults(const NetworkFaultsOptions& options);

}  // namespace gemm64
