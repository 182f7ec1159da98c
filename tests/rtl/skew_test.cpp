// SPDX-License-Identifier: Apache-2.0
#include <Vskew_l1.h>
#include <Vskew_l4.h>

#include <deque>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

TEST(Skew, DelaysEachLaneByItsIndex) {
  Bench<Vskew_l4> bench;
  std::mt19937 random(1);
  std::deque<std::uint32_t> past;  // the newest first
  for (unsigned t = 0; t < 200; ++t) {
    set_noise(bench->data_i, random);
    past.push_front(bench->data_i);
    bench.settle();
    for (unsigned g = 0; g < 4 && g < past.size(); ++g) {
      EXPECT_EQ(lane<std::uint8_t>(bench->data_o, g), lane<std::uint8_t>(past[g], g))
          << g << " " << t;
    }
    bench.edge();
  }
}

TEST(Skew, PassesASingleLaneAtOnce) {
  Bench<Vskew_l1> bench;
  for (unsigned t = 0; t < 256; ++t) {
    bench->data_i = static_cast<std::uint8_t>(t);
    bench.settle();
    EXPECT_EQ(bench->data_o, t);
    bench.edge();
  }
}

}  // namespace
}  // namespace gemm64::rtl_test
