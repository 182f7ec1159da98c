// SPDX-License-Identifier: Apache-2.0
#include "sim/models/column_steps.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace gemm64::column_steps {
namespace {

constexpr int kRows = 16;

struct Model {
  std::uint32_t sums[kColumns][2][kRows];
  std::uint32_t last[kColumns][2];
};

constexpr Places in_order() {
  Places places{};
  for (std::uint32_t c = 0; c < kColumns; ++c) {
    places.sums[c] = offsetof(Model, sums) + c * sizeof(Model::sums[0]);
    places.last[c] = offsetof(Model, last) + c * sizeof(Model::last[0]);
  }
  return places;
}

/// Columns 1 and 2 the other way around.
constexpr Places shuffled() {
  Places places = in_order();
  for (auto* at : {places.sums, places.last}) {
    const std::uint32_t first = at[1];
    at[1] = at[2];
    at[2] = first;
  }
  return places;
}

constexpr Places kInOrder = in_order();
constexpr Places kShuffled = shuffled();

/// Column by column, as gemm64_accumulator_column.v has it: shares nothing with accumulate().
template <class Bank>
void expected(std::vector<std::vector<std::uint32_t>>& sums, std::vector<std::uint32_t>& last,
              const Bank& bank) {
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (*bank.busy[c / kGroup] == 0) continue;
    const bool read = (bank.read >> c) % 2 != 0;
    const std::size_t from = bank.store ? bank.store_row : c == 0 ? bank.head : bank.row[c - 1];
    const std::uint32_t old = sums[c][from];
    if (bank.lanes) {
      sums[c][bank.lanes_row] = bank.lanes_sum[c];
    } else if ((bank.add >> c) % 2 != 0) {
      const std::uint32_t addend = (bank.first >> c) % 2 != 0 ? 0 : last[c];
      sums[c][bank.row[c]] = addend + bank.sum[c];
    }
    if (read) last[c] = old;
  }
}

template <const Places& kPlaces>
void expect_equal(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto word = [&] { return static_cast<std::uint32_t>(random()); };
  // Each mask is empty or full in half of all cycles, as in a block's middle.
  const auto mask = [&]() -> std::uint64_t {
    const unsigned kind = word() % 4;
    const std::uint64_t bits = std::uint64_t{word()} << 32 | word();
    return kind == 0   ? 0
           : kind == 1 ? ~std::uint64_t{0}
           : kind == 2 ? bits
                       : ~std::uint64_t{0} << bits % 64;
  };
  Model model{};
  std::vector<std::vector<std::uint32_t>> sums(kColumns, std::vector<std::uint32_t>(kRows));
  std::vector<std::uint32_t> last(kColumns);
  std::array<std::uint8_t, kColumns> row{};
  std::array<std::uint8_t, kColumns / kGroup> busy{};
  std::array<std::uint32_t, kColumns> sum{}, lanes{};
  for (int cycle = 0; cycle < 3000; ++cycle) {
    for (auto& value : row) value = static_cast<std::uint8_t>(word() % kRows);
    for (auto& value : busy) value = word() % 8 != 0;
    for (auto& value : sum) value = word();
    for (auto& value : lanes) value = word();
    Bank bank{{},
              mask(),
              mask(),
              mask(),
              word() % 8 == 0,
              word() % kRows,
              word() % kRows,
              row.data(),
              sum.data(),
              word() % 8 == 0,
              word() % kRows,
              lanes.data()};
    for (std::size_t g = 0; g < busy.size(); ++g) bank.busy[g] = &busy[g];
    accumulate<kPlaces>(&model, bank);
    expected(sums, last, bank);
    for (std::size_t c = 0; c < kColumns; ++c) {
      const auto* at = reinterpret_cast<const char*>(&model);
      for (std::size_t r = 0; r < kRows; ++r) {
        const auto found =
            *reinterpret_cast<const std::uint32_t*>(at + kPlaces.sums[c] + r * sizeof(sum[0]));
        ASSERT_EQ(found, sums[c][r]) << "cycle " << cycle << ", column " << c << ", row " << r;
      }
      ASSERT_EQ(*reinterpret_cast<const std::uint32_t*>(at + kPlaces.last[c]), last[c]);
    }
  }
}

TEST(ColumnSteps, AccumulateEqualsColumnByColumn) { expect_equal<kInOrder>(1); }

TEST(ColumnSteps, AccumulateFindsColumnsInAnyOrder) {
  EXPECT_TRUE(kInOrder.regular());
  EXPECT_FALSE(kShuffled.regular());
  expect_equal<kShuffled>(2);
}

TEST(ColumnSteps, ShiftMovesEachValueByOne) {
  std::array<std::uint16_t, 5> values = {1, 2, 3, 4, 5};
  shift(values.data(), 4, 9u);
  EXPECT_EQ(values, (std::array<std::uint16_t, 5>{9, 1, 2, 3, 5}));
}

}  // namespace
}  // namespace gemm64::column_steps
