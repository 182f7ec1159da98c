// SPDX-License-Identifier: Apache-2.0
#include "host/device/depthwise.hpp"

#include <algorithm>

namespace gemm64 {
namespace {

struct Steps {
  std::int64_t row, image, lead;
};

Steps steps_of(const DepthwiseCommand& c) {
  const auto wide = [](std::uint32_t value) { return static_cast<std::int64_t>(value); };
  const std::int64_t across = (wide(c.out_width) - 1) * c.stride_width;
  const std::int64_t down = (wide(c.out_height) - 1) * c.stride_height;
  const std::int64_t below = wide(last_tap(c)) * c.dilation_height - c.pad_top;
  const std::int64_t right = wide(last_tap(c)) * c.dilation_width - c.pad_left;
  return {wide(c.stride_height) * c.width - across,
          static_cast<std::int64_t>(image_words(c)) - down * c.width - across,
          below * c.width + right};
}

struct Output {
  std::uint32_t y, x;
};

/// Adds the products of a window to a lane's sum, or takes the largest value.
void add_window(const DepthwiseCommand& command, Output output, std::uint32_t n, std::uint32_t lane,
                const std::vector<std::uint8_t>& image, const std::vector<std::uint8_t>& weights,
                std::int64_t& sum) {
  const auto value = [](std::uint8_t byte) { return std::int64_t{static_cast<std::int8_t>(byte)}; };
  const int size = static_cast<int>(command.kernel_height);
  for (int tap = 0; tap < size * size; ++tap) {
    const std::int64_t row = std::int64_t{output.y} * command.stride_height +
                             std::int64_t{tap / size} * command.dilation_height - command.pad_top;
    const std::int64_t column = std::int64_t{output.x} * command.stride_width +
                                std::int64_t{tap % size} * command.dilation_width -
                                command.pad_left;
    const bool inside = row >= 0 && row < command.height && column >= 0 && column < command.width;
    const auto pixel = static_cast<std::size_t>(row * command.width + column);
    const std::int64_t met =
        value(inside ? image[pixel * n + lane] : static_cast<std::uint8_t>(command.zero));
    const std::int64_t weight = value(weights[static_cast<std::size_t>(tap) * n + lane]);
    if ((command.flags & flag::kMaximum) == 0) {
      sum += met * weight;
    } else if (weight % 2 != 0) {
      sum = std::max(sum, met);
    }
  }
}

/// A sum as a lane holds it, its sign in all bits above.
std::uint32_t low_bits(std::int64_t sum) {
  constexpr std::int64_t kRange = std::int64_t{1} << kLaneSumBits;
  const std::int64_t low = ((sum % kRange) + kRange) % kRange;
  return static_cast<std::uint32_t>(low >= kRange / 2 ? low - kRange : low);
}

}  // namespace

void set_steps(DepthwiseCommand& command) {
  const Steps steps = steps_of(command);
  command.row_step = static_cast<std::uint32_t>(steps.row);
  command.image_step = static_cast<std::uint32_t>(steps.image);
  command.lead = static_cast<std::uint32_t>(steps.lead);
}

std::uint64_t depthwise_cycles(const DepthwiseCommand& c) {
  const std::uint64_t images = std::uint64_t{c.count} * c.passes;
  const std::uint64_t words = images * image_words(c);
  const std::uint64_t needed = words - c.image_step + c.lead + 1;  // by the last window
  // A window's last part and the word after it share a cycle.
  std::uint64_t shared = words > needed ? 1 : 0;
  if (c.stride_width != 0) shared += images * c.out_height * (c.out_width - 1);
  if (c.row_step != 0) shared += images * (c.out_height - 1);
  if (c.image_step != 0) shared += images - 1;
  return std::max(words, needed) + images * image_windows(c) * parts_of(c) - shared;
}

std::vector<std::uint32_t> depthwise_sums(const DepthwiseCommand& command, std::uint32_t n,
                                          const std::vector<std::uint8_t>& image,
                                          const std::vector<std::uint8_t>& weights) {
  const bool maximum = (command.flags & flag::kMaximum) != 0;
  const bool accumulate = (command.flags & flag::kAccumulate) != 0;
  std::vector<std::uint32_t> rows(image_rows(command) * n);
  std::size_t at = 0;
  std::vector<std::int64_t> sums(n);
  for (std::uint32_t y = 0; y < command.out_height; ++y) {
    for (std::uint32_t x = 0; x < command.out_width; ++x) {
      if (!accumulate || (y == 0 && x == 0)) sums.assign(n, maximum ? -128 : 0);
      for (std::uint32_t lane = 0; lane < n; ++lane) {
        add_window(command, {y, x}, n, lane, image, weights, sums[lane]);
      }
      const bool last = y + 1 == command.out_height && x + 1 == command.out_width;
      if (accumulate && !last) continue;
      for (const std::int64_t sum : sums) rows[at++] = low_bits(sum);
    }
  }
  return rows;
}

DepthwiseWalk::DepthwiseWalk(const DepthwiseCommand& command)
    : command_(command),
      all_words_(image_words(command) * command.passes * command.count),
      plane_windows_(image_windows(command) * command.passes),
      need_(std::uint64_t{command.lead} + 1),
      parts_(parts_of(command)) {}

bool DepthwiseWalk::ends_row() const {
  return ends_window() && (window_ + 1) % (image_windows(command_) / image_rows(command_)) == 0;
}

std::uint64_t DepthwiseWalk::step() const {
  if ((window_ + 1) % image_windows(command_) == 0) return command_.image_step;
  return (window_ + 1) % command_.out_width == 0 ? command_.row_step : command_.stride_width;
}

bool DepthwiseWalk::shifts() const {
  if (!windows_left()) return words_ != all_words_;
  if (need_ != 0) return true;
  if (!ends_window()) return false;
  return last_window() ? words_ != all_words_ : step() != 0;
}

void DepthwiseWalk::next() {
  const bool shift = shifts(), end = ends_window(), plane = ends_plane();
  const bool sum = sums();
  if (takes()) ++words_;
  if (end) need_ = step();
  if (shift && need_ != 0) --need_;
  if (sum) part_ = end ? 0 : part_ + 1;
  if (end) window_ = plane ? 0 : window_ + 1;
  if (plane) ++plane_;
}

}  // namespace gemm64
