// SPDX-License-Identifier: Apache-2.0
#include "host/device/device_memory.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes read(OwnMemory& memory, std::uint64_t address, std::uint64_t bytes) {
  Bytes scratch;
  const std::uint8_t* const from = memory.read(address, bytes, scratch);
  return {from, from + bytes};
}

TEST(OwnMemory, ShowsPlacedBytesWhereTheyLie) {
  OwnMemory memory(1000);
  const SharedBytes bytes(Bytes{1, 2, 3, 4});
  memory.place(10, bytes);
  Bytes scratch;
  EXPECT_EQ(memory.read(11, 3, scratch), bytes.data() + 1);
  EXPECT_EQ(read(memory, 8, 8), (Bytes{0, 0, 1, 2, 3, 4, 0, 0}));
}

TEST(OwnMemory, KeepsPlacedBytes) {
  OwnMemory memory(1000);
  memory.place(10, Bytes{1, 2, 3, 4});
  EXPECT_EQ(read(memory, 10, 4), (Bytes{1, 2, 3, 4}));
}

TEST(OwnMemory, WritesNextToPlacedBytes) {
  OwnMemory memory(1000);
  const SharedBytes bytes(Bytes{1, 2, 3, 4});
  memory.place(10, bytes);
  const Bytes two{8, 9};
  memory.write(11, two.data(), two.size());
  EXPECT_EQ(read(memory, 9, 6), (Bytes{0, 1, 8, 9, 4, 0}));
  EXPECT_EQ(bytes.data()[1], 2);
}

TEST(OwnMemory, IsTheSameWrittenOrPlaced) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    OwnMemory written(200), placed(200);
    for (int step = 0; step < 30; ++step) {
      const std::uint64_t address = random() % 200;
      Bytes bytes(random() % (201 - address));
      for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
      written.write(address, bytes.data(), bytes.size());
      if (random() % 2 != 0) {
        placed.place(address, bytes);
      } else {
        placed.write(address, bytes.data(), bytes.size());
      }
      ASSERT_EQ(read(placed, 0, 200), read(written, 0, 200)) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace gemm64
