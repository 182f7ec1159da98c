// SPDX-License-Identifier: Apache-2.0
#include "sim/models/column_steps.hpp"

#include "tests/test.hpp"

namespace gemm64::column_steps {
namespace {

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

/// `in_step`: rows follow each other as they do in a block; else each column has any.
void expect_equal(std::uint32_t seed, bool in_step) {
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
  const auto bank_sums = std::make_unique<Sums>(), grouped = std::make_unique<Sums>();
  std::vector<std::vector<std::uint32_t>> sums(kColumns, std::vector<std::uint32_t>(kRows));
  std::vector<std::uint32_t> last(kColumns);
  std::array<std::uint8_t, kColumns> row{};
  unsigned head = 0;
  std::array<std::uint8_t, kColumns / kGroup> busy{};
  std::array<std::uint32_t, kColumns> sum{}, lanes{};
  for (int cycle = 0; cycle < 3000; ++cycle) {
    const unsigned next = in_step && word() % 8 != 0 ? head + 1 : word();
    shift(row.data(), row.size(), head);
    head = next % kRows;
    if (!in_step) {
      for (auto& value : row) value = static_cast<std::uint8_t>(word() % kRows);
    }
    for (auto& value : busy) value = word() % 8 != 0;
    for (auto& value : sum) value = word();
    for (auto& value : lanes) value = word();
    Bank bank{{},   mask(),     mask(),     mask(),          word() % 8 == 0, word() % kRows,
              head, row.data(), sum.data(), word() % 8 == 0, word() % kRows,  lanes.data()};
    for (std::size_t g = 0; g < busy.size(); ++g) bank.busy[g] = &busy[g];
    accumulate(*bank_sums, bank);
    accumulate_groups(*grouped, bank);
    ASSERT_EQ(std::memcmp(bank_sums.get(), grouped.get(), sizeof(Sums)), 0) << "cycle " << cycle;
    expected(sums, last, bank);
    std::array<std::uint32_t, kColumns> shown{};
    show(*bank_sums, shown.data(), shown.size());
    for (unsigned c = 0; c < kColumns; ++c) {
      for (unsigned r = 0; r < kRows; ++r) {
        ASSERT_EQ(bank_sums->at(r, c), sums[c][r]) << cycle << ": column " << c << ", row " << r;
      }
      ASSERT_EQ(shown[c], last[c]) << "cycle " << cycle << ", column " << c;
    }
  }
}

TEST(ColumnSteps, AccumulateEqualsColumnsInStep) { expect_equal(1, true); }

TEST(ColumnSteps, AccumulateEqualsAnyRows) { expect_equal(2, false); }

TEST(ColumnSteps, ShiftMovesEachValueByOne) {
  std::array<std::uint16_t, 5> values = {1, 2, 3, 4, 5};
  shift(values.data(), 4, 9u);
  EXPECT_EQ(values, (std::array<std::uint16_t, 5>{9, 1, 2, 3, 5}));
}

}  // namespace
}  // namespace gemm64::column_steps
