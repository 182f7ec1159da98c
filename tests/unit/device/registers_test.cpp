// SPDX-License-Identifier: Apache-2.0
// The generated header: what it promises beyond being generated.
#include "host/device/registers.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(Field, GetsAndPutsItsBitsOnly) {
  constexpr Field field{4, 4};
  EXPECT_EQ(field.mask(), 0xf0u);
  EXPECT_EQ(field.get(0xabcd), 0xcu);
  EXPECT_EQ(field.put(0x5), 0x50u);
  EXPECT_EQ(field.put(0xff), 0xf0u);  // what is too wide touches no neighbour
  constexpr Field whole{0, 32};
  EXPECT_EQ(whole.mask(), 0xffffffffu);
  EXPECT_EQ(whole.get(0xdeadbeef), 0xdeadbeefu);
}

TEST(Command, IsStoredAsInTheTable) {
  Command command;
  command.opcode = Opcode::kStore;
  command.flags = 0x12;
  command.rows = 0x3456;
  command.count = 0x789abcde;
  command.passes = 0x01020304;
  command.blocks = 0x05060708;
  command.set_address(0x1122334455667788);
  std::uint8_t bytes[kCommandBytes];
  command.encode(bytes);
  const std::uint8_t expected[] = {4,    0x12, 0x56, 0x34, 0xde, 0xbc, 0x9a, 0x78,
                                   4,    3,    2,    1,    8,    7,    6,    5,
                                   0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
  // In byte 24, which has no field of a STORE's yet, is the check of all others.
  unsigned check = 0;
  for (const unsigned byte : expected) check ^= byte >> 4 ^ (byte & 15);
  EXPECT_NE(check, 0u);
  for (std::size_t i = 0; i < kCommandBytes; ++i) {
    EXPECT_EQ(bytes[i], i < sizeof expected ? expected[i]
                        : i == 24           ? check << 4
                                            : 0)
        << "byte " << i;
  }
  EXPECT_EQ(Command::decode(bytes), command);
  EXPECT_EQ(command.address(), 0x1122334455667788u);
}

// KERNEL_HEIGHT and OUT_ROW lie in the same bits, and no opcode uses both.
TEST(Command, SharedBitsBelongToOpcodesField) {
  Command command;
  command.opcode = Opcode::kMatmul;
  command.kernel_height = 9;
  command.out_row = 0x1234;
  std::uint8_t bytes[kCommandBytes];
  command.encode(bytes);
  EXPECT_EQ(bytes[32] | bytes[33] << 8, 0x1234);
  EXPECT_EQ(Command::decode(bytes).out_row, 0x1234u);
  EXPECT_EQ(Command::decode(bytes).kernel_height, 0u);
  command.opcode = Opcode::kSetWindow;
  command.encode(bytes);
  EXPECT_EQ(bytes[32] | bytes[33] << 8, 9);
  EXPECT_EQ(Command::decode(bytes).kernel_height, 9u);
  EXPECT_EQ(Command::decode(bytes).out_row, 0u);
  command.opcode = Opcode::kStore;
  command.encode(bytes);
  EXPECT_EQ(bytes[32] | bytes[33] << 8, 0);
}

TEST(Command, DoesNotCutValuesThatAreTooWide) {
  std::uint8_t bytes[kCommandBytes];
  Command command;
  command.rows = 0x10000;
  EXPECT_THROW(command.encode(bytes), std::out_of_range);
  command.rows = 0xffff;
  command.flags = 0x100;
  EXPECT_THROW(command.encode(bytes), std::out_of_range);
  command.flags = 0xff;
  EXPECT_NO_THROW(command.encode(bytes));
}

TEST(Command, DescribesItself) {
  Command command;
  command.opcode = Opcode::kStore;
  command.rows = 64;
  command.count = 1;
  command.blocks = 2;
  command.stride = 128;
  command.format = 1;
  command.zero = 253;
  command.low = 128;
  command.high = 127;
  command.set_address(4096);
  EXPECT_EQ(to_string(command),
            "STORE rows=64 count=1 blocks=2 address=4096 format=1 zero=253 low=128 high=127 "
            "stride=128");
  command.opcode = static_cast<Opcode>(99);
  EXPECT_EQ(to_string(command), "unknown opcode 99");
}

TEST(Tables, HaveNoTwoEntriesInOnePlace) {
  std::set<std::uint32_t> offsets;
  for (const Register& entry : kRegisters) {
    EXPECT_EQ(entry.offset % 4, 0u) << entry.name;
    EXPECT_TRUE(offsets.insert(entry.offset).second) << entry.name;
  }
  for (const Counter& entry : kCounters) {
    EXPECT_EQ(entry.offset % 8, 0u) << entry.cause;
    EXPECT_TRUE(offsets.insert(entry.offset).second) << entry.cause;
    EXPECT_TRUE(offsets.insert(entry.offset + 4).second) << entry.cause;
  }
}

TEST(Tables, IndicesOfCountersNameThem) {
  const auto expect = [](std::size_t index, const std::string& engine, const std::string& cause) {
    EXPECT_EQ(kCounters[index].engine, engine);
    EXPECT_EQ(kCounters[index].cause, cause);
  };
  expect(counter::kTotalClocks, "total", "clocks");
  expect(counter::kWeightsWaitBuffer, "weights", "wait_buffer");
  expect(counter::kComputeCompute, "compute", "compute");
  expect(counter::kResultsIdle, "results", "idle");
  expect(counter::kBytesResults, "bytes", "results");
}

TEST(Tables, NamesOfUnknownValuesAreUnknown) {
  EXPECT_STREQ(name(ErrorCode::kWatchdog), "WATCHDOG");
  EXPECT_STREQ(name(static_cast<ErrorCode>(15)), "unknown");
  EXPECT_STREQ(text(static_cast<ErrorCode>(15)), "unknown");
  EXPECT_STREQ(name(Engine::kWeights), "weights");
  EXPECT_STREQ(name(static_cast<Engine>(15)), "unknown");
  EXPECT_STREQ(name(Opcode::kMatmul), "MATMUL");
  EXPECT_STREQ(name(static_cast<Opcode>(0)), "unknown");
}

}  // namespace
}  // namespace gemm64
