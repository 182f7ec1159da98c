// SPDX-License-Identifier: Apache-2.0
// What DEPTHWISE does: its sums by definition, and the order in which the lanes go over the words.
#pragma once

#include <cstdint>
#include <vector>

#include "host/device/command_types.hpp"

namespace gemm64 {

/// The products that a lane makes in a cycle.
inline constexpr std::uint32_t kLaneTaps = 9;
/// Rows and columns of the window that a lane sees, the largest kernel's.
inline constexpr std::uint32_t kLaneWindow = 7;
/// The memories that keep the rows above the last one, and the words of each: of the longest row,
/// or of the rows from a tap to the next.
inline constexpr std::uint32_t kLaneLines = kLaneWindow - 1;
inline constexpr std::uint32_t kLaneLineWords = 128;
/// Bits of its sums, with their sign.
inline constexpr std::uint32_t kLaneSumBits = 22;

/// The most columns from a tap to the next for which a window of 7 x 7 words has space.
constexpr std::uint32_t most_column_dilation(std::uint32_t kernel) {
  return kernel == 3 ? 6 : kernel == 5 ? 2 : 1;
}

/// Steps and lead that its other fields ask for, where they are not negative.
void set_steps(DepthwiseCommand& command);

/// Taps from the first one of a row, or a column, to the last one.
constexpr std::uint32_t last_tap(const DepthwiseCommand& command) {
  return command.kernel_height - 1;
}
/// Words of weights of a plane.
constexpr std::uint32_t weight_words(const DepthwiseCommand& command) {
  return command.kernel_height * command.kernel_height;
}
/// Words of an image of a plane.
constexpr std::uint64_t image_words(const DepthwiseCommand& command) {
  return std::uint64_t{command.height} * command.width;
}
/// Windows of an image of a plane, and the rows of sums that they give.
constexpr std::uint64_t image_windows(const DepthwiseCommand& command) {
  return std::uint64_t{command.out_height} * command.out_width;
}
constexpr std::uint64_t image_rows(const DepthwiseCommand& command) {
  return (command.flags & flag::kAccumulate) != 0 ? 1 : image_windows(command);
}
/// Parts of a window, each of a cycle.
constexpr std::uint32_t parts_of(const DepthwiseCommand& command) {
  return (weight_words(command) + kLaneTaps - 1) / kLaneTaps;
}

/// Cycles in which the lanes do something: all that it takes, where nothing waits, but what comes
/// before the first and after the last.
std::uint64_t depthwise_cycles(const DepthwiseCommand& command);

/// The rows of sums of an image, from its words of `n` bytes and its plane's weights. A sum keeps
/// its low kLaneSumBits bits.
std::vector<std::uint32_t> depthwise_sums(const DepthwiseCommand& command, std::uint32_t n,
                                          const std::vector<std::uint8_t>& image,
                                          const std::vector<std::uint8_t>& weights);

/// The cycles of a command, one after the other.
class DepthwiseWalk {
 public:
  explicit DepthwiseWalk(const DepthwiseCommand& command);

  bool done() const { return !windows_left() && words_ == all_words_; }
  /// Does the clock make a part of a window?
  bool sums() const { return windows_left() && need_ == 0; }
  /// Does it give a row of sums, and the last one of its plane?
  bool ends_row() const;
  bool ends_plane() const { return ends_window() && window_ + 1 == plane_windows_; }
  /// Does it take a word?
  bool takes() const { return shifts() && words_ != all_words_; }
  /// Words taken before, and the plane of the window.
  std::uint64_t words() const { return words_; }
  std::uint32_t plane() const { return plane_; }
  void next();

 private:
  bool windows_left() const { return plane_ != command_.count; }
  bool ends_window() const { return sums() && part_ + 1 == parts_; }
  bool last_window() const { return ends_plane() && plane_ + 1 == command_.count; }
  /// Words from the window to the next one.
  std::uint64_t step() const;
  bool shifts() const;

  DepthwiseCommand command_;
  std::uint64_t all_words_, plane_windows_, need_, words_ = 0, window_ = 0;
  std::uint32_t parts_, part_ = 0, plane_ = 0;
};

}  // namespace gemm64
