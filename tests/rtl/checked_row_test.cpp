// SPDX-License-Identifier: Apache-2.0
#include <Vchecked_row_d8.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kDelay = 8;

struct Row {
  unsigned clock;
  std::uint16_t tag;
  std::uint32_t tile;
  std::uint16_t row;
  bool starts_tile() const { return row == 0; }
  bool starts_command() const { return row == 0 && tile == 0; }
};

/// Commands of 1 to 4 tiles of 2 to 7 rows, at times with cycles between rows.
std::vector<Row> draw_rows(std::mt19937& random) {
  std::vector<Row> rows;
  unsigned clock = 3;
  for (unsigned command = 0; command < 12; ++command) {
    const auto tag = static_cast<std::uint16_t>(random());
    const unsigned tiles = draw(random, 1, 4);
    for (unsigned tile = 0; tile < tiles; ++tile) {
      const unsigned count = draw(random, 2, 7);
      for (unsigned i = 0; i < count; ++i) {
        rows.push_back({clock, tag, tile, static_cast<std::uint16_t>(i)});
        clock += random() % 4 == 0 ? draw(random, 1, 5) : 1;
      }
    }
  }
  return rows;
}

/// Rows go in, the rows `first` and `later` are found wrong; the outputs from then on, and not
/// before, is the first.
void run(Bench<Vchecked_row_d8>& bench, const std::vector<Row>& rows, std::size_t first,
         std::size_t later, std::mt19937& random) {
  const unsigned found = rows[first].clock + kDelay;
  for (unsigned t = 0; t < rows.back().clock + 2 * kDelay; ++t) {
    bench->valid_i = 0;
    bench->tile_i = random() % 2 != 0;
    bench->command_i = random() % 2 != 0;
    bench->tag_i = static_cast<std::uint16_t>(random());
    for (const Row& row : rows) {
      if (row.clock != t) continue;
      bench->valid_i = 1;
      bench->tile_i = row.starts_tile();
      bench->command_i = row.starts_command();
      bench->tag_i = row.tag;
    }
    bench->wrong_i = t == found || t == rows[later].clock + kDelay;
    bench.settle();
    ASSERT_EQ(bench->error_o != 0, t > found) << "cycle " << t;
    if (t > found) {
      ASSERT_EQ(bench->tag_o, rows[first].tag) << "cycle " << t;
      ASSERT_EQ(bench->tile_o, rows[first].tile) << "cycle " << t;
      ASSERT_EQ(bench->row_o, rows[first].row) << "cycle " << t;
    }
    bench.edge();
  }
}

TEST(CheckedRow, TellsTheFirstWrongRowUntilTheReset) {
  for_seeds(1, 40, [](std::mt19937& random) {
    Bench<Vchecked_row_d8> bench;
    for (unsigned time = 0; time < 3; ++time) {
      const std::vector<Row> rows = draw_rows(random);
      const std::size_t first = random() % rows.size();
      run(bench, rows, first, first + random() % (rows.size() - first), random);
      bench->valid_i = random() % 2 != 0;  // a row that the reset meets
      bench->wrong_i = 0;
      bench.reset();
      bench->valid_i = 0;
    }
  });
}

}  // namespace
}  // namespace gemm64::rtl_test
