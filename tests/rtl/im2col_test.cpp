// SPDX-License-Identifier: Apache-2.0
#include <Vim2col_one.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

struct Layer {
  int kernel_height, kernel_width, stride_height, stride_width, dilation_height, dilation_width;
  int pad_top, pad_left, height, width, out_height, out_width;
  int capacity, planes, group_passes;
};

struct Block {
  int first, rows, passes;  // output pixels, counted over all images
};

int modulo(int value, int by) { return ((value % by) + by) % by; }

/// What is read, by the definition of a convolution.
struct Read {
  int place;
  bool inside, first_tap, first_pass, first_tile, last_tile;
  bool tile_end;
};

std::vector<Read> expected(const Layer& l, const Block& block) {
  std::vector<Read> reads;
  for (int pass = 0; pass < block.passes; ++pass) {
    for (int plane = 0; plane < l.planes; ++plane) {
      for (int i = 0; i < l.kernel_height; ++i) {
        for (int j = 0; j < l.kernel_width; ++j) {
          for (int r = 0; r < block.rows; ++r) {
            const int pixel = block.first + r;
            const int image = pixel / (l.out_height * l.out_width);
            const int y = pixel / l.out_width % l.out_height * l.stride_height - l.pad_top +
                          i * l.dilation_height;
            const int x = pixel % l.out_width * l.stride_width - l.pad_left + j * l.dilation_width;
            Read read{};
            read.inside = y >= 0 && y < l.height && x >= 0 && x < l.width;
            const int group = pass / l.group_passes * l.planes;
            read.place = (group + plane) * l.capacity +
                         modulo((image * l.height + y) * l.width + x, l.capacity);
            read.first_tap = i == 0 && j == 0;
            read.first_pass = pass % l.group_passes == 0;
            read.first_tile = read.first_tap && plane == 0;
            read.last_tile =
                plane == l.planes - 1 && i == l.kernel_height - 1 && j == l.kernel_width - 1;
            read.tile_end = r == block.rows - 1;
            reads.push_back(read);
          }
        }
      }
    }
  }
  return reads;
}

void set_layer(Vim2col_one& m, const Layer& l) {
  m.kernel_height_i = static_cast<std::uint8_t>(l.kernel_height);
  m.kernel_width_i = static_cast<std::uint8_t>(l.kernel_width);
  m.stride_height_i = static_cast<std::uint8_t>(l.stride_height);
  m.stride_width_i = static_cast<std::uint8_t>(l.stride_width);
  m.dilation_height_i = static_cast<std::uint8_t>(l.dilation_height);
  m.dilation_width_i = static_cast<std::uint8_t>(l.dilation_width);
  m.pad_top_i = static_cast<std::uint8_t>(l.pad_top);
  m.pad_left_i = static_cast<std::uint8_t>(l.pad_left);
  m.height_i = static_cast<std::uint16_t>(l.height);
  m.width_i = static_cast<std::uint16_t>(l.width);
  m.out_height_i = static_cast<std::uint16_t>(l.out_height);
  m.out_width_i = static_cast<std::uint16_t>(l.out_width);
  m.capacity_i = static_cast<std::uint16_t>(l.capacity);
  const int last_column = (l.out_width - 1) * l.stride_width;
  m.row_step_i =
      static_cast<std::uint16_t>(modulo(l.stride_height * l.width - last_column, l.capacity));
  m.image_step_i = static_cast<std::uint16_t>(modulo(
      (l.height - (l.out_height - 1) * l.stride_height) * l.width - last_column, l.capacity));
  m.tap_row_step_i = static_cast<std::uint16_t>(
      modulo(l.dilation_height * l.width - (l.kernel_width - 1) * l.dilation_width, l.capacity));
  m.planes_i = static_cast<std::uint16_t>(l.planes);
  m.group_passes_i = static_cast<std::uint16_t>(l.group_passes);
}

void set_block(Vim2col_one& m, const Layer& l, const Block& block) {
  const int image = block.first / (l.out_height * l.out_width);
  const int row = block.first / l.out_width % l.out_height;
  const int column = block.first % l.out_width;
  const int y = row * l.stride_height - l.pad_top;
  const int x = column * l.stride_width - l.pad_left;
  m.block_slot_i =
      static_cast<std::uint16_t>(modulo((image * l.height + y) * l.width + x, l.capacity));
  m.block_out_row_i = static_cast<std::uint16_t>(row);
  m.block_out_column_i = static_cast<std::uint16_t>(column);
  m.block_row_i = static_cast<std::uint32_t>(y) & 0x3ffff;
  m.block_column_i = static_cast<std::uint32_t>(x) & 0x3ffff;
}

Layer random_layer(std::mt19937& random) {
  const auto up_to = [&](int most) { return 1 + static_cast<int>(random() % most); };
  Layer l{};
  do {
    l = {up_to(4), up_to(4), up_to(3), up_to(3), up_to(2), up_to(2), up_to(4) - 1, up_to(4) - 1,
         up_to(9), up_to(9), 0,        0,        0,        up_to(3), up_to(3)};
    l.capacity = 3 + static_cast<int>(random() % (random() % 8 == 0 ? 65533 : 40));
    const int bottom = up_to(3) - 1, right = up_to(3) - 1;
    l.out_height = (l.height + l.pad_top + bottom - l.dilation_height * (l.kernel_height - 1) - 1) /
                       l.stride_height +
                   1;
    l.out_width = (l.width + l.pad_left + right - l.dilation_width * (l.kernel_width - 1) - 1) /
                      l.stride_width +
                  1;
  } while (l.height + l.pad_top < l.dilation_height * (l.kernel_height - 1) + 1 ||
           l.width + l.pad_left < l.dilation_width * (l.kernel_width - 1) + 1);
  return l;
}

