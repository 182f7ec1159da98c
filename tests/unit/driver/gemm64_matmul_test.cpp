// SPDX-License-Identifier: Apache-2.0
// The driver's planning layer in C against the host's plans, and on a device.
#include "host/driver/gemm64_matmul.h"

#include "host/cycles/tlm_device.hpp"
#include "host/device/array_geometry.hpp"
#include "host/driver/device_hooks.hpp"
#include "host/tiling/job.hpp"
#include "host/tiling/packing.hpp"
#include "tests/test.hpp"
#include "tests/unit/tiling/plans.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kFrom = 0x1'2345'6789;

gemm64_geometry in_c(const Geometry& geometry) {
  return {geometry.n, geometry.weight_tiles, geometry.scratchpad_words, geometry.accumulator_rows,
          geometry.burst_beats};
}

gemm64_product in_c(const GemmShape& shape, const Output& output) {
  return {static_cast<std::uint32_t>(shape.m),
          static_cast<std::uint32_t>(shape.k),
          static_cast<std::uint32_t>(shape.n),
          output.format.number(),
          output.zero,
          output.low,
          output.high};
}

const Output kOutputs[] = {{},
                           {ResultFormat(ResultCode::kInt8), -7, -100, 127},
                           {ResultFormat(ResultCode::kUint8), 200, 3, 255}};

TEST(MatmulInC, CommandsAreThoseOfTheHost) {
  const auto check = [](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
    if (accumulate == Accumulate::kHost) return;
    const gemm64_geometry sizes = in_c(geometry);
    for (const Output& output : kOutputs) {
      SCOPED_TRACE(describe(shape, geometry) + ", " + output.format.name());
      const Plan expected = make_plan(shape, accumulate, geometry, output);
      const Layout layout = make_layout(expected, kFrom);
      const gemm64_product product = in_c(shape, output);
      gemm64_plan plan;
      ASSERT_EQ(gemm64_plan_product(&plan, &sizes, &product, kFrom), GEMM64_OK);
      EXPECT_EQ(plan.end, layout.end);
      std::vector<std::uint8_t> bytes;
      for (const Command& command : make_program(expected, layout)) {
        bytes.resize(bytes.size() + GEMM64_COMMAND_BYTES);
        command.encode(bytes.data() + bytes.size() - GEMM64_COMMAND_BYTES);
      }
      std::vector<std::uint8_t> found(GEMM64_PLAN_COMMANDS * GEMM64_COMMAND_BYTES);
      found.resize(gemm64_plan_commands(&plan, found.data()) * std::size_t{GEMM64_COMMAND_BYTES});
      ASSERT_TRUE(found == bytes);
    }
  };
  for_plans(1, 40, kAnySize, check);
  check({std::uint64_t{1} << 31, 70, 1}, Accumulate::kDevice, Geometry{});
  // A scratchpad that holds fewer rows than the accumulator has: a tile's rows and one burst.
  Geometry small;
  small.n = 4;
  small.scratchpad_words = 96;
  const std::uint64_t most = small.scratchpad_words - small.burst_beats + 1;
  ASSERT_LT(most, small.accumulator_rows);
  for (const std::uint64_t m : {most - 1, most, most + 1, 2 * most, 2 * most + 1}) {
    check({m, 10, 9}, Accumulate::kDevice, small);
  }
}

