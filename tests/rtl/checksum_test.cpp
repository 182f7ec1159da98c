// SPDX-License-Identifier: Apache-2.0
#include <Vchecksum_n2r1.h>
#include <Vchecksum_n2r2.h>
#include <Vchecksum_n4r2.h>
#include <Vchecksum_n8r1_wide.h>
#include <Vchecksum_n8r4.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

template <class Model, unsigned kColumns, unsigned kRows, unsigned kBits>
struct Shape {
  using Type = Model;
  static constexpr unsigned kN = kColumns;
  static constexpr unsigned kStages = kColumns / kRows;
  static constexpr unsigned kStageRows = kRows;
  static constexpr unsigned kSumBits = kBits;
  static constexpr unsigned kLatency = kN + kStages + 3;  // as the header says
};

/// What the array does with tiles that follow each other, and the expected reports.
template <class Shape>
class Checksum : public testing::Test {
 protected:
  static constexpr unsigned kN = Shape::kN;
  using Bytes = std::array<std::int8_t, kN>;
  using Sums = std::array<std::int32_t, kN>;

  struct Row {
    unsigned clock;  // in which it enters
    Bytes bytes;     // as it entered
    Bytes edge;      // as it left
    unsigned tile;
    Sums sums{};
    bool wrong = false;
  };
  struct Column {
    unsigned clock;
    unsigned index;
    Bytes weights;
  };

  /// Tiles of 1 to 3 N rows, each a cycle or more after the one before.
  void draw_tiles(std::mt19937& random, unsigned tiles, bool extreme) {
    rows_.clear();
    columns_.clear();
    weights_.resize(tiles);
    starts_.clear();
    const auto byte = [&] {
      return static_cast<std::int8_t>(extreme ? (random() % 2 == 0 ? -128 : 127) : random());
    };
    unsigned start = 2;
    for (unsigned tile = 0; tile < tiles; ++tile) {
      starts_.push_back(start);
      for (unsigned c = 0; c < kN; ++c) {
        for (std::int8_t& weight : weights_[tile][c]) weight = byte();
        columns_.push_back({start + c, c, weights_[tile][c]});
      }
      const unsigned count = draw(random, 1, 3 * kN);
      unsigned clock = start;
      for (unsigned i = 0; i < count; ++i, ++clock) {
        if (i != 0 && random() % 8 == 0) clock += draw(random, 1, 3);  // a row may wait
        Row row{clock, {}, {}, tile};
        for (std::int8_t& value : row.bytes) value = byte();
        row.edge = row.bytes;
        add_up(row);
        rows_.push_back(row);
      }
      start = std::max(clock, start + kN) + (random() % 2 == 0 ? 0 : draw(random, 0, 2 * kN));
    }
    end_ = start + 3 * kN + 8;
  }

  /// The sums of the row as it left.
  void add_up(Row& row) const {
    for (unsigned c = 0; c < kN; ++c) {
      row.sums[c] = 0;
      for (unsigned k = 0; k < kN; ++k) row.sums[c] += row.edge[k] * weights_[row.tile][c][k];
    }
  }

  Row& any_row(std::mt19937& random) { return rows_[random() % rows_.size()]; }

  unsigned start_of(unsigned tile) const { return starts_[tile]; }

  /// Only wrong rows are reported, each in its cycle, but for those that the reset met: rst_ni is
  /// low in cycle `reset_at`, where that is not 0.
  void run(std::mt19937& random, unsigned reset_at = 0) {
    Bench<typename Shape::Type> bench;
    std::vector<bool> wrong(end_ + 1);
    for (const Row& row : rows_) {
      const unsigned reported = row.clock + Shape::kLatency;
      if (row.wrong && (row.clock > reset_at || reported <= reset_at)) wrong.at(reported) = true;
    }
    for (unsigned t = 0; t < end_; ++t) {
      drive(*bench, t, random);
      bench->rst_ni = t != reset_at || reset_at == 0;
      bench.settle();
      ASSERT_EQ(bench->wrong_o != 0, wrong[t]) << "cycle " << t;
      bench.edge();
    }
  }

