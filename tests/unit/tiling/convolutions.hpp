// SPDX-License-Identifier: Apache-2.0
// Random convolutions, where their operands and results lie, and what they should be: values as a
// plain loop over the definition gives them.
#pragma once

#include "host/device/device.hpp"
#include "tests/test.hpp"
#include "tests/unit/tiling/window_program.hpp"

namespace gemm64 {

/// What ONNX's Conv says, with its operands. Channels beyond those of the last tile are zero.
struct PlainConvolution {
  Window window;
  std::uint32_t channels = 1, out_channels = 1, groups = 1;
  std::vector<std::int8_t> input;    // [image][channel][row][column]
  std::vector<std::int8_t> weights;  // [out channel][channel of the group][tap row][tap column]
  std::int8_t zero = 0;              // beyond the border
  // Of 8-bit results; else the sums are the results.
  bool quantized = false;
  std::vector<std::int32_t> biases;
  std::vector<float> scales;
  int out_zero = 0, low = -128, high = 127;

  std::uint32_t group_channels() const { return channels / groups; }
  std::uint32_t group_of_out(std::uint32_t c) const { return c / (out_channels / groups); }
  std::int8_t at(std::uint32_t image, std::uint32_t c, std::int64_t y, std::int64_t x) const {
    const bool inside = y >= 0 && y < window.height && x >= 0 && x < window.width;
    return inside ? input[((std::size_t{image} * channels + c) * window.height +
                           static_cast<std::size_t>(y)) *
                              window.width +
                          static_cast<std::size_t>(x)]
                  : zero;
  }
  std::int8_t weight(std::uint32_t o, std::uint32_t c, std::uint32_t i, std::uint32_t j) const {
    return weights[((std::size_t{o} * group_channels() + c) * window.kernel_height + i) *
                       window.kernel_width +
                   j];
  }

  std::int32_t sum(std::uint32_t image, std::uint32_t o, std::uint32_t y, std::uint32_t x) const {
    const Window& w = window;
    std::int32_t sum = 0;
    for (std::uint32_t c = 0; c < group_channels(); ++c) {
      for (std::uint32_t i = 0; i < w.kernel_height; ++i) {
        for (std::uint32_t j = 0; j < w.kernel_width; ++j) {
          sum += weight(o, c, i, j) *
                 at(image, group_of_out(o) * group_channels() + c,
                    std::int64_t{y} * w.stride_height - w.pad_top + i * w.dilation_height,
                    std::int64_t{x} * w.stride_width - w.pad_left + j * w.dilation_width);
        }
      }
    }
    return sum;
  }