/// Walks through a block, with up to `pauses` cycles in front of a row.
void walk(Bench<Vim2col_one>& bench, const Layer& layer, const Block& block, std::mt19937& random,
          unsigned pauses) {
  const std::vector<Read> reads = expected(layer, block);
  set_block(*bench, layer, block);
  bench->active_i = bench->load_i = 1;
  bench.step();
  bench->load_i = 0;
  for (std::size_t r = 0; r < reads.size(); ++r) {
    bench->row_i = 0;
    bench->tile_end_i = random() % 2;  // means nothing without a row
    // A tile of one row takes two cycles at least, but for the first.
    const unsigned least = block.rows == 1 && r > 0 ? 1 : 0;
    for (unsigned wait = least + random() % (pauses + 1); wait > 0; --wait) bench.step();
    bench->row_i = 1;
    bench->tile_end_i = reads[r].tile_end;
    bench.settle();
    ASSERT_EQ(bench->inside_o, reads[r].inside) << "row " << r;
    ASSERT_EQ(bench->place_o, static_cast<unsigned>(reads[r].place)) << "row " << r;
    ASSERT_EQ(bench->first_tap_o, reads[r].first_tap) << "row " << r;
    ASSERT_EQ(bench->first_pass_o, reads[r].first_pass) << "row " << r;
    ASSERT_EQ(bench->first_tile_o, reads[r].first_tile) << "row " << r;
    ASSERT_EQ(bench->last_tile_o, reads[r].last_tile) << "row " << r;
    bench.edge();
  }
  bench->row_i = 0;
}

TEST(Window, VisitsPixelsOfAConvolutionInOrder) {
  for_seeds(1, 600, [](std::mt19937& random) {
    const Layer layer = random_layer(random);
    Bench<Vim2col_one> bench(1000000, static_cast<int>(random() % 1000));
    bench->active_i = bench->load_i = bench->row_i = 0;
    bench.reset();
    set_layer(*bench, layer);
    const int pixels = 3 * layer.out_height * layer.out_width;  // three images
    const unsigned pauses = random() % 3;
    for (int first = 0; first < pixels;) {
      const int rows = std::min(1 + static_cast<int>(random() % 20), pixels - first);
      SCOPED_TRACE("pixel " + std::to_string(first));
      walk(bench, layer, {first, rows, 1 + static_cast<int>(random() % 4)}, random, pauses);
      if (testing::Test::HasFatalFailure()) return;
      first += rows;
      bench->active_i = random() % 2;  // there may be other work in between
      if (bench->active_i == 0) bench.step();
    }
  });
}

// What the upper bits of sizes are for: 150 × 200 taps, 40,000 rows, columns and passes, and
// columns that end beyond 2^17.
TEST(Window, GoesAsFarAsTheFieldsOfItsCommands) {
  struct Far {
    const char* what;
    Layer layer;
    Block block;
  };
  const Far far[] = {
      {"taps", {150, 200, 1, 1, 1, 1, 0, 0, 150, 200, 1, 1, 997, 1, 1}, {0, 1, 1}},
      {"rows", {1, 1, 1, 1, 1, 1, 0, 0, 40000, 2, 40000, 2, 997, 1, 1}, {2 * 39999, 4, 1}},
      {"columns", {1, 1, 1, 1, 1, 1, 0, 0, 2, 40000, 2, 40000, 997, 1, 1}, {39998, 4, 1}},
      {"a stride", {1, 1, 1, 4, 1, 1, 0, 0, 1, 60000, 1, 40000, 997, 1, 1}, {35000, 4, 1}},
      {"passes", {1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 3, 1, 40000}, {0, 1, 40001}}};
  for (const Far& f : far) {
    SCOPED_TRACE(f.what);
    std::mt19937 random(1);
    Bench<Vim2col_one> bench(1000000);
    bench->active_i = bench->load_i = bench->row_i = 0;
    bench.reset();
    set_layer(*bench, f.layer);
    walk(bench, f.layer, f.block, random, 0);
  }
}

// Rows and columns of 18 bits: with fewer, what is far outside would be a pixel.
TEST(Window, IsOutsideFarFromTheInput) {
  const Layer layer{1, 1, 1, 1, 1, 1, 0, 0, 9, 9, 9, 9, 81, 1, 1};
  const auto inside = [&](int row, int column) {
    Bench<Vim2col_one> bench;
    bench->active_i = bench->load_i = bench->row_i = 0;
    bench.reset();
    set_layer(*bench, layer);
    set_block(*bench, layer, {0, 2, 1});
    bench->block_row_i = static_cast<std::uint32_t>(row) & 0x3ffff;
    bench->block_column_i = static_cast<std::uint32_t>(column) & 0x3ffff;
    bench->active_i = bench->load_i = 1;
    bench.step();
    bench->load_i = 0;
    bench.settle();
    return bench->inside_o != 0;
  };
  EXPECT_TRUE(inside(5, 5));
  for (const int bit : {16, 17}) {
    for (const int far : {5 + (1 << bit), 5 - (1 << bit)}) {
      EXPECT_FALSE(inside(far, 5)) << far;
      EXPECT_FALSE(inside(5, far)) << far;
    }
  }
}

}  // namespace
}  // namespace gemm64::rtl_test