 private:
  /// Inputs of clock t; what means nothing is noise.
  void drive(typename Shape::Type& check, unsigned t, std::mt19937& random) {
    set_noise(check.weight_i, random);
    set_noise(check.activation_i, random);
    set_noise(check.edge_i, random);
    set_noise(check.sum_i, random);
    check.weight_column_i = static_cast<std::uint8_t>(random() % kN);
    check.weight_valid_i = 0;
    check.activation_valid_i = 0;
    for (const Column& column : columns_) {
      if (column.clock != t) continue;
      check.weight_valid_i = 1;
      check.weight_column_i = static_cast<std::uint8_t>(column.index);
      for (unsigned k = 0; k < kN; ++k) set_lane(check.weight_i, k, column.weights[k]);
    }
    for (const Row& row : rows_) {
      if (row.clock == t) {
        check.activation_valid_i = 1;
        for (unsigned k = 0; k < kN; ++k) set_lane(check.activation_i, k, row.bytes[k]);
      }
      for (unsigned k = 0; k < kN; ++k) {
        if (t == row.clock + 1 + kN + k / Shape::kStageRows) set_lane(check.edge_i, k, row.edge[k]);
      }
      for (unsigned c = 0; c < kN; ++c) {
        if (t == row.clock + 1 + Shape::kStages + c) set_lane(check.sum_i, c, row.sums[c]);
      }
    }
  }

  std::vector<std::array<Bytes, kN>> weights_;  // of each tile: column by column
  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::vector<unsigned> starts_;
  unsigned end_ = 0;
};

using Shapes = testing::Types<Shape<Vchecksum_n2r1, 2, 1, 17>, Shape<Vchecksum_n2r2, 2, 2, 17>,
                              Shape<Vchecksum_n4r2, 4, 2, 18>, Shape<Vchecksum_n8r4, 8, 4, 19>,
                              Shape<Vchecksum_n8r1_wide, 8, 1, 32>>;
TYPED_TEST_SUITE(Checksum, Shapes);

TYPED_TEST(Checksum, RightSumsAreNeverFoundWrong) {
  for_seeds(1, 40, [this](std::mt19937& random) {
    this->draw_tiles(random, 8, random() % 4 == 0);
    this->run(random);
  });
}

TYPED_TEST(Checksum, OneWrongResultOfARowIsFoundWhateverItIs) {
  for_seeds(1, 40, [this](std::mt19937& random) {
    this->draw_tiles(random, 6, random() % 4 == 0);
    for (unsigned i = 0; i < 5; ++i) {
      auto& row = this->any_row(random);
      if (row.wrong) continue;
      row.wrong = true;
      std::int32_t& sum = row.sums[random() % TypeParam::kN];
      // A bit of the partial sum, or any other sum
      const unsigned bit = static_cast<unsigned>(random() % TypeParam::kSumBits);
      const std::uint32_t mask = random() % 2 == 0 ? 1u << bit : (2u << bit) - 1;
      sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) ^ mask);
    }
    this->run(random);
  });
}

TYPED_TEST(Checksum, AWrongActivationIsFoundThoughAllSumsOfItsRowAgreeWithIt) {
  for_seeds(1, 40, [this](std::mt19937& random) {
    this->draw_tiles(random, 6, false);
    for (unsigned i = 0; i < 5; ++i) {
      auto& row = this->any_row(random);
      if (row.wrong) continue;
      row.wrong = true;
      const std::size_t k = random() % TypeParam::kN;
      // As if the byte had been another one for all columns: sums that its checksum agrees with
      row.edge[k] = static_cast<std::int8_t>(row.edge[k] ^ (1 + random() % 255));
      this->add_up(row);
    }
    this->run(random);
  });
}

TYPED_TEST(Checksum, RowsThatAResetMeetsAreForgotten) {
  for_seeds(1, 20, [this](std::mt19937& random) {
    this->draw_tiles(random, 8, false);
    for (unsigned i = 0; i < 20; ++i) {
      auto& row = this->any_row(random);
      if (row.wrong) continue;
      row.wrong = true;
      row.sums[0] ^= 1;
    }
    this->run(random, this->start_of(4) - 1);
  });
}

}  // namespace
}  // namespace gemm64::rtl_test
