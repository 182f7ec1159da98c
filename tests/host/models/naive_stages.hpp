// SPDX-License-Identifier: Apache-2.0
// Convolution and pooling by their definitions, in plain loops: the expectation of the tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "host/models/conv.hpp"

namespace gemm64 {

/// y[n][o][y][x] = bias[o] + sum over i, r, c of w[o][i][r][c] * padded x[n][i][y*s+r-p][x*s+c-p].
inline ImageBatch naive_convolution(const ImageBatch& in, const Convolution& stage) {
  const std::size_t kernel = stage.kernel;
  const std::size_t pad = stage.padding;
  ImageBatch out{in.count,
                 stage.out_channels,
                 (in.height + 2 * pad - kernel) / stage.stride + 1,
                 (in.width + 2 * pad - kernel) / stage.stride + 1,
                 {}};
  for (std::size_t n = 0; n < out.count; ++n) {
    for (std::size_t o = 0; o < out.channels; ++o) {
      for (std::size_t y = 0; y < out.height; ++y) {
        for (std::size_t x = 0; x < out.width; ++x) {
          double sum = static_cast<double>(stage.bias[o]);
          for (std::size_t i = 0; i < in.channels; ++i) {
            for (std::size_t r = 0; r < kernel; ++r) {
              const std::size_t row = y * stage.stride + r;
              if (row < pad || row >= in.height + pad) continue;
              const float* pixels =
                  &in.values[((n * in.channels + i) * in.height + row - pad) * in.width];
              const float* weights = &stage.weights[((o * in.channels + i) * kernel + r) * kernel];
              for (std::size_t c = 0; c < kernel; ++c) {
                const std::size_t column = x * stage.stride + c;
                if (column < pad || column >= in.width + pad) continue;
                sum += static_cast<double>(weights[c]) * static_cast<double>(pixels[column - pad]);
              }
            }
          }
          if (stage.relu) sum = std::max(sum, 0.0);
          out.values.push_back(static_cast<float>(sum));
        }
      }
    }
  }
  return out;
}

/// The largest value of each whole window.
inline ImageBatch naive_pooling(const ImageBatch& in, const MaxPooling& stage) {
  ImageBatch out{in.count,
                 in.channels,
                 (in.height - stage.kernel) / stage.stride + 1,
                 (in.width - stage.kernel) / stage.stride + 1,
                 {}};
  for (std::size_t plane = 0; plane < in.count * in.channels; ++plane) {
    for (std::size_t y = 0; y < out.height; ++y) {
      for (std::size_t x = 0; x < out.width; ++x) {
        float largest = -std::numeric_limits<float>::infinity();
        for (std::size_t r = 0; r < stage.kernel; ++r) {
          for (std::size_t c = 0; c < stage.kernel; ++c) {
            const std::size_t row = plane * in.height + y * stage.stride + r;
            largest = std::max(largest, in.values[row * in.width + x * stage.stride + c]);
          }
        }
        out.values.push_back(largest);
      }
    }
  }
  return out;
}

}  // namespace gemm64
