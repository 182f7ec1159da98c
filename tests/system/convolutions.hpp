// SPDX-License-Identifier: Apache-2.0
// Random convolutions and what they must give, by plain loops over the definition.
#pragma once

#include "host/numerics/matrix.hpp"
#include "host/tiling/convolution.hpp"
#include "host/tiling/plan.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {

/// One output value's sum. `input` has a row for each pixel.
inline std::int32_t convolution_sum(const Convolution& c, const MatrixI8& input,
                                    const MatrixI8& weights, std::uint64_t image, std::int64_t y,
                                    std::int64_t x, std::uint32_t out) {
  const std::uint32_t taps = c.taps(), channels = c.group_channels();
  const std::int8_t* const tile = weights.data() + std::uint64_t{out} * channels * taps;
  std::int64_t sum = 0;
  for (std::uint32_t i = 0; i < c.kernel_height; ++i) {
    for (std::uint32_t j = 0; j < c.kernel_width; ++j) {
      const std::int64_t row = y * c.stride_height - c.pad_top + i * c.dilation_height;
      const std::int64_t column = x * c.stride_width - c.pad_left + j * c.dilation_width;
      const bool inside = row >= 0 && row < c.height && column >= 0 && column < c.width;
      const std::int64_t pixel =
          (static_cast<std::int64_t>(image) * c.height + row) * c.width + column;
      const std::int8_t* const from = input.data() + (inside ? pixel : 0) * c.channels +
                                      out / c.group_out_channels() * channels;
      const std::int8_t* weight = tile + i * c.kernel_width + j;
      for (std::uint32_t channel = 0; channel < channels; ++channel, weight += taps) {
        sum += *weight * (inside ? from[channel] : c.zero);
      }
    }
  }
  return static_cast<std::int32_t>(sum);
}

/// The largest value of a window.
inline std::int32_t window_maximum(const Convolution& c, const MatrixI8& input, std::uint64_t image,
                                   std::int64_t y, std::int64_t x, std::uint32_t channel) {
  std::int32_t most = c.zero;
  for (std::uint32_t i = 0; i < c.kernel_height; ++i) {
    for (std::uint32_t j = 0; j < c.kernel_width; ++j) {
      const std::int64_t row = y * c.stride_height - c.pad_top + i * c.dilation_height;
      const std::int64_t column = x * c.stride_width - c.pad_left + j * c.dilation_width;
      if (row < 0 || row >= c.height || column < 0 || column >= c.width) continue;
      const std::int64_t pixel =
          (static_cast<std::int64_t>(image) * c.height + row) * c.width + column;
      most = std::max<std::int32_t>(most, input(pixel, channel));
    }
  }
  return most;
}

/// What a convolution must give, a row for each output pixel. `sum_of`: the sum of each value.
template <typename Sum>
MatrixI32 expected_windows(const Convolution& c, const Output& output, const Operands& operands,
                           const Sum& sum_of) {
  MatrixI32 results(static_cast<Eigen::Index>(c.out_pixels()), c.out_channels);
  Eigen::Index pixel = 0;
  for (std::uint32_t image = 0; image < c.images; ++image) {
    for (std::uint32_t y = 0; y < c.out_height; ++y) {
      for (std::uint32_t x = 0; x < c.out_width; ++x, ++pixel) {
        for (std::uint32_t o = 0; o < c.out_channels; ++o) {
          const std::int32_t sum = sum_of(image, y, x, o);
          results(pixel, o) = sum;
          if (!output.format.takes_parameters()) continue;
          const float scaled = static_cast<float>(sum + operands.bias[o]) * operands.scales[o];
          const float high = static_cast<float>(output.high), low = static_cast<float>(output.low);
          const float moved = std::nearbyint(scaled) + static_cast<float>(output.zero);
          results(pixel, o) = static_cast<std::int32_t>(std::min(std::max(moved, low), high));
        }
      }
    }
  }
  return results;
}

inline MatrixI32 expected_convolution(const Convolution& c, const Output& output,
                                      const Operands& operands) {
  return expected_windows(c, output, operands, [&](auto image, auto y, auto x, auto o) {
    return convolution_sum(c, operands.a, operands.w, image, y, x, o);
  });
}

/// The same of a pool.
inline MatrixI32 expected_maximum(const Convolution& c, const Output& output,
                                  const Operands& operands) {
  return expected_windows(c, output, operands, [&](auto image, auto y, auto x, auto o) {
    return window_maximum(c, operands.a, image, y, x, o);
  });
}

inline std::uint64_t macs(const Convolution& c) {
  return c.out_pixels() * c.out_channels * c.group_channels() * c.taps();
}