TEST(MatmulInC, WhatNoCommandsCanSayIsRefused) {
  const gemm64_geometry sizes = in_c(Geometry{});
  gemm64_plan plan;
  const auto refused = [&](const gemm64_product& product) {
    return gemm64_plan_product(&plan, &sizes, &product, 0) == GEMM64_BAD_PRODUCT;
  };
  const std::uint32_t most = std::uint32_t{1} << 31;
  EXPECT_TRUE(refused({0, 1, 1, 0, 0, 0, 0}));
  EXPECT_TRUE(refused({1, 0, 1, 0, 0, 0, 0}));
  EXPECT_TRUE(refused({1, 1, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(refused({most + 1, 1, 1, 0, 0, 0, 0}));
  EXPECT_TRUE(refused({1, most, 128, 0, 0, 0, 0}));  // 2^32 words of weights
  EXPECT_TRUE(refused({1, 1, 1, 3, 0, 0, 0}));
  EXPECT_TRUE(refused({1, 1, 1, GEMM64_RESULT_INT8, 0, 1, 0}));
  EXPECT_TRUE(refused({1, 1, 1, GEMM64_RESULT_INT8, 128, 0, 1}));
  EXPECT_TRUE(refused({1, 1, 1, GEMM64_RESULT_UINT8, 0, -1, 1}));
  EXPECT_FALSE(refused({most, 1, 1, 0, 0, 0, 0}));
  EXPECT_FALSE(refused({1, most, 64, 0, 0, 0, 0}));
}

TEST(MatmulInC, TakesTheBoundsOfEachFormat) {
  const gemm64_geometry sizes = in_c(Geometry{});
  const struct {
    std::uint32_t format;
    std::int32_t least, most;
  } formats[] = {{GEMM64_RESULT_INT8, -128, 127}, {GEMM64_RESULT_UINT8, 0, 255}};
  for (const auto& [format, least, most] : formats) {
    const auto taken = [&, f = format](std::int32_t zero, std::int32_t low, std::int32_t high) {
      gemm64_plan plan;
      const gemm64_product product{1, 1, 1, f, zero, low, high};
      return gemm64_plan_product(&plan, &sizes, &product, 0) == GEMM64_OK;
    };
    for (const std::int32_t zero : {least, most}) {
      EXPECT_TRUE(taken(zero, least, most));
      EXPECT_TRUE(taken(zero, zero, zero));
    }
    EXPECT_FALSE(taken(least - 1, least, most));
    EXPECT_FALSE(taken(most + 1, least, most));
    EXPECT_FALSE(taken(least, least - 1, most));
    EXPECT_FALSE(taken(least, least, most + 1));
    EXPECT_FALSE(taken(least, most, most - 1));
  }
}

TEST(MatmulInC, PacksWeightsIntoWholeTilesOnly) {
  Geometry geometry;
  geometry.n = 4;
  const gemm64_geometry sizes = in_c(geometry);
  const gemm64_product product{1, 5, 6, GEMM64_RESULT_INT32, 0, 0, 0};
  gemm64_plan plan;
  ASSERT_EQ(gemm64_plan_product(&plan, &sizes, &product, 0), GEMM64_OK);
  const std::vector<std::int8_t> weights(100, 1);
  std::vector<std::uint8_t> packed(6 * 16, 0x55);
  gemm64_pack_weights(&plan, weights.data(), packed.data());
  EXPECT_EQ(std::count(packed.begin(), packed.begin() + 64, 1), 5 * 6);
  EXPECT_EQ(std::count(packed.begin(), packed.begin() + 64, 0), 64 - 5 * 6);
  EXPECT_EQ(std::count(packed.begin() + 64, packed.end(), 0x55), 32) << "two by two tiles";
}

/// Random operands of a product, and what they give.
struct Example {
  Example(std::mt19937& random, const gemm64_product& product)
      : activations(std::size_t{product.m} * product.k),
        weights(std::size_t{product.n} * product.k),
        bias(product.n),
        scales(product.n) {
    for (auto& value : activations) value = static_cast<std::int8_t>(random());
    for (auto& value : weights) value = static_cast<std::int8_t>(random());
    for (auto& value : bias) value = static_cast<std::int32_t>(random() % 20001) - 10000;
    for (auto& value : scales) value = static_cast<float>(random() % 1000 + 1) / 1e6f;
    for (std::uint32_t row = 0; row < product.m; ++row) {
      for (std::uint32_t column = 0; column < product.n; ++column) {
        std::int32_t sum = 0;
        for (std::uint32_t k = 0; k < product.k; ++k) {
          sum += activations[row * product.k + k] * weights[column * product.k + k];
        }
        if (product.format != GEMM64_RESULT_INT32) {
          const float value = std::rint(static_cast<float>(sum + bias[column]) * scales[column]);
          sum = std::clamp(static_cast<std::int32_t>(value) + product.zero, product.low,
                           product.high);
        }
        expected.push_back(sum);
      }
    }
  }
  gemm64_operands operands(void* results) const {
    return {activations.data(), weights.data(), bias.data(), scales.data(), results};
  }

  std::vector<std::int8_t> activations, weights;
  std::vector<std::int32_t> bias;
  std::vector<float> scales;
  std::vector<std::int32_t> expected;
};

/// A device, and a processor that sees its memory through a cache.
struct Board {
  static constexpr std::uint64_t kAddress = 0x3000;
  Board() {
    hooks.context = this;
    hooks.read = [](void* self, std::uint32_t offset, std::uint32_t* value) {
      const gemm64_hooks& inner = static_cast<Board*>(self)->device_hooks.hooks();
      return inner.read(inner.context, offset, value);
    };
    hooks.write = [](void* self, std::uint32_t offset, std::uint32_t value) {
      const gemm64_hooks& inner = static_cast<Board*>(self)->device_hooks.hooks();
      return inner.write(inner.context, offset, value);
    };
    hooks.store = [](void* self, std::uint64_t address, const void* data, std::size_t bytes) {
      const gemm64_hooks& inner = static_cast<Board*>(self)->device_hooks.hooks();
      return inner.store(inner.context, address, data, bytes);
    };
    hooks.wait = [](void* self, std::uint64_t limit) {
      const gemm64_hooks& inner = static_cast<Board*>(self)->device_hooks.hooks();
      return inner.wait(inner.context, limit);
    };
    hooks.clean = [](void* self, std::uint64_t address, std::size_t bytes) {
      Board& board = *static_cast<Board*>(self);
      if (address < kAddress) return;  // the ring's commands
      board.device.write_memory(address, board.cache.data() + (address - kAddress), bytes);
    };
    hooks.invalidate = [](void* self, std::uint64_t address, std::size_t bytes) {
      Board& board = *static_cast<Board*>(self);
      board.device.read_memory(address, board.cache.data() + (address - kAddress), bytes);
    };
    EXPECT_EQ(gemm64_open(&driver, &hooks), GEMM64_OK);
    EXPECT_EQ(gemm64_set_ring(&driver, 0, 16), GEMM64_OK);
  }

  TlmDevice device{geometry_of_array(4)};
  DeviceHooks device_hooks{device};
  gemm64_hooks hooks{};
  gemm64_driver driver{};
  std::vector<std::uint8_t> cache = std::vector<std::uint8_t>(1 << 20, 0xaa);
  gemm64_memory memory{cache.data(), kAddress, cache.size()};
};

TEST(MatmulInC, ResultsAreRightOneAfterTheOther) {
  Board board;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const GemmShape shape{1 + random() % 300, 1 + random() % 30, 1 + random() % 30};
    const gemm64_product product = in_c(shape, kOutputs[seed % 3]);
    const Example example(random, product);
    std::vector<std::int32_t> found(example.expected.size());
    if (product.format == GEMM64_RESULT_INT32) {
      const gemm64_operands operands = example.operands(found.data());
      ASSERT_EQ(gemm64_matmul(&board.driver, &board.memory, &product, &operands, 1000000),
                GEMM64_OK);
    } else {
      std::vector<std::uint8_t> bytes(found.size());
      const gemm64_operands operands = example.operands(bytes.data());
      ASSERT_EQ(gemm64_matmul(&board.driver, &board.memory, &product, &operands, 1000000),
                GEMM64_OK);
      const bool is_signed = product.format == GEMM64_RESULT_INT8;
      std::transform(bytes.begin(), bytes.end(), found.begin(), [&](std::uint8_t byte) {
        return is_signed ? static_cast<std::int8_t>(byte) : std::int32_t{byte};
      });
    }
    ASSERT_EQ(found, example.expected);
  }
}

/// Runs a product on a board whose registers are read by another hook. Results must be right where
/// it ends well.
gemm64_result run_with_reads(Board& board, decltype(gemm64_hooks::read) read) {
  std::mt19937 random(3);
  const gemm64_product product = in_c({5, 6, 7}, {});
  const Example example(random, product);
  std::vector<std::int32_t> found(example.expected.size());
  const gemm64_operands operands = example.operands(found.data());
  board.driver.hooks.read = read;
  const gemm64_result result =
      gemm64_matmul(&board.driver, &board.memory, &product, &operands, 100000);
  if (result == GEMM64_OK) EXPECT_EQ(found, example.expected);
  return result;
}

TEST(MatmulInC, RunsAgainAfterFoundFault) {
  static int left;  // faults still to be found, each once its program has ended
  static gemm64_hooks inner;
  for (const int faults : {1, 2}) {
    Board board;
    left = faults;
    inner = board.driver.hooks;
    const auto read = [](void* self, std::uint32_t offset, std::uint32_t* value) {
      if (inner.read(self, offset, value) != 0) return -1;
      if (left == 0) return 0;
      if (offset == GEMM64_REG_INTERRUPT) *value = GEMM64_INTERRUPT_ERROR_MASK;
      if (offset == GEMM64_REG_ERROR) *value = GEMM64_ERROR_CHECKSUM;
      if (offset == GEMM64_REG_FAULT_TILE) *value = 5;
      if (offset == GEMM64_REG_FAULT_ROW) {
        *value = 7;
        --left;
      }
      return 0;
    };
    EXPECT_EQ(run_with_reads(board, read), faults == 1 ? GEMM64_OK : GEMM64_FAILED);
    EXPECT_EQ(board.driver.error.tile, 5u);
    EXPECT_EQ(board.driver.error.row, 7u);
  }
}

TEST(MatmulInC, RunsAgainAfterAlteredRegister) {
  static int left;  // times that the ring's mask is to be found wrong
  static gemm64_hooks inner;
  for (const int faults : {1, 2}) {
    Board board;
    board.driver.info.self_check = 1;
    left = faults;
    inner = board.driver.hooks;
    const auto read = [](void* self, std::uint32_t offset, std::uint32_t* value) {
      if (inner.read(self, offset, value) != 0) return -1;
      if (offset == GEMM64_REG_RING_MASK && left > 0) {
        *value ^= 0x10;
        --left;
      }
      return 0;
    };
    EXPECT_EQ(run_with_reads(board, read), faults == 1 ? GEMM64_OK : GEMM64_ALTERED);
    EXPECT_EQ(board.driver.altered.offset, GEMM64_REG_RING_MASK);
  }
}

TEST(MatmulInC, WritesNothingToSmallMemory) {
  Board board;
  std::mt19937 random(1);
  const gemm64_product product = in_c({5, 6, 7}, {});
  const Example example(random, product);
  std::vector<std::int32_t> found(example.expected.size());
  const gemm64_operands operands = example.operands(found.data());
  // Two pages of operands, and results of 5 rows of 2 tiles of 4 int32.
  board.memory.size = 2 * GEMM64_PLAN_ALIGNMENT + 5 * 2 * 4 * 4 - 1;
  EXPECT_EQ(gemm64_matmul(&board.driver, &board.memory, &product, &operands, 1000), GEMM64_NO_ROOM);
  EXPECT_EQ(board.driver.submitted, 0u);
  EXPECT_EQ(std::count(board.cache.begin(), board.cache.end(), 0xaa),
            static_cast<std::ptrdiff_t>(board.cache.size()));
  ++board.memory.size;
  EXPECT_EQ(gemm64_matmul(&board.driver, &board.memory, &product, &operands, 100000), GEMM64_OK);
  EXPECT_EQ(found, example.expected);
}

}  // namespace
}  // namespace gemm64
