// SPDX-License-Identifier: Apache-2.0
// What the diagnosis of a failed product found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/device/debug_device.hpp"
#include "host/tiling/tile_walk.hpp"

namespace gemm64 {

/// What a tap of a convolution meets at an output pixel.
struct WindowPlace {
  std::uint64_t image = 0, out_row = 0, out_column = 0;  // the output pixel
  std::uint64_t plane = 0;                               // of N channels of the input
  std::uint64_t tap_row = 0, tap_column = 0;
  std::int64_t row = 0, column = 0;  // of the input
  bool inside = false;               // else they lie beyond the border
};

/// "output pixel 0,3,4 (image, row, column), plane 1, tap 2,0, which meets the input pixel 4,3".
std::string to_string(const WindowPlace& place);

/// Where and when a value was wrong for the first time, or the work stood still.
struct Finding {
  enum class Place {
    kNone,         // the failure did not come again
    kWeight,       // a weight in the array
    kActivation,   // an activation in the array
    kPartialSum,   // a sum after a stage of the array whose operands were right
    kAccumulator,  // a sum in the accumulator that all that was added was right for
    kRequantized,  // a result of 8 bits whose sum was right: its bias, its scale, or its way on
    kLaneLine,     // a value in a line memory of the depthwise lanes
    kLaneValue,    // a value in their window
    kLanes,        // a result of theirs; their weights and sums are not traced
    kMemory,       // the results in memory: all was right on the chip
    kAbsent,       // none: nothing computed the element, or stored it
    kStandstill,   // nothing moved any more
    kStopped       // an error in the middle of the work
  };

  Place place = Place::kNone;
  TileIndex tile;                  // in progress
  std::uint64_t tile_begin = 0;    // clock in which its first row was read
  std::uint64_t tile_end = 0;      // clock after its last sum's
  std::uint64_t before_begin = 0;  // clock in which the tile before it began
  std::uint64_t clock = 0;  // in which the tile's sum of the element left the array, or in which
                            // something moved for the last time
  std::uint64_t wrong_clock = 0;  // in which the wrong value was there for the first time
  unsigned bank = 0;              // of the accumulator; a line memory, or a row of the window
  std::uint64_t row = 0;          // of the array, its stage, or of the accumulator; on the lanes a
                                  // column of their line or window
  std::uint64_t column = 0;       // of the array, or a lane
  std::int64_t expected = 0;      // at that place
  std::int64_t found = 0;
  std::optional<WindowPlace> window;     // of a convolution: what the tile multiplied
  std::optional<std::uint64_t> channel;  // of its input, where an operand was wrong
  Events waits = 0;  // at a hang: the causes that count, bits of Probe::events()
};

/// The counters (gemm64::counter) of what each engine waits for at a hang.
std::vector<std::size_t> waits(const Finding& finding);

/// Is the value on the depthwise lanes?
bool on_lanes(Finding::Place place);

/// "weight", "partial_sum", ...
const char* name(Finding::Place place);

/// The place in words: "the weight at row 3, column 17 of the array".
std::string place_in_words(const Finding& finding);

}  // namespace gemm64
