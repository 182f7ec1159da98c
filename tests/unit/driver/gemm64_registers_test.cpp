// SPDX-License-Identifier: Apache-2.0
// The header for C says what the header for C++ says.
#include "host/driver/gemm64_registers.h"

#include <gtest/gtest.h>

#include <random>

#include "host/device/registers.hpp"

namespace gemm64 {
namespace {

TEST(RegistersInC, CommandsAreEncodedAsInCpp) {
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    Command command;
    command.opcode = static_cast<Opcode>(random() & 0xff);
    command.flags = random() & 0xff;
    command.rows = random() & 0xffff;
    command.count = random();
    command.passes = random();
    command.blocks = random();
    command.address_low = random();
    command.address_high = random();
    gemm64_command in_c{};
    in_c.opcode = static_cast<std::uint32_t>(command.opcode);
    in_c.flags = command.flags;
    in_c.rows = command.rows;
    in_c.count = command.count;
    in_c.passes = command.passes;
    in_c.blocks = command.blocks;
    in_c.address_low = command.address_low;
    in_c.address_high = command.address_high;
    std::uint8_t expected[kCommandBytes], found[GEMM64_COMMAND_BYTES];
    command.encode(expected);
    ASSERT_EQ(gemm64_encode(&in_c, found), 0);
    for (std::size_t byte = 0; byte < kCommandBytes; ++byte) ASSERT_EQ(found[byte], expected[byte]);
  }
}

TEST(RegistersInC, WordsAreThoseOfCpp) {
  for (std::uint32_t value = 0; value < 16; ++value) {
    EXPECT_STREQ(gemm64_error_name(value), name(static_cast<ErrorCode>(value)));
    EXPECT_STREQ(gemm64_error_text(value), text(static_cast<ErrorCode>(value)));
    EXPECT_STREQ(gemm64_engine_name(value), name(static_cast<Engine>(value)));
    EXPECT_STREQ(gemm64_opcode_name(value), name(static_cast<Opcode>(value)));
  }
}

TEST(RegistersInC, NumbersAreThoseOfCpp) {
  EXPECT_EQ(GEMM64_REG_RING_TAIL, reg::kRingTail);
  EXPECT_EQ(GEMM64_ERROR_COMMAND_MASK, field::kErrorCommand.mask());
  EXPECT_EQ(GEMM64_ERROR_COMMAND_SHIFT, field::kErrorCommand.lsb);
  EXPECT_EQ(GEMM64_COUNTERS, kCounters.size());
  EXPECT_EQ(GEMM64_COUNTERS_BASE, kCounters[0].offset);
  EXPECT_EQ(GEMM64_COUNTER_BYTES_RESULTS, counter::kBytesResults);
  EXPECT_EQ(GEMM64_WATCHDOG_RESET_VALUE, 0x100000u);
}

}  // namespace
}  // namespace gemm64