  std::int32_t result(std::uint32_t image, std::uint32_t o, std::uint32_t y,
                      std::uint32_t x) const {
    const std::int32_t sum = this->sum(image, o, y, x);
    if (!quantized) return sum;
    const float scaled = static_cast<float>(sum + biases[o]) * scales[o];
    return std::clamp(static_cast<int>(std::nearbyint(scaled)) + out_zero, low, high);
  }
};

inline std::string describe(const PlainConvolution& c) {
  const Window& w = c.window;
  return fmt::format(
      "{} images of {}x{}x{}, {} channels out in {} groups, kernel {}x{}, stride {}x{}, dilation "
      "{}x{}, "
      "padding {} {}, out {}x{}{}",
      w.images, c.channels, w.height, w.width, c.out_channels, c.groups, w.kernel_height,
      w.kernel_width, w.stride_height, w.stride_width, w.dilation_height, w.dilation_width,
      w.pad_top, w.pad_left, w.out_height, w.out_width, c.quantized ? ", int8" : "");
}

inline std::uint32_t tiles_of(std::uint32_t channels, std::uint32_t n) {
  return (channels + n - 1) / n;
}

/// Its channels and groups: one group, groups of whole tiles, several groups in a tile, depthwise.
inline void draw_groups(std::mt19937& random, std::uint32_t n, PlainConvolution& c) {
  Window& w = c.window;
  w.group_planes = w.group_passes = 1;
  switch (draw(random, 0, 4)) {
    case 0:  // whole tiles
      w.group_planes = draw(random, 1, 2);
      w.group_passes = draw(random, 1, 2);
      c.groups = draw(random, 1, 3);
      c.channels = c.groups * w.group_planes * n;
      c.out_channels = c.groups * w.group_passes * n;
      break;
    case 1:  // several in a tile
      c.groups = draw(random, 1, 5);
      c.channels = c.out_channels = c.groups * (n / 2);
      break;
    case 2:  // depthwise
      c.groups = c.channels = c.out_channels = draw(random, 1, 3 * n);
      break;
    default:
      c.groups = 1;
      c.channels = draw(random, 1, 3 * n);
      c.out_channels = draw(random, 1, 3 * n);
      w.group_planes = tiles_of(c.channels, n);
      w.group_passes = tiles_of(c.out_channels, n);
  }
  w.planes = tiles_of(c.channels, n);
}

/// Output sizes for paddings below and to the right that are drawn too; false where the kernel is
/// larger than the padded input.
inline bool draw_output(std::mt19937& random, Window& w) {
  const std::int64_t height = std::int64_t{w.height} + w.pad_top + draw(random, 0, 3) -
                              std::int64_t{w.kernel_height - 1} * w.dilation_height;
  const std::int64_t width = std::int64_t{w.width} + w.pad_left + draw(random, 0, 3) -
                             std::int64_t{w.kernel_width - 1} * w.dilation_width;
  if (height < 1 || width < 1) return false;
  w.out_height = static_cast<std::uint32_t>((height - 1) / w.stride_height) + 1;
  w.out_width = static_cast<std::uint32_t>((width - 1) / w.stride_width) + 1;
  return true;
}

template <class Value>
void fill(std::mt19937& random, std::vector<Value>& values, std::size_t count) {
  values.resize(count);
  for (Value& value : values) value = static_cast<Value>(random());
}

inline PlainConvolution random_convolution(std::mt19937& random, std::uint32_t n) {
  PlainConvolution c;
  Window& w = c.window;
  do {
    w.images = draw(random, 1, 3);
    w.height = draw(random, 1, 11);
    w.width = draw(random, 1, 11);
    w.kernel_height = draw(random, 1, 5);
    w.kernel_width = draw(random, 1, 5);
    w.stride_height = draw(random, 1, 3);
    w.stride_width = draw(random, 1, 3);
    w.dilation_height = draw(random, 1, 2);
    w.dilation_width = draw(random, 1, 2);
    w.pad_top = draw(random, 0, 3);
    w.pad_left = draw(random, 0, 3);
  } while (!draw_output(random, w));
  draw_groups(random, n, c);
  fill(random, c.input, std::size_t{w.images} * c.channels * w.height * w.width);
  fill(random, c.weights,
       std::size_t{c.out_channels} * c.group_channels() * w.kernel_height * w.kernel_width);
  c.zero = static_cast<std::int8_t>(random());
  c.quantized = draw(random, 0, 2) != 0;
  for (std::uint32_t o = 0; o < c.out_channels; ++o) {
    c.biases.push_back(static_cast<std::int32_t>(random() % 20000) - 10000);
    c.scales.push_back(std::ldexp(1.0f + static_cast<float>(random() % 1000) / 1000, -9));
  }
  c.out_zero = static_cast<int>(draw(random, 0, 20)) - 10;
  return c;
}

/// A convolution in memory: operands as the device reads them, from `address` on, then results.
class PlacedConvolution {
 public:
  PlacedConvolution(const PlainConvolution& c, std::uint32_t n, std::uint64_t address)
      : c_(c), n_(n) {
    const Window& w = c.window;
    where_.weights = address;
    where_.parameters = where_.weights + w.tiles() * n * n;
    where_.activations = where_.parameters + std::uint64_t{8} * w.passes() * n;
    where_.zero = c.zero;
    Command& store = where_.results;
    store.set_address(where_.activations + w.pixels() * w.planes * n);
    if (c.quantized) {
      store.format = static_cast<std::uint32_t>(ResultCode::kInt8);
      store.zero = static_cast<std::uint8_t>(c.out_zero);
      store.low = static_cast<std::uint8_t>(c.low);
      store.high = static_cast<std::uint8_t>(c.high);
    }
  }

  const WindowOperands& operands() const { return where_; }
  std::uint64_t result_bytes() const {
    return c_.window.out_pixels() * c_.window.passes() * n_ * (c_.quantized ? 1 : 4);
  }
  std::uint64_t end() const { return where_.results.address() + result_bytes(); }

  void write(Device& device) const {
    put(device, where_.weights, packed_weights());
    put(device, where_.parameters, packed_parameters());
    put(device, where_.activations, packed_input());
    put(device, where_.results.address(), std::vector<std::int8_t>(result_bytes(), 0x55));
  }

