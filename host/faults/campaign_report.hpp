// SPDX-License-Identifier: Apache-2.0
// A campaign of faults, for people and programs.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "host/faults/campaign.hpp"

namespace gemm64 {

/// A row a kind of program and of fault, a column an outcome; then time, and the verdict with the
/// commands of what must not be. Of a single try all is printed. `width` as of Table::render().
std::string campaign_table(const CampaignReport& report, std::size_t width = 0);

/// "812 masked, 90 found by the host, 90 by the device, 8 stopped elsewhere, 0 hung, 0 unnoticed".
std::string campaign_line(const CampaignReport& report);

/// Counts by program, kind and outcome, and every try with its outcome and the command that repeats
/// it.
nlohmann::ordered_json to_json(const CampaignReport& report);

}  // namespace gemm64
