// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/convolution.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "host/util/divide.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

void check(const Convolution& c) {
  for (const auto& [name, size] : {std::pair{"images", c.images},
                                   {"channels", c.channels},
                                   {"output channels", c.out_channels},
                                   {"groups", c.groups}}) {
    if (size == 0) {
      throw UsageError(fmt::format("a convolution has 0 {}; it takes at least 1", name));
    }
  }
  if (c.channels % c.groups != 0 || c.out_channels % c.groups != 0) {
    throw UsageError(
        fmt::format("a convolution of {} to {} channels has {} groups, which must divide both",
                    c.channels, c.out_channels, c.groups));
  }
}

/// The least number of groups whose channels, `of_group` each, are whole planes.
std::uint64_t groups_to_fill(std::uint32_t of_group, std::uint32_t n) {
  return n / std::gcd(of_group, n);
}

}  // namespace

std::string to_string(const Convolution& c) {
  std::string text = fmt::format("{}x{} convolution of {}x{}x{}x{} to {}x{}x{}x{}", c.kernel_height,
                                 c.kernel_width, c.images, c.channels, c.height, c.width, c.images,
                                 c.out_channels, c.out_height, c.out_width);
  const auto add = [&text](const char* what, std::uint32_t a, std::uint32_t b,
                           std::uint32_t usual) {
    if (a != usual || b != usual) text += fmt::format(", {} {}x{}", what, a, b);
  };
  add("stride", c.stride_height, c.stride_width, 1);
  add("dilation", c.dilation_height, c.dilation_width, 1);
  add("padding", c.pad_top, c.pad_left, 0);
  if (c.groups != 1) text += fmt::format(", {} groups", c.groups);
  return text;
}

Window window_of(const Convolution& c, std::uint32_t n) {
  check(c);
  Window w;
  w.images = c.images;
  w.height = c.height;
  w.width = c.width;
  w.out_height = c.out_height;
  w.out_width = c.out_width;
  w.kernel_height = c.kernel_height;
  w.kernel_width = c.kernel_width;
  w.stride_height = c.stride_height;
  w.stride_width = c.stride_width;
  w.dilation_height = c.dilation_height;
  w.dilation_width = c.dilation_width;
  w.pad_top = c.pad_top;
  w.pad_left = c.pad_left;
  w.planes = w.group_planes = static_cast<std::uint32_t>(divide_up(c.channels, n));
  w.group_passes = static_cast<std::uint32_t>(divide_up(c.out_channels, n));
  const std::uint64_t together =
      std::lcm(groups_to_fill(c.group_channels(), n), groups_to_fill(c.group_out_channels(), n));
  if (together >= c.groups) return w;
  const auto planes = static_cast<std::uint32_t>(together * c.group_channels() / n);
  if (w.planes % planes != 0) return w;  // the last groups would have planes that do not exist
  const std::uint32_t passes = w.group_passes;
  w.group_planes = planes;
  w.group_passes = static_cast<std::uint32_t>(together * c.group_out_channels() / n);
  w.missing_passes = w.planes / planes * w.group_passes - passes;
  return w;
}

}  // namespace gemm64
