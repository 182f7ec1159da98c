// SPDX-License-Identifier: Apache-2.0
// What a DRAM channel did for a run or a prediction, as text and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "host/device/counters.hpp"
#include "host/device/dram_timing.hpp"

namespace gemm64 {

/// What a channel carried in the cycles of some programs.
struct DramUse {
  /// `counters`: of the same programs.
  DramUse(const DramTiming& timing, const DramCounts& counts, const Counters& counters);

  DramCounts counts;
  std::uint64_t bytes = 0;          // of whole bursts
  double bytes_per_cycle = 0;       // reached
  double peak_bytes_per_cycle = 0;  // of the pins
  double waiting = 0;               // share of the cycles in which the array waits for memory:
                                    // for words, or for a bank whose results have not left
  double share_of_peak() const { return bytes_per_cycle / peak_bytes_per_cycle; }
};

/// One line, with its end.
std::string to_text(const DramUse& use);
nlohmann::ordered_json to_json(const DramUse& use);

}  // namespace gemm64