/// Draws sizes of the output for paddings below and to the right; false where there is none.
inline bool draw_output(std::mt19937& random, Convolution& c) {
  const auto size = [&](std::uint32_t in, std::uint32_t pad, std::uint32_t kernel,
                        std::uint32_t dilation, std::uint32_t stride) -> std::uint32_t {
    const std::int64_t room =
        std::int64_t{in} + pad + draw(random, 0, kernel - 1) - std::int64_t{kernel - 1} * dilation;
    return room < 1 ? 0 : static_cast<std::uint32_t>((room - 1) / stride) + 1;
  };
  c.out_height = size(c.height, c.pad_top, c.kernel_height, c.dilation_height, c.stride_height);
  c.out_width = size(c.width, c.pad_left, c.kernel_width, c.dilation_width, c.stride_width);
  return c.out_height != 0 && c.out_width != 0;
}

/// Channels and groups: one group, depthwise, or any number of groups.
inline void draw_channels(std::mt19937& random, unsigned most, Convolution& c) {
  c.groups = 1;
  c.channels = draw(random, 1, most);
  c.out_channels = draw(random, 1, most);
  switch (draw(random, 0, 3)) {
    case 0:  // depthwise, perhaps with several outputs a channel
      c.groups = c.channels;
      c.out_channels = c.channels * draw(random, 1, 2);
      break;
    case 1:
      c.groups = draw(random, 1, 12);
      c.channels = c.groups * draw(random, 1, std::max(1U, most / c.groups));
      c.out_channels = c.groups * draw(random, 1, std::max(1U, most / c.groups));
      break;
    default:
      break;
  }
}

/// A convolution of at most that many MACs.
inline Convolution random_convolution(std::mt19937& random, unsigned most_channels,
                                      unsigned most_size, std::uint64_t most_macs) {
  Convolution c;
  do {
    const bool small = draw(random, 0, 2) != 0;  // kernels and strides as they mostly are
    c.images = small ? draw(random, 1, 2) : draw(random, 1, 5);
    c.height = draw(random, 0, 7) == 0 ? 1 : draw(random, 1, most_size);
    c.width = draw(random, 1, most_size);
    c.kernel_height = std::min(c.height + 3, draw(random, 1, small ? 3 : 11));
    c.kernel_width = draw(random, 1, small ? 3 : 11);
    c.stride_height = draw(random, 1, small ? 2 : 4);
    c.stride_width = draw(random, 1, small ? 2 : 4);
    c.dilation_height = draw(random, 1, small ? 1 : 3);
    c.dilation_width = draw(random, 1, small ? 1 : 3);
    c.pad_top = draw(random, 0, c.kernel_height - 1);
    c.pad_left = draw(random, 0, c.kernel_width - 1);
    draw_channels(random, most_channels, c);
  } while (!draw_output(random, c) || macs(c) > most_macs);
  c.zero = static_cast<std::int8_t>(random() & 0xffu);
  return c;
}

/// One that reads the results of another.
inline Convolution convolution_behind(std::mt19937& random, const Convolution& before,
                                      unsigned most_channels, unsigned most_size,
                                      std::uint64_t most_macs) {
  Convolution c;
  do {
    c = random_convolution(random, most_channels, most_size, most_macs);
    c.images = before.images;
    c.height = before.out_height;
    c.width = before.out_width;
    c.channels = before.out_channels;
    if (draw(random, 0, 3) == 0) {
      c.groups = c.channels;
      c.out_channels = c.channels;
    } else {
      c.groups = 1;
      c.out_channels = draw(random, 1, most_channels);
    }
    c.kernel_height = std::min(c.kernel_height, 5U);
    c.pad_top = std::min(c.pad_top, c.kernel_height - 1);
  } while (!draw_output(random, c) || macs(c) > most_macs);
  return c;
}

/// A depthwise convolution over rows, or over one column, of more pixels than the lanes take at
/// once.
inline Convolution random_wide_convolution(std::mt19937& random, unsigned most_channels,
                                           std::uint64_t most_macs) {
  for (;;) {
    Convolution c = random_convolution(random, most_channels, 6, most_macs);
    c.groups = c.out_channels = c.channels;
    c.width = draw(random, 129, 400);
    if (draw(random, 0, 3) == 0) {
      std::swap(c.height, c.width);
      c.width = c.kernel_width = 1;
      c.pad_left = 0;
    }
    if (draw_output(random, c) && macs(c) <= most_macs) return c;
  }
}

inline Operands random_operands(std::mt19937& random, const Convolution& c) {
  const std::uint64_t k = std::uint64_t{c.group_channels()} * c.taps();
  Operands operands = random_operands(random, GemmShape{1, k, c.out_channels});
  operands.a = random_matrix(random, c.pixels(), c.channels);
  return operands;
}

}  // namespace gemm64::system_test
