// SPDX-License-Identifier: Apache-2.0
#include <Vstage_r2.h>

#include <array>
#include <deque>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kN = 4;
constexpr unsigned kRows = 2;

/// What the stage must do, from its past inputs: column c multiplies the activations of c + 1
/// clocks ago by the weights written up to a clock ago, and shows the sum a clock later.
class Oracle {
 public:
  void clock(const Vstage_r2& inputs) {
    for (unsigned c = 0; c < kN; ++c) {
      std::uint32_t sum = lane<std::uint32_t>(inputs.sum_i, c);
      for (unsigned r = 0; r < kRows && past_.size() > c; ++r) {
        sum += static_cast<std::uint32_t>(past_[c][r] * weights_[r][c]);
      }
      sums[c] = sum;
    }
    past_.push_front(
        {lane<std::int8_t>(inputs.activation_i, 0), lane<std::int8_t>(inputs.activation_i, 1)});
    if (inputs.weight_valid_i) {
      for (unsigned r = 0; r < kRows; ++r) {
        weights_[r][inputs.weight_column_i] = lane<std::int8_t>(inputs.weight_i, r);
      }
    }
  }

  std::array<std::uint32_t, kN> sums{};  // sum_o in the next clock

 private:
  std::deque<std::array<std::int8_t, kRows>> past_;
  std::array<std::array<std::int8_t, kN>, kRows> weights_{};
};

TEST(Stage, ShowsColumnZeroTwoClocksAfterItsActivationsAndEachNextOneLater) {
  Bench<Vstage_r2> bench;
  const auto clock = [&bench](unsigned activation) {
    set_lane(bench->activation_i, 0, static_cast<std::uint8_t>(activation));
    bench.settle();
  };
  bench->activation_i = 0;
  for (unsigned c = 0; c < kN; ++c) set_lane(bench->sum_i, c, 0u);
  bench->weight_valid_i = 1;
  bench->weight_i = 0x0101;
  for (unsigned c = 0; c < 2 * kN; ++c) {
    bench->weight_column_i = c % kN;
    bench.step();
  }
  bench->weight_valid_i = 0;
  for (unsigned t = 0; t < 10; ++t) {
    clock(t == 0 ? 5 : 0);
    for (unsigned c = 0; c < kN; ++c) {
      EXPECT_EQ(lane<std::uint32_t>(bench->sum_o, c), t == 2 + c ? 5u : 0u) << c << " " << t;
    }
    bench.edge();
  }
}

TEST(Stage, HandsWeightRequestsOnAClockLater) {
  Bench<Vstage_r2> bench;
  std::mt19937 random(1);
  bool valid = false;
  unsigned column = 0;
  for (unsigned t = 0; t < 100; ++t) {
    bench->weight_valid_i = random() % 2;
    bench->weight_column_i = random() % kN;
    bench.settle();
    if (t > 0) {
      EXPECT_EQ(bench->weight_valid_o, valid);
      EXPECT_EQ(bench->weight_column_o, column);
    }
    valid = bench->weight_valid_i;
    column = bench->weight_column_i;
    bench.edge();
  }
}

TEST(Stage, ResetEndsAWeightRequest) {
  Bench<Vstage_r2> bench;
  bench->weight_valid_i = 1;
  bench->rst_ni = 0;
  bench.step();
  bench.settle();
  EXPECT_EQ(bench->weight_valid_o, 0);
}

TEST(Stage, AgreesWithTheOracleWhenEverythingChangesInEveryClock) {
  for_seeds(20, [](std::mt19937& random) {
    Bench<Vstage_r2> bench;
    Oracle oracle;
    for (unsigned t = 0; t < 200; ++t) {
      bench->weight_valid_i = t < kN || random() % 2 != 0;
      bench->weight_column_i =
          static_cast<std::uint8_t>(t < kN ? t : random() % kN);  // no weight stays unknown
      set_noise(bench->weight_i, random);
      set_noise(bench->activation_i, random);
      if (random() % 4 == 0) bench->activation_i = 0x8080;  // -128, the operand without a negative
      if (random() % 4 == 0) bench->weight_i = 0x8080;
      set_noise(bench->sum_i, random);
      bench.settle();
      for (unsigned c = 0; c < kN && t > kN + 2; ++c) {
        ASSERT_EQ(lane<std::uint32_t>(bench->sum_o, c), oracle.sums[c]) << c << " in clock " << t;
      }
      oracle.clock(*bench);
      bench.edge();
    }
  });
}

}  // namespace
}  // namespace gemm64::rtl_test
