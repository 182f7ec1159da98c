// SPDX-License-Identifier: Apache-2.0
// Small numbers, of which every sum is exact; float_bits_test.cpp has the order of others.
#include "host/kernels/block_product.hpp"

#include <gtest/gtest.h>

namespace gemm64 {
namespace {

/// Each sum of a row's blocks times the column's, by the definition.
float by_definition(const BlockRows& rows, std::size_t row, const BlockColumn& column,
                    std::size_t size) {
  float sum = 0;
  for (std::size_t i = 0; i < column.values.size(); ++i) {
    const std::size_t block = i / size, of_row = row * column.steps.size() + block;
    sum += static_cast<float>(rows.values[row * column.values.size() + i]) * rows.steps[of_row] *
           static_cast<float>(column.values[i] - column.zeros[block]) * column.steps[block];
  }
  return sum;
}

TEST(BlockProduct, TakesEveryValueWithItsBlocksStepsAndZeroPoint) {
  for (const std::size_t size : {16, 32, 64, 128, 256}) {
    for (const std::size_t blocks : {1, 2, 3, 5, 8, 9, 11}) {
      BlockRows rows{3, {}, {}};
      BlockColumn column;
      for (std::size_t i = 0; i < 3 * blocks * size; ++i) {
        rows.values.push_back(static_cast<std::int8_t>(static_cast<int>(i * 7 % 19) - 9));
      }
      for (std::size_t i = 0; i < blocks * size; ++i) {
        column.values.push_back(static_cast<std::uint8_t>(i * 5 % 16));
      }
      for (std::size_t i = 0; i < 3 * blocks; ++i) {
        rows.steps.push_back(static_cast<float>(1 + i % 3));
      }
      for (std::size_t block = 0; block < blocks; ++block) {
        column.steps.push_back(block % 2 == 0 ? 0.5F : -2.0F);
        column.zeros.push_back(static_cast<std::uint8_t>(3 + block % 4));
      }
      const float bias = 4;
      for (const std::int64_t columns : {1, 4, 6}) {
        std::vector<float> found(static_cast<std::size_t>(3 * columns), -1);
        multiply_blocks(rows, column, static_cast<std::int64_t>(size), columns - 1, columns, &bias,
                        found.data() + columns - 1);
        for (std::size_t row = 0; row < 3; ++row) {
          const std::size_t at = (row + 1) * static_cast<std::size_t>(columns) - 1;
          EXPECT_EQ(found[at], by_definition(rows, row, column, size) + bias)
              << blocks << " of " << size << ", " << columns << " columns, row " << row;
        }
      }
    }
  }
}

}  // namespace
}  // namespace gemm64
