// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/window_plan.hpp"

#include "tests/test.hpp"
#include "tests/unit/cycles/windows.hpp"
#include "tests/unit/tiling/window_program.hpp"

namespace gemm64 {
namespace {

Window random_window(std::mt19937& random) {
  Window w;
  w.images = draw(random, 1, 3);
  w.height = draw(random, 1, 12);
  w.width = draw(random, 1, 12);
  w.out_height = draw(random, 1, 12);
  w.out_width = draw(random, 1, 12);
  w.kernel_height = draw(random, 1, 5);
  w.kernel_width = draw(random, 1, 5);
  w.stride_height = draw(random, 1, 3);
  w.stride_width = draw(random, 1, 3);
  w.dilation_height = draw(random, 1, 2);
  w.dilation_width = draw(random, 1, 2);
  w.pad_top = draw(random, 0, 4);
  w.pad_left = draw(random, 0, 4);
  w.group_planes = draw(random, 1, 2);
  w.planes = w.group_planes * draw(random, 1, 2);
  return w;
}

/// Calls meet(pixel) for each input pixel that a block's taps meet.
void for_each_pixel(const Window& w, const WindowBlock& block,
                    const std::function<void(std::uint64_t)>& meet) {
  for (std::uint64_t out = block.first; out < block.first + block.rows; ++out) {
    const std::uint64_t image = out / (std::uint64_t{w.out_height} * w.out_width);
    for (std::uint32_t i = 0; i < w.kernel_height; ++i) {
      for (std::uint32_t j = 0; j < w.kernel_width; ++j) {
        const auto y =
            static_cast<std::int64_t>(out / w.out_width % w.out_height) * w.stride_height -
            w.pad_top + i * w.dilation_height;
        const auto x = static_cast<std::int64_t>(out % w.out_width) * w.stride_width - w.pad_left +
                       j * w.dilation_width;
        if (y < 0 || y >= w.height || x < 0 || x >= w.width) continue;
        meet((image * w.height + static_cast<std::uint64_t>(y)) * w.width +
             static_cast<std::uint64_t>(x));
      }
    }
  }
}

TEST(WindowPlan, LoadsPixelsOnceAndKeepsThem) {
  std::mt19937 random(1);
  Geometry geometry;
  unsigned planned = 0;
  for (int i = 0; i < 400; ++i) {
    const Window w = random_window(random);
    geometry.scratchpad_words = 20 + static_cast<std::uint32_t>(random() % 400);
    WindowPlan plan;
    try {
      plan = plan_window(w, 1 + static_cast<std::uint32_t>(random() % 30), geometry);
    } catch (const UsageError&) {
      continue;
    }
    ++planned;
    std::uint64_t loaded = 0, freed = 0, out = 0;
    for (const WindowBlock& block : plan.blocks) {
      EXPECT_EQ(block.first, out);
      out += block.rows;
      EXPECT_EQ(block.first_pixel, loaded);
      loaded += block.new_pixels;
      EXPECT_LE(loaded - freed, plan.capacity);
      for_each_pixel(w, block, [&](std::uint64_t pixel) {
        EXPECT_GE(pixel, freed);
        EXPECT_LT(pixel, loaded);
      });
      freed += block.freed_pixels;
      EXPECT_LE(freed, loaded);
    }
    EXPECT_EQ(out, w.out_pixels());
    EXPECT_EQ(freed, loaded) << "nothing is kept at the end";
    EXPECT_LE(loaded, w.pixels());
    EXPECT_EQ(plan.loaded_words(), loaded * w.planes);
    EXPECT_LE(plan.capacity * w.planes, geometry.scratchpad_words);
    if (HasFailure()) return;
  }
  EXPECT_GE(planned, 200u);
}

TEST(WindowPlan, RefusesWhatNoFieldHolds) {
  const Window fits = same(8, 1);
  EXPECT_NO_THROW(plan_window(fits, 64, Geometry{}));
  for (std::uint32_t Window::*const field :
       {&Window::kernel_height, &Window::kernel_width, &Window::stride_height,
        &Window::stride_width, &Window::dilation_height, &Window::dilation_width, &Window::height,
        &Window::width, &Window::out_height, &Window::out_width, &Window::images,
        &Window::group_planes, &Window::group_passes}) {
    Window w = fits;
    w.*field = 0;
    EXPECT_THROW(plan_window(w, std::vector<std::uint32_t>{8}, Geometry{}), UsageError);
  }
  for (std::uint32_t Window::*const field :
       {&Window::kernel_height, &Window::kernel_width, &Window::stride_height,
        &Window::stride_width, &Window::dilation_height, &Window::dilation_width, &Window::pad_top,
        &Window::pad_left}) {
    Window w = fits;
    w.*field = 256;
    EXPECT_THROW(plan_window(w, std::vector<std::uint32_t>{8}, Geometry{}), UsageError);
  }
  for (std::uint32_t Window::*const field :
       {&Window::height, &Window::width, &Window::out_height, &Window::out_width}) {
    Window w = fits;
    w.*field = 65536;
    EXPECT_THROW(plan_window(w, std::vector<std::uint32_t>{8}, Geometry{}), UsageError);
  }
}

TEST(WindowPlan, BalancesTheRowsOfBlocks) {
  EXPECT_EQ(balanced_rows(256, 128), 128u);
  EXPECT_EQ(balanced_rows(257, 128), 86u);
  EXPECT_EQ(balanced_rows(5, 128), 5u);
}

TEST(WindowPlan, ReadsTheInputTensorInPlace) {
  const WindowPlan plan = plan_window(same(56, 2), 126, Geometry{});
  EXPECT_EQ(plan.loaded_words(), 2u * 56 * 56);
  EXPECT_EQ(plan.capacity, 56u * 56) << "no more than there are";
  EXPECT_EQ(plan_window(same(56, 4), 126, Geometry{}).capacity, 9216u / 4);
  EXPECT_EQ(plan.blocks.size(), 25u);
  EXPECT_EQ(plan.blocks[0].new_pixels, 4u * 56) << "two rows and a quarter, and one below";
  EXPECT_EQ(plan.blocks[0].freed_pixels, 56u) << "row 0; the next block begins in row 2";
  EXPECT_EQ(plan.blocks[24].rows, 112u);
}

TEST(WindowPlan, MakesTheCommandsOfABlock) {
  Window w = same(5, 2);
  w.images = 2;
  w.stride_height = 2;
  w.out_height = 3;
  Geometry geometry;
  geometry.n = 8;
  geometry.scratchpad_words = 2 * 24;
  const WindowPlan plan = plan_window(w, 4, geometry);
  EXPECT_EQ(to_string(set_window(plan, -3)),
            "SET_WINDOW zero=253 kernel_height=3 kernel_width=3 stride_height=2 stride_width=1 "
            "dilation_height=1 dilation_width=1 pad_top=1 pad_left=1 height=5 width=5 out_height=3 "
            "out_width=5 row_step=6 image_step=1 tap_row_step=3 group_passes=2 capacity=24");
  // The second block: pixels 4 to 7, from the last of row 0 to the third of row 1.
  EXPECT_EQ(to_string(load_window(plan, plan.blocks[1], 1, 1, 0x1000, false)),
            "LOAD_ACTIVATIONS rows=10 count=1 passes=1 blocks=1 address=4576 stride=50 flags=8 "
            "capacity=24 slot=10 place=24");
  EXPECT_EQ(to_string(matmul_window(plan, plan.blocks[1])),
            "MATMUL flags=9 rows=4 count=2 passes=2 blocks=1 slot=22 out_row=0 out_column=4 "
            "in_row=4294967295 in_column=3 new_pixels=10 freed_pixels=5");
}

TEST(WindowPlan, CommandsWaitOnlyForEarlierOnes) {
  const WindowPlan plan = plan_window(same(20, 1), 128, Geometry{});
  WindowOperands operands;
  operands.results.format = static_cast<std::uint32_t>(ResultCode::kInt8);
  std::string order;
  for (const Command& command : window_program(plan, operands)) {
    order += static_cast<char>('0' + static_cast<int>(command.opcode));
  }
  EXPECT_EQ(order, "178234232334") << "the last block needs no new pixels";
}

TEST(WindowPlan, BalancesBlocks) {
  EXPECT_EQ(balanced_rows(784, 128), 112u);
  EXPECT_EQ(balanced_rows(129, 128), 65u);
  EXPECT_EQ(balanced_rows(49, 128), 49u);
}

std::string refusal(const Window& window, std::uint32_t rows, std::uint32_t words = 9216) {
  Geometry geometry;
  geometry.scratchpad_words = words;
  return message_of([&] { plan_window(window, rows, geometry); });
}

TEST(WindowPlan, RefusesWhatTheDeviceCannotDo) {
  EXPECT_EQ(refusal(same(56, 1), 112, 4 * 56), "");
  EXPECT_THAT(refusal(same(56, 1), 112, 4 * 56 - 1),
              Says("112 output pixels from 112 on need 224 pixels of 1 planes at once, and "
                   "223 words hold 223"));
  EXPECT_THAT(refusal(same(56, 300), 128, 299), Says("does not fit the scratchpad of 299"));
  EXPECT_THAT(refusal(same(56, 1), 257),
              Says("block of output pixels is 257; the device takes 1 to 256"));
  Window w = same(56, 1);
  w.kernel_width = 256;
  EXPECT_THAT(refusal(w, 1), Says("kernel width is 256"));
  w = same(56, 3);
  w.group_planes = 2;
  EXPECT_THAT(refusal(w, 1), Says("3 planes are no multiple of the 2 of a group"));
}

}  // namespace
}  // namespace gemm64
