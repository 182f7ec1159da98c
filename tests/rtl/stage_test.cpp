// SPDX-License-Identifier: Apache-2.0
#include <Vstage_r2.h>
#include <Vstage_r4.h>
#include <Vstage_r4_simulated.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kN = 4;
constexpr unsigned kRows = 2;

/// What the stage must do, from its past inputs: column c multiplies the activations of c + 1
/// cycles ago by the weights written up to a cycle ago, and shows the sum per cycle later.
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

  std::array<std::uint32_t, kN> sums{};  // sum_o in the next cycle

 private:
  std::deque<std::array<std::int8_t, kRows>> past_;
  std::array<std::array<std::int8_t, kN>, kRows> weights_{};
};

TEST(Stage, ColumnsFollowACycleApart) {
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

TEST(Stage, MatchesTheOracleUnderChangeEachCycle) {
  for_seeds(1, 20, [](std::mt19937& random) {
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
        ASSERT_EQ(lane<std::uint32_t>(bench->sum_o, c), oracle.sums[c]) << c << " in cycle " << t;
      }
      ASSERT_EQ(bench->edge_o, 0) << "nothing checks it";
      oracle.clock(*bench);
      bench.edge();
    }
  });
}

/// The stage as it is synthesized for N=64, with sums of 22 bits and enables, compared with the one
/// that is simulated, on the same inputs.
class Twins : public testing::Test {
 protected:
  static constexpr unsigned kStages = 16;
  static constexpr unsigned kStageRows = 4;
  static constexpr int kLeast = -128 * 127, kMost = 128 * 128;  // products

  /// `sums`: partial sums of all columns.
  void drive(bool valid, std::uint32_t activation, unsigned column, std::uint32_t weight,
             const std::array<std::int32_t, kN>& sums) {
    narrow->activation_valid_i = wide->activation_valid_i = valid;
    narrow->activation_i = wide->activation_i = activation;
    narrow->weight_valid_i = wide->weight_valid_i = 1;
    narrow->weight_column_i = wide->weight_column_i = static_cast<std::uint8_t>(column);
    narrow->weight_i = wide->weight_i = weight;
    for (unsigned c = 0; c < kN; ++c) {
      set_lane(wide->sum_i, c, sums[c]);
      for (unsigned bit = 0; bit < kWidth; ++bit) {
        const unsigned at = kWidth * c + bit;
        const std::uint32_t mask = std::uint32_t{1} << at % 32;
        std::uint32_t& word = narrow->sum_i[at / 32];
        word = (sums[c] >> bit & 1) != 0 ? word | mask : word & ~mask;
      }
    }
    narrow.settle();
    wide.settle();
    valid_ = valid_ << 1 | static_cast<unsigned>(valid);
  }

  void edge() {
    narrow.edge();
    wide.edge();
  }

  /// Whether a row reached the sum of column c, which both show now.
  bool shown(unsigned c) const { return (valid_ >> (c + 2) & 1) != 0; }

  std::int32_t narrow_sum(unsigned c) {
    std::uint32_t sum = 0;
    for (unsigned bit = 0; bit < kWidth; ++bit) {
      const unsigned at = kWidth * c + bit;
      sum |= (narrow->sum_o[at / 32] >> at % 32 & 1) << bit;
    }
    return static_cast<std::int32_t>(sum << (32 - kWidth)) >> (32 - kWidth);
  }
  std::int32_t wide_sum(unsigned c) { return lane<std::int32_t>(wide->sum_o, c); }

  Bench<Vstage_r4> narrow;
  Bench<Vstage_r4_simulated> wide;

 private:
  static constexpr unsigned kWidth = 22;
  std::uint32_t valid_ = 0;  // of the past cycles, this one's in bit 0
};

// Every partial sum that a stage of an array of N=64 can see, the extremes of each included.
TEST_F(Twins, GiveTheSameSumsBehindEveryStage) {
  std::mt19937 random(1);
  const std::uint32_t extremes[] = {0x80808080, 0x7f7f7f7f, 0x807f807f, 0x80808080};
  std::int32_t least = 0, most = 0;
  for (unsigned stage = 0; stage < kStages; ++stage) {
    const int rows = static_cast<int>(stage * kStageRows);  // added before
    for (unsigned t = 0; t < 4000; ++t) {
      std::array<std::int32_t, kN> sums;
      for (std::int32_t& sum : sums) {
        const int range = rows * (kMost - kLeast);
        const int between = static_cast<int>(random() % (static_cast<unsigned>(range) + 1));
        sum = rows * kLeast + (t % 3 == 0 ? 0 : t % 3 == 1 ? range : between);
      }
      // Operands stay for a while, so that the extremes meet in every column.
      const bool extreme = t / 64 % 2 == 0;
      const std::uint32_t activation =
          extreme ? extremes[t / 128 % 4] : static_cast<std::uint32_t>(random());
      const std::uint32_t weight =
          extreme ? extremes[t / 512 % 4] : static_cast<std::uint32_t>(random());
      drive(true, activation, t % kN, weight, sums);
      for (unsigned c = 0; c < kN && t > 2 * kN; ++c) {
        ASSERT_EQ(narrow_sum(c), wide_sum(c)) << "stage " << stage << ", column " << c;
        least = std::min(least, wide_sum(c));
        most = std::max(most, wide_sum(c));
      }
      edge();
    }
  }
  EXPECT_EQ(least, 64 * kLeast);
  EXPECT_EQ(most, 64 * kMost);
}

TEST_F(Twins, GiveTheSameSumsWhereRowsHaveGaps) {
  std::mt19937 random(2);
  std::array<std::int32_t, kN> before{};
  unsigned held = 0;
  for (unsigned t = 0; t < 20000; ++t) {
    std::array<std::int32_t, kN> sums;
    for (std::int32_t& sum : sums) sum = static_cast<std::int32_t>(random() % 1000000) - 500000;
    drive(random() % 4 == 0, static_cast<std::uint32_t>(random()), random() % kN,
          static_cast<std::uint32_t>(random()), sums);
    for (unsigned c = 0; c < kN && t > 4 * kN; ++c) {
      if (shown(c)) {
        ASSERT_EQ(narrow_sum(c), wide_sum(c)) << "column " << c << " in cycle " << t;
      } else {
        ASSERT_EQ(narrow_sum(c), before[c]) << "column " << c << " moved in cycle " << t;
        ++held;
      }
    }
    for (unsigned c = 0; c < kN; ++c) before[c] = narrow_sum(c);
    edge();
  }
  EXPECT_GT(held, 20000u);
}

}  // namespace
}  // namespace gemm64::rtl_test
