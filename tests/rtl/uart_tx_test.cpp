// SPDX-License-Identifier: Apache-2.0
#include <Vuart_tx_d2.h>
#include <Vuart_tx_d5.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

/// Each byte, after pauses of some cycles: the line bit by bit, and when the next byte is taken.
template <class Model>
void sends_all(unsigned divisor) {
  Bench<Model> bench;
  std::mt19937 random(divisor);
  for (unsigned byte = 0; byte < 256; ++byte) {
    bench->valid_i = 0;
    for (unsigned pause = random() % 4; pause != 0; --pause) {
      bench.settle();
      ASSERT_EQ(bench->line_o, 1);
      ASSERT_EQ(bench->ready_o, 1);
      bench.edge();
    }
    bench->valid_i = 1;
    bench->data_i = static_cast<std::uint8_t>(byte);
    bench.settle();
    ASSERT_EQ(bench->ready_o, 1) << "10 bits after the byte before";
    bench.edge();
    bench->data_i = static_cast<std::uint8_t>(~byte);
    const unsigned bits = byte << 1 | 0x200;
    for (unsigned clock = 0; clock < 10 * divisor; ++clock) {
      bench.settle();
      ASSERT_EQ(bench->line_o, bits >> clock / divisor & 1)
          << "byte " << byte << ", cycle " << clock;
      ASSERT_EQ(bench->ready_o, 0);
      bench.edge();
    }
  }
}

TEST(UartTx, SendsBitAfterBit) {
  sends_all<Vuart_tx_d2>(2);
  sends_all<Vuart_tx_d5>(5);
}

TEST(UartTx, AResetEndsAByte) {
  Bench<Vuart_tx_d5> bench;
  bench->valid_i = 1;
  bench->data_i = 0;
  for (int i = 0; i < 9; ++i) bench.step();
  bench.settle();
  EXPECT_EQ(bench->line_o, 0);
  bench->valid_i = 0;
  bench.reset();
  bench.settle();
  EXPECT_EQ(bench->line_o, 1);
  EXPECT_EQ(bench->ready_o, 1);
}

}  // namespace
}  // namespace gemm64::rtl_test
