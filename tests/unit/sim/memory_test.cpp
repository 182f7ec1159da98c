// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/memory.hpp"

#include <sys/resource.h>

#include "tests/test.hpp"

namespace gemm64 {
namespace {

std::string out_of_range_message(Memory& memory, std::uint64_t address, std::size_t bytes) {
  std::array<std::uint8_t, 256> data{};
  return message_of<std::out_of_range>([&] { memory.write(address, data.data(), bytes); });
}

TEST(Memory, IsZeroUntilWritten) {
  Memory memory(8192);
  std::array<std::uint8_t, 64> data;
  data.fill(0xff);
  memory.read(8192 - 64, data.data(), data.size());
  EXPECT_EQ(data, (std::array<std::uint8_t, 64>{}));
}

TEST(Memory, ReadsBackOnlyWrittenBytes) {
  Memory memory(4096);
  const std::array<std::uint8_t, 5> written{1, 2, 3, 4, 5};
  memory.write(1001, written.data(), written.size());
  std::array<std::uint8_t, 7> read{};
  memory.read(1000, read.data(), read.size());
  EXPECT_EQ(read, (std::array<std::uint8_t, 7>{0, 1, 2, 3, 4, 5, 0}));
  EXPECT_EQ(*memory.at(1003, 1), 3);
}

TEST(Memory, TakesTheLastByteAndRefusesTheNext) {
  Memory memory(100);
  std::uint8_t byte = 7;
  memory.write(99, &byte, 1);
  byte = 0;
  memory.read(99, &byte, 1);
  EXPECT_EQ(byte, 7);
  EXPECT_THROW(memory.write(100, &byte, 1), std::out_of_range);
  EXPECT_THROW(memory.read(100, &byte, 1), std::out_of_range);
  EXPECT_NO_THROW(memory.read(100, nullptr, 0));
}

TEST(Memory, RefusesARangeThatWrapsAround) {
  Memory memory(4096);
  std::uint8_t byte = 0;
  constexpr auto kTop = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THROW(memory.read(kTop, &byte, 1), std::out_of_range);
  EXPECT_THROW(memory.read(1, &byte, std::numeric_limits<std::size_t>::max()), std::out_of_range);
}

TEST(Memory, CopiesNothingOfARangeThatEndsOutside) {
  Memory memory(100);
  const std::array<std::uint8_t, 2> data{1, 2};
  EXPECT_THROW(memory.write(99, data.data(), data.size()), std::out_of_range);
  EXPECT_EQ(*memory.at(99, 1), 0);
}

TEST(Memory, SaysAddressSizeAndItsOwnSize) {
  Memory memory(4096);
  EXPECT_EQ(out_of_range_message(memory, 0xff8, 16),
            "write of 16 bytes at address 0xff8 is outside the memory of 4096 bytes");
}

TEST(Memory, ReservesFourGibibytesUntouched) {
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  Memory memory;
  EXPECT_EQ(memory.size(), std::uint64_t{4} << 30);
  const std::uint32_t value = 0x12345678;
  memory.write(memory.size() - 4, &value, 4);
  std::uint32_t read = 0;
  memory.read(memory.size() - 4, &read, 4);
  EXPECT_EQ(read, value);
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 8 * 1024) << "kilobytes of real memory";
}

TEST(Memory, RefusesNoBytesAndMoreThanTheSystemHas) {
  EXPECT_THROW(Memory(0), UsageError);
  Memory large(std::uint64_t{1} << 62);
  const std::uint8_t byte = 1;
  EXPECT_THROW(large.write((std::uint64_t{1} << 62) - 1, &byte, 1), UsageError);
}

TEST(Memory, KnowsBytesBeforePendingWrites) {
  Memory memory(4096);
  const auto write = [&memory](std::uint64_t address, std::vector<std::uint8_t> bytes) {
    memory.begin_write(address, bytes.size());
    memory.write(address, bytes.data(), bytes.size());
  };
  using Bytes = std::vector<std::uint8_t>;
  const Bytes first{1, 2, 3, 4};
  memory.write(100, first.data(), first.size());
  EXPECT_FALSE(memory.is_written());
  write(100, {11, 12});
  write(101, {22, 23});
  EXPECT_TRUE(memory.is_written());
  EXPECT_EQ(memory.bytes_before_writes(99, 6), (Bytes{0, 1, 2, 3, 4, 0}));
  EXPECT_EQ(memory.bytes_before_writes(103, 4), Bytes());  // none of these
  EXPECT_EQ(memory.bytes_before_writes(96, 4), Bytes());
  memory.end_write();  // the older one is answered
  EXPECT_EQ(memory.bytes_before_writes(99, 6), (Bytes{0, 11, 12, 3, 4, 0}));
  memory.end_write();
  EXPECT_FALSE(memory.is_written());
  EXPECT_EQ(memory.bytes_before_writes(99, 6), Bytes());
}

}  // namespace
}  // namespace gemm64