  /// Does each result lie where it should?
  void check(Device& device) const {
    const Window& w = c_.window;
    std::vector<std::int8_t> bytes(result_bytes());
    device.read_memory(where_.results.address(), bytes.data(), bytes.size());
    std::size_t wrong = 0;
    for (std::uint32_t image = 0; image < w.images; ++image) {
      for (std::uint32_t o = 0; o < c_.out_channels; ++o) {
        for (std::uint32_t y = 0; y < w.out_height; ++y) {
          for (std::uint32_t x = 0; x < w.out_width; ++x) {
            const std::uint64_t pixel = (std::uint64_t{image} * w.out_height + y) * w.out_width + x;
            const std::uint64_t place = (o / n_ * w.out_pixels() + pixel) * n_ + o % n_;
            std::int32_t found = 0;
            if (c_.quantized) {
              found = bytes[place];
            } else {
              std::memcpy(&found, &bytes[4 * place], 4);
            }
            if (found == c_.result(image, o, y, x)) continue;
            if (++wrong > 3) continue;
            ADD_FAILURE() << "image " << image << ", channel " << o << ", row " << y << ", column "
                          << x << ": " << found << " instead of " << c_.result(image, o, y, x);
          }
        }
      }
    }
    EXPECT_EQ(wrong, 0u);
  }

 private:
  template <class Value>
  static void put(Device& device, std::uint64_t address, const std::vector<Value>& values) {
    device.write_memory(address, values.data(), values.size() * sizeof(Value));
  }

  std::vector<std::int8_t> packed_input() const {
    const Window& w = c_.window;
    std::vector<std::int8_t> bytes(w.pixels() * w.planes * n_);
    std::size_t place = 0;
    for (std::uint32_t plane = 0; plane < w.planes; ++plane) {
      for (std::uint32_t image = 0; image < w.images; ++image) {
        for (std::uint32_t y = 0; y < w.height; ++y) {
          for (std::uint32_t x = 0; x < w.width; ++x) {
            for (std::uint32_t c = plane * n_; c < (plane + 1) * n_; ++c, ++place) {
              if (c < c_.channels) bytes[place] = c_.at(image, c, y, x);
            }
          }
        }
      }
    }
    return bytes;
  }

  std::vector<std::int8_t> packed_weights() const {
    const Window& w = c_.window;
    std::vector<std::int8_t> bytes;
    for (std::uint32_t pass = 0; pass < w.passes(); ++pass) {
      const std::uint32_t first = pass / w.group_passes * w.group_planes;
      for (std::uint32_t plane = first; plane < first + w.group_planes; ++plane) {
        for (std::uint32_t i = 0; i < w.kernel_height; ++i) {
          for (std::uint32_t j = 0; j < w.kernel_width; ++j) {
            for (std::uint32_t o = pass * n_; o < (pass + 1) * n_; ++o) {
              for (std::uint32_t c = plane * n_; c < (plane + 1) * n_; ++c) {
                const bool meet = o < c_.out_channels && c < c_.channels &&
                                  c_.group_of_out(o) == c / c_.group_channels();
                bytes.push_back(meet ? c_.weight(o, c % c_.group_channels(), i, j)
                                     : static_cast<std::int8_t>(0));
              }
            }
          }
        }
      }
    }
    return bytes;
  }

  std::vector<std::uint32_t> packed_parameters() const {
    std::vector<std::uint32_t> words;
    for (std::uint32_t pass = 0; pass < c_.window.passes(); ++pass) {
      for (std::uint32_t o = pass * n_; o < (pass + 1) * n_; ++o) {
        words.push_back(o < c_.out_channels ? static_cast<std::uint32_t>(c_.biases[o]) : 0);
      }
      for (std::uint32_t o = pass * n_; o < (pass + 1) * n_; ++o) {
        std::uint32_t bits = 0;
        if (o < c_.out_channels) std::memcpy(&bits, &c_.scales[o], 4);
        words.push_back(bits);
      }
    }
    return words;
  }

  const PlainConvolution& c_;
  std::uint32_t n_;
  WindowOperands where_;
};

/// Blocks of some size, and a scratchpad of which some is unused so that slots go around, but
/// the input rows fit.
inline WindowPlan random_plan(std::mt19937& random, const Window& window, Geometry geometry) {
  const std::uint32_t words = geometry.scratchpad_words;
  for (std::uint32_t rows = draw(random, 1, std::min(40u, geometry.accumulator_rows));;
       rows = rows / 2 + 1) {
    geometry.scratchpad_words = draw(random, 1, std::min(words, 300u));
    for (;; geometry.scratchpad_words = std::min(words, geometry.scratchpad_words * 5 / 4 + 1)) {
      try {
        return plan_window(window, rows, geometry);
      } catch (const UsageError&) {
        if (geometry.scratchpad_words < words) continue;
        if (rows == 1) throw;
        break;
      }
    }
    if (rows == 2) rows = 0;
  }
}

}  // namespace gemm64
