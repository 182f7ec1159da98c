// SPDX-License-Identifier: Apache-2.0
// Convolutions on the accelerator, from memory to memory: values as a plain loop over the
// definition gives them, each input pixel read once, and clocks as predicted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "host/job/window_plan.hpp"
#include "tests/system/commands.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{8} << 20, kClockLimit = 4'000'000;
constexpr std::uint32_t kWatchdog = 20'000;  // clocks without progress; no engine waits for so long

/// What ONNX's Conv says, with its operands. Channels beyond those of the last tile are zero.
struct Convolution {
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

std::string describe(const Convolution& c) {
  const Window& w = c.window;
  return fmt::format(
      "{} images of {}x{}x{}, {} channels out in {} groups, kernel {}x{}, stride {}x{}, dilation "
      "{}x{}, "
      "padding {} {}, out {}x{}{}",
      w.images, c.channels, w.height, w.width, c.out_channels, c.groups, w.kernel_height,
      w.kernel_width, w.stride_height, w.stride_width, w.dilation_height, w.dilation_width,
      w.pad_top, w.pad_left, w.out_height, w.out_width, c.quantized ? ", int8" : "");
}

std::uint32_t tiles(std::uint32_t channels, std::uint32_t n) { return (channels + n - 1) / n; }

/// Its channels and groups: one group, groups of whole tiles, several groups in a tile, depthwise.
void draw_groups(std::mt19937& random, std::uint32_t n, Convolution& c) {
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
      w.group_planes = tiles(c.channels, n);
      w.group_passes = tiles(c.out_channels, n);
  }
  w.planes = tiles(c.channels, n);
}

/// Output sizes for paddings below and to the right that are drawn too; false where the kernel is
/// larger than the padded input.
bool draw_output(std::mt19937& random, Window& w) {
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

Convolution random_convolution(std::mt19937& random, std::uint32_t n) {
  Convolution c;
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

/// A convolution in memory: operands as the device reads them, from `address` on, results behind.
class Placed {
 public:
  Placed(const Convolution& c, std::uint32_t n, std::uint64_t address) : c_(c), n_(n) {
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

  const Convolution& c_;
  std::uint32_t n_;
  WindowOperands where_;
};

/// Blocks of some size, and a scratchpad of which some is left alone so that slots go around, but
/// the input rows fit.
WindowPlan random_plan(std::mt19937& random, const Window& window, Geometry geometry) {
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

/// A rig whose engines are stopped soon where they wait for each other.
Rig window_rig(int n, double stalls, std::uint32_t seed, bool tight = false) {
  RtlOptions options = Rig::options(n, stalls, seed);
  options.memory_bytes = kMemoryBytes;
  options.tight = tight;
  return Rig(options);
}

Counters run(Rig& rig, std::vector<Command> program) {
  program.push_back(finish());
  rig.device->write_register(reg::kWatchdog, kWatchdog);
  rig.driver.run_program(0, program, kClockLimit);
  const Counters counters = rig.driver.read_counters();
  if (rig.memory.predictable()) {
    const Counters expected = predict_counters(program, rig.driver.geometry(), rig.memory);
    EXPECT_TRUE(counters == expected) << difference(expected, counters);
  }
  return counters;
}

constexpr std::uint64_t kOperands = 0x100000;  // behind the ring

struct Setting {
  int n;
  double stalls;
  bool tight;
};

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << (setting.tight ? "TightN" : "N") << setting.n << (setting.stalls > 0 ? "Stalling" : "");
}

class Windows : public testing::TestWithParam<Setting> {
 protected:
  Rig rig = window_rig(GetParam().n, GetParam().stalls, 3, GetParam().tight);
  std::uint32_t n = static_cast<std::uint32_t>(GetParam().n);
};

TEST_P(Windows, OfRandomConvolutionsGiveTheirValues) {
  unsigned done = 0;
  for_seeds(1, 60, [&](std::mt19937& random) {
    const Convolution c = random_convolution(random, n);
    SCOPED_TRACE(describe(c));
    WindowPlan plan;
    try {
      plan = random_plan(random, c.window, rig.driver.geometry());
    } catch (const UsageError&) {
      return;  // some rows do not fit the tight scratchpad
    }
    SCOPED_TRACE(fmt::format("capacity {}, blocks of {}", plan.capacity, plan.blocks[0].rows));
    const Placed placed(c, n, kOperands);
    ASSERT_LT(placed.end(), kMemoryBytes);
    placed.write(*rig.device);
    rig.set_latency(draw(random, 1, 120));
    const Counters counters = run(rig, window_program(plan, placed.operands()));
    placed.check(*rig.device);
    expect_causes_add_up(counters);
    EXPECT_EQ(counters[counter::kBytesActivations], plan.loaded_words() * n);
    EXPECT_LE(counters[counter::kBytesActivations], c.window.pixels() * c.window.planes * n);
    EXPECT_EQ(counters[counter::kBytesResults], placed.result_bytes());
    ++done;
  });
  EXPECT_GE(done, 20u);
}

// A convolution, a product, another convolution: none waits for a FENCE, and each finds the
// scratchpad as it needs it.
TEST_P(Windows, FollowEachOtherAndProductsWithoutAFence) {
  for_seeds(100, 20, [&](std::mt19937& random) {
    std::vector<Convolution> convolutions;
    for (unsigned i = draw(random, 2, 4); i > 0; --i) {
      convolutions.push_back(random_convolution(random, n));
    }
    std::vector<Placed> placed;
    std::vector<Command> program;
    std::uint64_t address = kOperands;
    const std::uint32_t rows = draw(random, 1, 9);
    const MatrixI8 a = random_matrix(random, rows, n), w = random_matrix(random, n, n);
    rig.device->write_memory(0xc0000, a.data(), rows * n);
    rig.device->write_memory(0xc1000, w.data(), n * n);
    std::uint32_t products = 0;
    for (const Convolution& c : convolutions) {
      WindowPlan plan;
      try {
        plan = random_plan(random, c.window, rig.driver.geometry());
      } catch (const UsageError&) {
        continue;
      }
      placed.emplace_back(c, n, address);
      address = placed.back().end();
      ASSERT_LT(address, kMemoryBytes);
      placed.back().write(*rig.device);
      const std::vector<Command> part = window_program(plan, placed.back().operands());
      program.insert(program.end(), part.begin(), part.end());
      if (draw(random, 0, 1) == 0) continue;
      Command load = load_activations(0xc0000, 1);
      load.rows = load.stride = rows;
      Command result = store(0xc2000 + products++ * 0x1000, rows);
      result.blocks = 1;
      result.stride = rows;
      program.insert(program.end(), {load_weights(0xc1000, n), load, matmul(rows), result});
    }
    rig.set_latency(draw(random, 1, 120));
    run(rig, program);
    for (const Placed& one : placed) one.check(*rig.device);
    const MatrixI32 expected = reference_gemm(a, w);
    for (std::uint32_t p = 0; p < products; ++p) {
      MatrixI32 sums(rows, n);
      rig.device->read_memory(0xc2000 + p * 0x1000, sums.data(), rows * n * 4);
      EXPECT_EQ(sums, expected) << "product " << p;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Settings, Windows,
                         testing::Values(Setting{2, 0, false}, Setting{4, 0, false},
                                         Setting{8, 0, false}, Setting{4, 0, true},
                                         Setting{2, 0.4, false}, Setting{8, 0.4, false},
                                         Setting{4, 0.3, true}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace gemm64::system_test
