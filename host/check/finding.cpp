// SPDX-License-Identifier: Apache-2.0
#include "host/check/finding.hpp"

#include <fmt/format.h>

#include <array>

#include "host/device/registers.hpp"

namespace gemm64 {

std::vector<std::size_t> waits(const Finding& finding) {
  std::vector<std::size_t> counters;
  for (std::size_t i = counter::kTotalClocks + 1; i < kCounters.size(); ++i) {
    if ((finding.waits & event_bit(i)) != 0) counters.push_back(i);
  }
  return counters;
}

std::string to_string(const WindowPlace& place) {
  return fmt::format(
      "output pixel {},{},{} (image, row, column), plane {}, tap {},{}, which meets {} {},{}",
      place.image, place.out_row, place.out_column, place.plane, place.tap_row, place.tap_column,
      place.inside ? "the input pixel" : "the border at", place.row, place.column);
}

bool on_lanes(Finding::Place place) {
  return place == Finding::Place::kLaneLine || place == Finding::Place::kLaneValue ||
         place == Finding::Place::kLanes;
}

const char* name(Finding::Place place) {
  constexpr std::array kNames{"none",        "weight",      "activation", "partial_sum",
                              "accumulator", "requantized", "lane_line",  "lane_value",
                              "lanes",       "memory",      "absent",     "hang",
                              "stopped"};
  return kNames.at(static_cast<std::size_t>(place));
}

std::string place_in_words(const Finding& finding) {
  switch (finding.place) {
    case Finding::Place::kWeight:
      return fmt::format("the weight at row {}, column {} of the array", finding.row,
                         finding.column);
    case Finding::Place::kActivation:
      return fmt::format("the activation at row {}, column {} of the array", finding.row,
                         finding.column);
    case Finding::Place::kPartialSum:
      return fmt::format("the partial sum after stage {}, column {} of the array", finding.row,
                         finding.column);
    case Finding::Place::kAccumulator:
      return fmt::format("the accumulator's bank {}, row {}, column {}", finding.bank, finding.row,
                         finding.column);
    case Finding::Place::kRequantized:
      return "the 8-bit result; its sum was right, so its bias, its scale, or what came after";
    case Finding::Place::kLaneLine:
      return fmt::format("lane {}'s value at column {} of line memory {}", finding.column,
                         finding.row, finding.bank);
    case Finding::Place::kLaneValue:
      return fmt::format("lane {}'s value at row {}, column {} of the window", finding.column,
                         finding.bank, finding.row);
    case Finding::Place::kLanes:
      return "a weight or a sum of the depthwise lanes, or what came after; these are not "
             "followed";
    case Finding::Place::kAbsent:
      return fmt::format("until the program ended, in cycle {}, nothing computed or stored it",
                         finding.clock);
    case Finding::Place::kMemory:
      return "the results in memory; every value on the chip was right";
    default:
      return name(finding.place);
  }
}

}  // namespace gemm64
