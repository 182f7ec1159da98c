// SPDX-License-Identifier: Apache-2.0
#include <Vskew_l1.h>
#include <Vskew_l4.h>
#include <Vskew_l4_simulated.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

struct Word {
  bool valid;
  std::uint32_t data;
};

template <class Model>
class Skew : public testing::Test {};
using Models = testing::Types<Vskew_l4, Vskew_l4_simulated>;
TYPED_TEST_SUITE(Skew, Models);

TYPED_TEST(Skew, DelaysEachLaneByItsIndex) {
  Bench<TypeParam> bench;
  std::mt19937 random(1);
  std::deque<Word> past;  // the newest first
  for (unsigned t = 0; t < 200; ++t) {
    set_noise(bench->data_i, random);
    bench->valid_i = random() % 2;
    past.push_front({bench->valid_i != 0, bench->data_i});
    bench.settle();
    for (unsigned g = 0; g < 4 && g < past.size(); ++g) {
      EXPECT_EQ(bench->valid_o >> g & 1, past[g].valid) << g << " " << t;
      if (!past[g].valid) continue;
      EXPECT_EQ(lane<std::uint8_t>(bench->data_o, g), lane<std::uint8_t>(past[g].data, g))
          << g << " " << t;
    }
    bench.edge();
  }
}

TEST(SkewWithEnables, HoldsUntilAValidWord) {
  Bench<Vskew_l4> bench;
  std::mt19937 random(1);
  std::deque<Word> past;
  std::uint32_t before = 0;
  for (unsigned t = 0; t < 200; ++t) {
    set_noise(bench->data_i, random);
    bench->valid_i = random() % 3 == 0;
    past.push_front({bench->valid_i != 0, bench->data_i});
    bench.settle();
    for (unsigned g = 1; g < 4 && t > 4; ++g) {
      if (past[g].valid) continue;
      EXPECT_EQ(lane<std::uint8_t>(bench->data_o, g), lane<std::uint8_t>(before, g));
    }
    before = bench->data_o;
    bench.edge();
  }
}

TEST(SkewOfOneLane, PassesItAtOnce) {
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
