// SPDX-License-Identifier: Apache-2.0
#include "host/dut/tiling.hpp"

#include "host/dut/network_products.hpp"
#include "tests/test.hpp"

namespace gemm64::dut {
namespace {

Description array_of(Dataflow dataflow, unsigned rows, unsigned columns) {
  Description description;
  description.dataflow = dataflow;
  description.rows = rows;
  description.columns = columns;
  return description;
}

class DutTiling : public testing::TestWithParam<Dataflow> {};

/// The tiles' exact products, added, are the whole product: for any shape and array.
TEST_P(DutTiling, SumOfTilesIsTheProduct) {
  for (const auto& [rows, columns] : {std::pair{3U, 5U}, {4U, 2U}, {1U, 1U}}) {
    for (const std::uint32_t longest : {0U, 1U, 4U}) {
      Description array = array_of(GetParam(), rows, columns);
      array.max_length = longest;
      const Operands a = random_operands(7, 11, array.activations, 1);
      const Operands w = random_operands(6, 11, array.weights, 2);
      Values sum = Values::Zero(7, 6);
      for (const TilePlace& place : tiles_of(array, {7, 11, 6})) {
        const Values results = product(array, tile_at(array, a, w, place));
        for (std::int64_t m = 0; m < place.rows; ++m) {
          for (std::int64_t n = 0; n < place.columns; ++n) {
            sum(place.m + m, place.n + n) += result_at(array, results, m, n);
          }
        }
      }
      EXPECT_EQ(sum, Values((a * w.transpose()).cast<std::int64_t>()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dataflows, DutTiling,
                         testing::Values(Dataflow::kWeightStationary, Dataflow::kOutputStationary,
                                         Dataflow::kInputStationary));

TEST(DutBeats, ValuesOfAnyWidthComeBack) {
  for (int bits = 1; bits <= 16; ++bits) {
    for (const bool is_signed : {false, true}) {
      const Operand type{bits, is_signed};
      const Values values =
          random_operands(3, 7, type, static_cast<std::uint32_t>(bits)).cast<std::int64_t>();
      std::vector<std::uint8_t> bytes;
      append_beats(bytes, values, bits);
      const std::size_t beat = (static_cast<std::size_t>(bits) * 7 + 7) / 8;
      ASSERT_EQ(bytes.size(), 3 * beat);
      for (Eigen::Index row = 0; row < 3; ++row) {
        const std::vector<std::int64_t> back =
            values_of(bytes.data() + static_cast<std::size_t>(row) * beat, 7, type);
        for (Eigen::Index i = 0; i < 7; ++i)
          EXPECT_EQ(back[static_cast<std::size_t>(i)], values(row, i));
      }
    }
  }
}

/// Each product and each addition by itself, in the order of K.
TEST(DutStimulus, SaturatesEachAddition) {
  Description array = array_of(Dataflow::kWeightStationary, 3, 1);
  array.sums.bits = 8;
  array.overflow = Overflow::kSaturateEach;
  Tile tile;
  tile.weights = Values::Ones(3, 1);
  tile.activations = Values(1, 3);
  tile.activations << 100, 100, -100;
  EXPECT_EQ(product(array, tile)(0, 0), 27);
  array.product_shift = 3;
  EXPECT_EQ(product(array, tile)(0, 0), 12 + 12 - 13);
  array.round_products = true;
  EXPECT_EQ(product(array, tile)(0, 0), 13 + 13 - 12);
}

}  // namespace
}  // namespace gemm64::dut
