// SPDX-License-Identifier: Apache-2.0
// Parts of known networks as programs, and what each takes beyond its tiles.
#pragma once

#include "host/tiling/convolution.hpp"
#include "tests/test.hpp"

namespace gemm64 {

/// Results of 8 bits, all of int8.
inline constexpr Output kInt8{ResultFormat(ResultCode::kInt8), 0, -128, 127};

/// Of as many rows as columns, padded to keep its size where the stride is 1.
inline Convolution square(std::uint32_t channels, std::uint32_t size, std::uint32_t out_channels,
                          std::uint32_t kernel = 1, std::uint32_t stride = 1,
                          std::uint32_t groups = 1) {
  Convolution c;
  c.channels = channels;
  c.out_channels = out_channels;
  c.groups = groups;
  c.height = c.width = size;
  c.kernel_height = c.kernel_width = kernel;
  c.stride_height = c.stride_width = stride;
  c.pad_top = c.pad_left = (kernel - 1) / 2;
  c.out_height = c.out_width = (size + 2 * c.pad_top - kernel) / stride + 1;
  return c;
}

struct KnownLayer {
  Convolution convolution;
  std::optional<std::size_t> source;
};

struct KnownProgram {
  const char* name;
  bool small;  // enough for the RTL
  /// Cycles beyond those of the tiles only, N = 64, a memory of latency 100. A program starts and
  /// ends once, a block takes a cycle, and where a layer ends and the next begins the array hardly
  /// waits.
  std::uint64_t overhead;
  std::vector<KnownLayer> layers;
};

inline const std::vector<KnownProgram> kKnownPrograms{
    {"ResNet-50 at 56x56",  // 75 blocks
     false,
     1174,
     {{square(256, 56, 64), {}}, {square(64, 56, 64, 3), 0}, {square(64, 56, 256), 1}}},
    {"ResNet-50 at 14x14",
     true,
     745,
     {{square(1024, 14, 256), {}}, {square(256, 14, 256, 3), 0}, {square(256, 14, 1024), 1}}},
    {"ResNet-50 at 7x7",
     false,
     607,
     {{square(2048, 7, 512), {}}, {square(512, 7, 512, 3), 0}, {square(512, 7, 2048), 1}}},
    {"MobileNetV2",
     true,
     728,
     {{square(64, 14, 384), {}}, {square(384, 14, 384, 3, 1, 384), 0}, {square(384, 14, 64), 1}}},
    {"AlexNet",
     false,
     732,
     {{square(192, 13, 384, 3), {}}, {square(384, 13, 256, 3), 0}, {square(256, 13, 256, 3), 1}}},
    {"GoogLeNet, whose branches share a start",
     true,
     519,
     {{square(832, 7, 192), {}},
      {square(832, 7, 48), {}},
      {square(832, 7, 384), {}},
      {square(832, 7, 128), {}},
      {square(192, 7, 384, 3), 0},
      {square(48, 7, 128, 5), 1}}},
    {"one plane between blocks that need most of it: no overlap",
     true,
     1249,
     {{square(256, 14, 64), {}}, {square(64, 14, 64, 3), 0}, {square(64, 14, 256), 1}}},
    {"a projection parallel to a block",
     true,
     959,
     {{square(256, 14, 128), {}},
      {square(256, 14, 512, 1, 2), {}},
      {square(128, 14, 128, 3, 2), 0},
      {square(128, 7, 512), 2}}}};

}  // namespace gemm64
