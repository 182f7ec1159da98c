// SPDX-License-Identifier: Apache-2.0
#include <Vram_w16.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kDepth = 5;

void clock(Bench<Vram_w16>& bench, bool write, unsigned to, unsigned value, bool read,
           unsigned from) {
  bench->busy_i = write || read;  // its clock rests otherwise
  bench->write_i = write;
  bench->write_address_i = static_cast<std::uint8_t>(to);
  bench->write_data_i = static_cast<std::uint16_t>(value);
  bench->read_i = read;
  bench->read_address_i = static_cast<std::uint8_t>(from);
  bench.step();
}

TEST(Ram, ReturnsWordACycleLaterAndHoldsIt) {
  Bench<Vram_w16> bench;
  for (unsigned i = 0; i < kDepth; ++i) clock(bench, true, i, 100 + i, false, 0);
  for (unsigned i = 0; i < kDepth; ++i) {
    clock(bench, false, 0, 0, true, i);
    bench.settle();
    EXPECT_EQ(bench->data_o, 100 + i);
    clock(bench, false, i, 9, false, (i + 1) % kDepth);
    clock(bench, true, i, 200 + i, false, i);  // even while the word itself changes
    bench.settle();
    EXPECT_EQ(bench->data_o, 100 + i);
  }
}

TEST(Ram, ReadDuringWriteReturnsOldWord) {
  Bench<Vram_w16> bench;
  clock(bench, true, 3, 1, false, 0);
  clock(bench, true, 3, 2, true, 3);
  bench.settle();
  EXPECT_EQ(bench->data_o, 1);
  clock(bench, false, 0, 0, true, 3);
  bench.settle();
  EXPECT_EQ(bench->data_o, 2);
}

TEST(Ram, AgreesWithAnArrayAtRandom) {
  for_seeds(1, 10, [](std::mt19937& random) {
    Bench<Vram_w16> bench;
    std::array<unsigned, kDepth> words{};
    for (unsigned i = 0; i < kDepth; ++i) clock(bench, true, i, 0, true, 0);
    clock(bench, false, 0, 0, true, 0);
    unsigned shown = 0;
    for (unsigned t = 0; t < 300; ++t) {
      const bool write = random() % 2 != 0, read = random() % 2 != 0;
      const unsigned to = draw(random, 0, kDepth - 1), from = draw(random, 0, kDepth - 1);
      const unsigned value = draw(random, 0, 0xffff);
      clock(bench, write, to, value, read, from);
      if (read) shown = words[from];
      if (write) words[to] = value;
      bench.settle();
      ASSERT_EQ(bench->data_o, shown) << "cycle " << t;
    }
  });
}

}  // namespace
}  // namespace gemm64::rtl_test
