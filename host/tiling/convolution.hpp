// SPDX-License-Identifier: Apache-2.0
// A convolution as a network says it, and how its channels and groups share tiles of the array.
#pragma once

#include <cstdint>
#include <string>

#include "host/tiling/window_plan.hpp"

namespace gemm64 {

/// A convolution as ONNX's Conv says it, over tensors of 8 bits. A 1-D one has height 1; a Linear
/// layer after a Flatten has a kernel as large as the map.
struct Convolution {
  std::uint32_t images = 1, channels = 1, out_channels = 1, groups = 1;
  std::uint32_t height = 1, width = 1, out_height = 1, out_width = 1;
  std::uint32_t kernel_height = 1, kernel_width = 1, stride_height = 1, stride_width = 1;
  std::uint32_t dilation_height = 1, dilation_width = 1;
  std::uint32_t pad_top = 0, pad_left = 0;  // below and to the right as far as the output reaches
  std::int8_t zero = 0;                     // beyond the border: the input's zero point as int8

  std::uint64_t pixels() const { return std::uint64_t{images} * height * width; }
  std::uint64_t out_pixels() const { return std::uint64_t{images} * out_height * out_width; }
  std::uint32_t taps() const { return kernel_height * kernel_width; }
  std::uint32_t group_channels() const { return channels / groups; }
  std::uint32_t group_out_channels() const { return out_channels / groups; }
};

/// "3x3 convolution of 1x64x56x56 to 1x64x56x56", with what else it has.
std::string to_string(const Convolution& convolution);

/// The same over planes of `n` channels. The groups that share tiles make whole planes on both
/// sides, or all of them do; a plain convolution is one group. Throws UsageError if a size is
/// zero or the channels are no multiple of the groups.
Window window_of(const Convolution& convolution, std::uint32_t n);

}  // namespace gemm64
