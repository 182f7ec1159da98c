// SPDX-License-Identifier: Apache-2.0
#include "host/device/window_taps.hpp"

#include "tests/test.hpp"
#include "tests/unit/tiling/convolutions.hpp"

namespace gemm64 {
namespace {

// Against the definition of a convolution, and against where pixels lie by their numbers.
TEST(WindowTaps, MeetPixelsOfTheDefinition) {
  Geometry geometry;
  geometry.n = 4;
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const Window w = random_convolution(random, geometry.n).window;
    const WindowPlan plan = random_plan(random, w, geometry);
    const SetWindowCommand set = set_window(plan, 0);
    for (const WindowBlock& block : plan.blocks) {
      const WindowTaps taps(set, matmul_window(plan, block));
      ASSERT_EQ(taps.rows(), block.rows);
      ASSERT_EQ(taps.tiles() * w.passes(), w.tiles());
      const auto pass = draw(random, 0, w.passes() - 1);
      const auto number = draw(random, 0, static_cast<unsigned>(taps.tiles()) - 1);
      const WindowTile tile = taps.tile(pass, number);
      const std::uint32_t kernel = w.kernel_height * w.kernel_width;
      EXPECT_EQ(tile.plane, pass / w.group_passes * w.group_planes + number / kernel);
      EXPECT_EQ(tile.tap_row, number % kernel / w.kernel_width);
      EXPECT_EQ(tile.tap_column, number % w.kernel_width);
      EXPECT_EQ(tile.first_read, number % kernel == 0 && pass % w.group_passes == 0);
      for (std::uint32_t row = 0; row < block.rows; ++row) {
        const std::uint64_t out = block.first + row;
        const std::int64_t y =
            static_cast<std::int64_t>(out / w.out_width % w.out_height) * w.stride_height -
            w.pad_top + tile.tap_row * w.dilation_height;
        const std::int64_t x = static_cast<std::int64_t>(out % w.out_width) * w.stride_width -
                               w.pad_left + tile.tap_column * w.dilation_width;
        const WindowPixel pixel = taps.pixel(tile, row);
        ASSERT_EQ(pixel.row, y);
        ASSERT_EQ(pixel.column, x);
        ASSERT_EQ(pixel.inside, y >= 0 && y < w.height && x >= 0 && x < w.width);
        if (!pixel.inside) continue;
        const std::uint64_t image = out / w.out_width / w.out_height;
        const std::uint64_t place = (image * w.height + static_cast<std::uint64_t>(y)) * w.width +
                                    static_cast<std::uint64_t>(x);
        ASSERT_EQ(pixel.slot, place % plan.capacity);
      }
    }
  }
}

}  // namespace
}  // namespace gemm64
