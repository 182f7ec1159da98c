// SPDX-License-Identifier: Apache-2.0
// A campaign of faults in a whole network, for people and programs.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "host/faults/network_campaign.hpp"

namespace gemm64 {

/// A row for each structure, a column for each outcome with its interval of 95 %; then time and the
/// verdict on the tries that were repeated. `width` as of Table::render().
std::string network_campaign_table(const NetworkCampaignReport& report, std::size_t width = 0);

/// Counts, shares and intervals by structure, and each try with its fault and its outcome.
nlohmann::ordered_json to_json(const NetworkCampaignReport& report);

}  // namespace gemm64
