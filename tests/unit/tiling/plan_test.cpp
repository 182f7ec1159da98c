// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/plan.hpp"

#include "tests/test.hpp"
#include "tests/unit/tiling/plans.hpp"

namespace gemm64 {
namespace {

std::uint64_t ceiling(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

TEST(Plan, TilesPadByLessThanOneTile) {
  for_plans(1, 40, kAnySize,
            [](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
              SCOPED_TRACE(describe(shape, geometry));
              const Plan plan = make_plan(shape, accumulate, geometry);
              EXPECT_EQ(plan.array, geometry.n);
              EXPECT_EQ(plan.k_tiles, ceiling(shape.k, geometry.n));
              EXPECT_EQ(plan.n_tiles, ceiling(shape.n, geometry.n));
              EXPECT_EQ(plan.tiles(), std::uint64_t{plan.k_tiles} * plan.n_tiles);
              EXPECT_EQ(plan.result_blocks(),
                        accumulate == Accumulate::kDevice ? plan.n_tiles : plan.tiles());
            });
}

TEST(Plan, BlocksCoverRowsOnceEvenly) {
  for_plans(2, 40, kAnySize,
            [](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
              SCOPED_TRACE(describe(shape, geometry));
              const Plan plan = make_plan(shape, accumulate, geometry);
              ASSERT_GE(plan.groups.size(), 1u);
              ASSERT_LE(plan.groups.size(), 2u);
              std::uint64_t row = 0, blocks = 0;
              for (const RowGroup& group : plan.groups) {
                EXPECT_EQ(group.first_row, row);
                EXPECT_GE(group.rows, 1u);
                EXPECT_GE(group.blocks, 1u);
                row += std::uint64_t{group.rows} * group.blocks;
                blocks += group.blocks;
              }
              EXPECT_EQ(row, shape.m);
              EXPECT_EQ(plan.row_blocks(), blocks);
              if (plan.groups.size() == 2) EXPECT_EQ(plan.groups[0].rows, plan.groups[1].rows + 1);
            });
}

TEST(Plan, HasAsFewBlocksAsTheMemoriesAllow) {
  for_plans(3, 40, kAnySize,
            [](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
              SCOPED_TRACE(describe(shape, geometry));
              const Plan plan = make_plan(shape, accumulate, geometry);
              for (const RowGroup& group : plan.groups) {
                EXPECT_LE(group.rows, geometry.accumulator_rows);
                // A tile's rows and one more burst, or a load that waits for room would wait for
                // ever.
                EXPECT_LE(group.rows + geometry.burst_beats - 1, geometry.scratchpad_words);
              }
              const std::uint64_t most = std::min(
                  geometry.accumulator_rows, geometry.scratchpad_words - geometry.burst_beats + 1);
              EXPECT_EQ(plan.row_blocks(), ceiling(shape.m, most));
            });
}

TEST(Plan, KeepsABlockOnChipExactlyWhereItFits) {
  for_plans(4, 40, kAnySize,
            [](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
              SCOPED_TRACE(describe(shape, geometry));
              const Plan plan = make_plan(shape, accumulate, geometry);
              for (const RowGroup& group : plan.groups) {
                EXPECT_EQ(group.retain,
                          std::uint64_t{group.rows} * plan.k_tiles <= geometry.scratchpad_words);
              }
            });
}

TEST(Plan, AlexNetFc6FillsTheScratchpad) {
  const Plan plan = make_plan({64, 9216, 4096}, Accumulate::kDevice, Geometry{});
  EXPECT_EQ(plan.tiles(), 9216u);
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].rows, 64u);
  EXPECT_TRUE(plan.groups[0].retain);
  EXPECT_EQ(plan.weight_bytes(), 9216u * 4096);
  EXPECT_EQ(plan.activation_bytes(), 64u * 9216);
  EXPECT_EQ(plan.result_bytes(), 64u * 4096 * 4);
}

TEST(Traffic, IsTheClosedForm) {
  for_plans(
      5, 40, kAnySize, [](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
        SCOPED_TRACE(describe(shape, geometry));
        const Plan plan = make_plan(shape, accumulate, geometry);
        const std::uint64_t n = geometry.n;
        const std::uint64_t padded_k = ceiling(shape.k, n) * n, padded_n = ceiling(shape.n, n) * n;
        Traffic expected;
        const std::uint64_t blocks = plan.row_blocks(), groups = plan.groups.size();
        // All tiles stay in their buffer if they fit.
        const bool stay = blocks > 1 && padded_k * padded_n <= geometry.weight_tiles * n * n;
        expected.weights = padded_k * padded_n * (stay ? groups : blocks);
        for (const RowGroup& group : plan.groups) {
          const bool stays =
              std::uint64_t{group.rows} * (padded_k / n) <= geometry.scratchpad_words;
          expected.activations +=
              std::uint64_t{group.rows} * group.blocks * padded_k * (stays ? 1 : padded_n / n);
        }
        expected.results =
            shape.m * padded_n * 4 * (accumulate == Accumulate::kDevice ? 1 : padded_k / n);
        expected.commands = (4 * groups + 1) * 64;
        const Traffic found = predict_traffic(plan);
        EXPECT_EQ(found.weights, expected.weights);
        EXPECT_EQ(found.activations, expected.activations);
        EXPECT_EQ(found.results, expected.results);
        EXPECT_EQ(found.commands, expected.commands);
        EXPECT_TRUE(found == expected);
      });
}

/// A convolution over a square map, padded so that the output is as large.
Convolution square_map(std::uint32_t size, std::uint32_t channels, std::uint32_t out_channels,
                       std::uint32_t kernel) {
  Convolution c;
  c.images = c.groups = 1;
  c.height = c.width = c.out_height = c.out_width = size;
  c.channels = channels;
  c.out_channels = out_channels;
  c.kernel_height = c.kernel_width = kernel;
  c.pad_top = c.pad_left = kernel / 2;
  c.stride_height = c.stride_width = c.dilation_height = c.dilation_width = 1;
  return c;
}

// Layers of ResNet-50, in blocks of 128 rows at most.
TEST(Traffic, OfWeightsIsWhatOrderAndBufferMakeOfIt) {
  const struct {
    std::uint32_t size, channels, out_channels, kernel;
    std::uint64_t bytes, blocks;
    std::uint64_t own_ports, shared;  // how often the weights are loaded
  } layers[] = {
      {56, 64, 64, 3, 36'864, 25, 1, 1},      // 9 tiles stay
      {28, 128, 512, 1, 65'536, 7, 1, 1},     // so do 16
      {28, 512, 256, 1, 131'072, 7, 7, 1},    // 4 passes of 8 tiles
      {14, 1024, 256, 1, 262'144, 2, 2, 1},   // 4 passes of 16
      {28, 128, 128, 3, 147'456, 7, 7, 4},    // a pass of 18 does not fit: blocks of both banks
      {14, 256, 256, 3, 589'824, 2, 2, 1},    // neither does one of 36
      {56, 256, 512, 1, 131'072, 25, 25, 2},  // its pixels stay in two parts
      {7, 512, 512, 3, 2'359'296, 1, 1, 1},
  };
  for (const auto& layer : layers) {
    const Convolution c = square_map(layer.size, layer.channels, layer.out_channels, layer.kernel);
    SCOPED_TRACE(to_string(c));
    const MemoryRate shared{12, true};
    const Plan own = make_plan(c, Geometry(), {}), best = make_plan(c, Geometry(), {}, shared);
    EXPECT_EQ(own.weight_bytes(), layer.bytes);
    EXPECT_EQ(own.row_blocks(), layer.blocks);
    EXPECT_EQ(predict_traffic(own).weights, layer.bytes * layer.own_ports);
    EXPECT_EQ(predict_traffic(best).weights, layer.bytes * layer.shared);
    EXPECT_EQ(predict_traffic(best).activations, predict_traffic(own).activations);
    EXPECT_EQ(predict_traffic(best).results, predict_traffic(own).results);
  }
}

TEST(Plan, TakesAnotherWindowInPlaceOfItsOwn) {
  Convolution c;
  c.images = c.groups = 1;
  c.channels = c.out_channels = 4;
  c.height = c.width = c.out_height = c.out_width = 40;
  c.kernel_height = c.kernel_width = c.stride_height = c.stride_width = 1;
  c.dilation_height = c.dilation_width = 1;
  Geometry geometry;
  geometry.n = 4;
  Plan plan = make_plan(c, geometry);
  const std::uint64_t blocks = plan.row_blocks();
  ASSERT_GT(blocks, 1U);
  set_window(plan, WindowCut(*plan.window));
  EXPECT_EQ(plan.row_blocks(), blocks);
}

TEST(Plan, CutsEachProductOfAStackByItself) {
  for_plans(
      6, 40, kAnySize, [](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
        SCOPED_TRACE(describe(shape, geometry));
        const Plan one = make_plan(shape, accumulate, geometry);
        GemmShape all = shape;
        all.m *= 3;
        const Plan stack = make_plan(all, accumulate, geometry, {}, 3);
        ASSERT_EQ(stack.groups.size(), 3 * one.groups.size());
        for (std::size_t i = 0; i < stack.groups.size(); ++i) {
          const RowGroup &found = stack.groups[i], &of_one = one.groups[i % one.groups.size()];
          const std::size_t product = i / one.groups.size();
          EXPECT_EQ(found.first_row, product * shape.m + of_one.first_row);
          EXPECT_EQ(found.rows, of_one.rows);
          EXPECT_EQ(found.blocks, of_one.blocks);
          EXPECT_EQ(found.retain, of_one.retain);
          EXPECT_EQ(stack.product_of(found.first_row), product);
        }
        EXPECT_EQ(stack.weight_bytes(), 3 * one.weight_bytes());
        const Traffic found = predict_traffic(stack), of_one = predict_traffic(one);
        EXPECT_EQ(found.weights, 3 * of_one.weights);
        EXPECT_EQ(found.activations, 3 * of_one.activations);
        EXPECT_EQ(found.results, 3 * of_one.results);
        EXPECT_EQ(found.commands, 3 * of_one.commands - 2 * 64);
      });
}

std::string usage_error(const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
  return message_of([&] { make_plan(shape, accumulate, geometry); });
}

TEST(Plan, RejectsSizesOutOfRangeByNameAndValue) {
  const std::uint64_t most = std::uint64_t{1} << 31;
  const struct {
    GemmShape shape;
    const char* text;
  } cases[] = {{{0, 1, 1}, "M is 0"},
               {{1, 0, 1}, "K is 0"},
               {{1, 1, 0}, "N is 0"},
               {{most + 1, 1, 1}, "M is 2147483649"},
               {{1, most + 1, 1}, "K is 2147483649"},
               {{1, 1, most + 1}, "N is 2147483649"},
               {{1, ~std::uint64_t{0}, 1}, "K is 18446744073709551615"}};
  for (const auto& item : cases) {
    const std::string found = usage_error(item.shape, Accumulate::kDevice, Geometry{});
    EXPECT_THAT(found, Says(item.text, "from 1 to 2147483648"));
  }
}

TEST(Plan, RejectsWhatACommandCannotHold) {
  Geometry small;
  small.n = 2;
  small.stage_rows = 2;
  const std::uint64_t most = std::uint64_t{1} << 31;
  const struct {
    GemmShape shape;
    const char* text;
  } cases[] = {
      {{1, most, most}, "2305843009213693952 words of weights"},
      {{128, most, 1}, "137438953472 words of activations in a block"},
  };
  for (const auto& item : cases) {
    const std::string found = usage_error(item.shape, Accumulate::kDevice, small);
    EXPECT_THAT(found, Says(item.text, "4294967295"));
  }
  // Parameters take eight words a tile of N, weights at least N.
  Output bytes;
  bytes.format = ResultFormat(ResultCode::kInt8);
  EXPECT_NO_THROW(make_plan({1, 2, most / 2}, Accumulate::kDevice, small));
  EXPECT_THAT(
      [&] {
        make_plan({1, 2, most / 2}, Accumulate::kDevice, small, bytes);
      },
      Fails("4294967296 words of parameters"));
}

TEST(Plan, RefusesResultsOf8BitsThatCannotBeMadeSo) {
  const auto refusal = [](const Output& output, Accumulate accumulate) -> std::string {
    return message_of([&] { make_plan({3, 4, 5}, accumulate, Geometry{}, output); });
  };
  const ResultFormat int8(ResultCode::kInt8), uint8(ResultCode::kUint8);
  EXPECT_EQ(refusal({int8, -128, -128, 127}, Accumulate::kDevice), "");
  EXPECT_EQ(refusal({uint8, 255, 0, 255}, Accumulate::kDevice), "");
  EXPECT_EQ(refusal({ResultFormat::int32(), 999, 5, 4}, Accumulate::kHost), "");  // not used
  EXPECT_THAT(refusal({int8, 0, -128, 127}, Accumulate::kHost), Says("the device must accumulate"));
  EXPECT_THAT(refusal({int8, 128, -128, 127}, Accumulate::kDevice),
              Says("zero point of 8-bit results is 128; it must be from -128 to 127"));
  EXPECT_THAT(refusal({uint8, 3, -1, 127}, Accumulate::kDevice),
              Says("lower bound of 8-bit results is -1; it must be from 0 to 255"));
  EXPECT_THAT(refusal({uint8, 3, 0, 256}, Accumulate::kDevice), Says("upper bound"));
  EXPECT_THAT(refusal({int8, 0, 5, 4}, Accumulate::kDevice),
              Says("the lower bound of 8-bit results, 5, is above the upper, 4"));
}

TEST(Plan, CountsTheTrafficOf8BitResults) {
  const Output output{ResultFormat(ResultCode::kInt8), 0, -128, 127};
  const Plan plan = make_plan({300, 100, 200}, Accumulate::kDevice, Geometry{}, output);
  const Traffic traffic = predict_traffic(plan);
  EXPECT_EQ(traffic.results, 300u * 256);
  EXPECT_EQ(traffic.parameters, 3u * 4 * 512);  // three blocks of M, four tiles of N
  EXPECT_EQ(traffic.commands, 6u * 64);
}

TEST(Plan, TakesTheLargestSizesThatFit) {
  const std::uint64_t most = std::uint64_t{1} << 31;
  EXPECT_EQ(make_plan({most, 64, 64}, Accumulate::kHost, Geometry{}).groups[0].blocks, most / 128);
  EXPECT_EQ(make_plan({1, most, 64}, Accumulate::kHost, Geometry{}).k_tiles, most / 64);
  EXPECT_EQ(make_plan({1, 64, most}, Accumulate::kHost, Geometry{}).n_tiles, most / 64);
}

}  // namespace
}  // namespace gemm64
