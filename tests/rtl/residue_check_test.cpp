// SPDX-License-Identifier: Apache-2.0
// What of a column of sums is found wrong: in memory, in what was read of it, in an addition.
#include <Vresidue_check_r4.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kRows = 4;

/// A column of the accumulator with its check. `upset` changes the next sum that is written.
class Column {
 public:
  Column() {
    bench_->read_0_i = bench_->read_1_i = bench_->add_0_i = bench_->add_1_i = 0;
    bench_->lanes_0_i = bench_->lanes_1_i = bench_->shown_i = 0;
  }

  /// A sum from the array: the old one is read a cycle before.
  void add(unsigned bank, unsigned row, std::uint32_t sum, bool first) {
    bench_->first_i = first;
    if (!first) {
      bench_->row_0_i = bench_->row_1_i = static_cast<std::uint8_t>(row);
      (bank == 0 ? bench_->read_0_i : bench_->read_1_i) = 1;
      step();
      read_[bank] = sums[bank][row];
      bench_->read_0_i = bench_->read_1_i = 0;
    }
    (bank == 0 ? bench_->add_0_i : bench_->add_1_i) = 1;
    bench_->old_i = read_[bank];
    bench_->first_i = first;
    bench_->row_i = static_cast<std::uint8_t>(row);
    bench_->sum_i = sum;
    step();
    bench_->add_0_i = bench_->add_1_i = 0;
    sums[bank][row] = ((first ? 0 : read_[bank]) + sum) ^ upset;
    upset = 0;
  }
  void from_lanes(unsigned bank, unsigned row, std::uint32_t sum) {
    (bank == 0 ? bench_->lanes_0_i : bench_->lanes_1_i) = 1;
    bench_->lanes_row_i = static_cast<std::uint8_t>(row);
    bench_->lanes_sum_i = sum;
    step();
    bench_->lanes_0_i = bench_->lanes_1_i = 0;
    sums[bank][row] = sum ^ upset;
    upset = 0;
  }
  /// A new sum from the array and one from the lanes in the same cycle, for different banks.
  void from_both(unsigned array_bank, unsigned array_row, std::uint32_t sum, unsigned lanes_row,
                 std::uint32_t lanes_sum) {
    (array_bank == 0 ? bench_->add_0_i : bench_->add_1_i) = 1;
    bench_->first_i = 1;
    bench_->row_i = static_cast<std::uint8_t>(array_row);
    bench_->sum_i = sum;
    from_lanes(1 - array_bank, lanes_row, lanes_sum);
    bench_->add_0_i = bench_->add_1_i = 0;
    sums[array_bank][array_row] = sum;
  }
  bool wrong_when_stored(unsigned bank, unsigned row) {
    bench_->row_0_i = bench_->row_1_i = static_cast<std::uint8_t>(row);
    (bank == 0 ? bench_->read_0_i : bench_->read_1_i) = 1;
    step();
    bench_->read_0_i = bench_->read_1_i = 0;
    read_[bank] = sums[bank][row];
    bench_->shown_i = 1;
    bench_->shown_bank_i = bank != 0;
    bench_->shown_sum_i = read_[bank];
    step();
    bench_->shown_i = 0;
    bench_.settle();
    return bench_->wrong_o != 0;
  }

  std::array<std::array<std::uint32_t, kRows>, 2> sums{};
  std::uint32_t upset = 0;

 private:
  void step() { bench_.step(); }

  Bench<Vresidue_check_r4> bench_;
  std::array<std::uint32_t, 2> read_{};
};

std::uint32_t number(std::mt19937& random) {
  constexpr std::uint32_t kExtremes[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe};
  return random() % 3 == 0 ? kExtremes[random() % 6] : static_cast<std::uint32_t>(random());
}

TEST(SumCheck, FindsNothingWhereNothingIsWrong) {
  Column column;
  for_seeds(1, 20, [&](std::mt19937& random) {
    std::array<std::array<bool, kRows>, 2> begun{};
    for (unsigned t = 0; t < 300; ++t) {
      const unsigned bank = random() % 2, row = random() % kRows;
      if (!begun[bank][row] || random() % 8 == 0) {
        random() % 2 ? column.add(bank, row, number(random), true)
                     : column.from_lanes(bank, row, number(random));
        begun[bank][row] = true;
      } else if (random() % 3 != 0) {
        column.add(bank, row, number(random), false);
      } else {
        ASSERT_FALSE(column.wrong_when_stored(bank, row)) << "sum " << column.sums[bank][row];
      }
    }
  });
}

TEST(SumCheck, AcceptsBothUnitsInOneCycle) {
  Column column;
  for_seeds(1, 100, [&](std::mt19937& random) {
    const unsigned bank = random() % 2, row = random() % kRows, lanes_row = random() % kRows;
    column.from_both(bank, row, number(random), lanes_row, number(random));
    if (random() % 2 != 0) column.add(bank, row, number(random), false);
    EXPECT_FALSE(column.wrong_when_stored(bank, row)) << "of the array";
    EXPECT_FALSE(column.wrong_when_stored(1 - bank, lanes_row)) << "of the lanes";
  });
}

TEST(SumCheck, FindsEachFlipWhereverItHappens) {
  for_seeds(1, 10, [](std::mt19937& random) {
    for (unsigned bank = 0; bank < 2; ++bank) {
      for (unsigned bit = 0; bit < 32; ++bit) {
        for (unsigned when = 0; when < 4; ++when) {
          Column column;
          const std::uint32_t flip = 1u << bit;
          if (when == 0) column.upset = flip;  // the first write
          random() % 2 ? column.add(bank, 2, number(random), true)
                       : column.from_lanes(bank, 2, number(random));
          if (when == 1) column.sums[bank][2] ^= flip;  // memory
          if (when == 2) column.upset = flip;           // an addition
          column.add(bank, 2, number(random), false);
          column.add(bank, 2, number(random), false);
          if (when == 3) column.sums[bank][2] ^= flip;  // after the last one
          ASSERT_TRUE(column.wrong_when_stored(bank, 2)) << "bit " << bit << ", moment " << when;
        }
      }
    }
  });
}

}  // namespace
}  // namespace gemm64::rtl_test
