// SPDX-License-Identifier: Apache-2.0
#include "host/compile/strips.hpp"

#include <numeric>

#include "tests/test.hpp"

namespace gemm64 {
namespace {

using Column = std::vector<std::int64_t>;  // a map of one channel and one column

/// A layer whose weights are no two alike; zero is beyond the border.
Column layer(const Convolution& c, const Column& x) {
  const auto rows = static_cast<std::int64_t>(x.size());
  const std::int64_t span = std::int64_t{c.kernel_height - 1} * c.dilation_height + 1;
  const std::int64_t below = std::int64_t{c.out_height - 1} * c.stride_height + span -
                             std::int64_t{c.height} - c.pad_top;  // padding, or rows left over
  Column y;
  for (std::int64_t row = -std::int64_t{c.pad_top}; row + span <= rows + below;
       row += c.stride_height) {
    std::int64_t sum = 1;
    for (std::int64_t tap = 0; tap < c.kernel_height; ++tap) {
      const std::int64_t at = row + tap * c.dilation_height;
      if (at >= 0 && at < rows) sum += (3 * tap + 5) * x[static_cast<std::size_t>(at)];
    }
    y.push_back(sum % 251);
  }
  return y;
}

Convolution drawn(std::mt19937& random, std::uint32_t height) {
  const auto draw = [&random](std::uint32_t least, std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
  };
  Convolution c;
  c.height = height;
  c.kernel_height = draw(0, 2) == 0 ? 1 : draw(2, 5);
  c.dilation_height = draw(0, 3) == 0 ? 2 : 1;
  c.stride_height = draw(0, 2) == 0 ? draw(2, 3) : 1;
  c.pad_top = draw(0, c.kernel_height - 1);
  const std::uint32_t span = (c.kernel_height - 1) * c.dilation_height + 1;
  const std::uint32_t padded = height + c.pad_top + draw(0, span + 2);  // windows of only padding
  c.out_height = padded < span ? 0 : (padded - span) / c.stride_height + 1;
  return c;
}

/// What a chain gives of each strip by itself is, in the rows that count, what it gives of the map.
TEST(Strips, GiveTheMapsOwnRows) {
  std::mt19937 random(7);
  int cut = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<Convolution> chain;
    std::uint32_t height = 4 + random() % 60;
    for (std::size_t layers = 1 + random() % 4; chain.size() < layers && height != 0;) {
      chain.push_back(drawn(random, height));
      height = chain.back().out_height;
    }
    if (height == 0) continue;
    const std::uint32_t count = 2U << random() % 2;
    const auto all = cut_into_strips(chain, count);
    if (!all) continue;
    ++cut;
    ASSERT_EQ(all->size(), chain.size());
    Column map(chain[0].height);
    for (std::int64_t& value : map) value = random() % 251;
    map = layer(chain[0], map);
    std::vector<Column> strips;
    for (std::uint32_t s = 0; s < count; ++s) {
      const auto first = map.begin() + s * all->at(0).step;
      strips.emplace_back(first, first + all->at(0).rows);
    }
    for (std::size_t l = 0; l < chain.size(); ++l) {
      const Strips& own = all->at(l);
      if (l != 0) map = layer(chain[l], map);
      ASSERT_EQ(own.all_rows(), map.size());
      EXPECT_EQ(own.first_row(0), 0U);
      for (std::uint32_t s = 0; s < count; ++s) {
        if (l != 0) strips[s] = layer(chain[l], strips[s]);
        ASSERT_EQ(strips[s].size(), own.rows);
        ASSERT_LT(own.first_row(s), own.first_row(s + 1));
        for (std::uint32_t row = own.first_row(s); row < own.first_row(s + 1); ++row) {
          ASSERT_EQ(strips[s].at(row - s * own.step), map[row])
              << "case " << i << ", layer " << l << ", strip " << s << ", row " << row;
        }
      }
    }
  }
  EXPECT_GT(cut, 500);
}

TEST(Strips, HaveAsFewRowsAsTheirWindowsAllow) {
  Convolution first, second;  // rows for which a 3x3 window meets one row of the strip next to it
  first.height = first.out_height = second.height = second.out_height = 16;
  second.kernel_height = 3;
  second.pad_top = 1;
  const auto strips = cut_into_strips({first, second}, 2);
  ASSERT_TRUE(strips);
  EXPECT_EQ(strips->at(1).rows, 9U);
  EXPECT_EQ(strips->at(1).step, 7U);
  EXPECT_EQ(strips->at(1).wrong, 1U);
  EXPECT_EQ(strips->at(1).first_row(1), 8U);
  first.height = first.out_height = second.height = second.out_height = 2;
  EXPECT_FALSE(cut_into_strips({first, second}, 2)) << "all rows are at an edge";
}

TEST(Strips, LieSideBySideAndBecomeAMapAgain) {
  Tensor map(onnx::TensorProto::UINT8, {1, 3, 10, 2});
  std::iota(map.mutable_values<std::uint8_t>(), map.mutable_values<std::uint8_t>() + 60,
            std::uint8_t{0});
  const Strips strips{2, 4, 6, 1};
  const Tensor all = in_strips(map, strips);
  EXPECT_EQ(all.dims(), (Dims{1, 6, 6, 2}));
  EXPECT_EQ(strip_of(all, strips, 1).values<std::uint8_t>()[0], 8);  // row 4 of the first channel
  const Tensor again = out_of_strips(all, strips);
  ASSERT_EQ(again.dims(), map.dims());
  EXPECT_TRUE(std::equal(map.raw(), map.raw() + 60, again.raw()));
}

}  // namespace
}  // namespace gemm64
