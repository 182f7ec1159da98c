// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/packing.hpp"

#include "tests/test.hpp"
#include "tests/unit/tiling/plans.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kFewProducts = 300'000;

MatrixI8 random_matrix(std::mt19937& random, std::uint64_t rows, std::uint64_t columns) {
  MatrixI8 matrix(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  for (Eigen::Index i = 0; i < matrix.size(); ++i) {
    matrix.data()[i] = static_cast<std::int8_t>(1 + random() % 127);  // only padding is zero
  }
  return matrix;
}

std::int8_t at_or_zero(const MatrixI8& matrix, std::uint64_t row, std::uint64_t column) {
  const auto r = static_cast<Eigen::Index>(row), c = static_cast<Eigen::Index>(column);
  return r < matrix.rows() && c < matrix.cols() ? matrix(r, c) : std::int8_t{0};
}

TEST(PackWeights, OrdersTilesByUseAndPadsWithZeros) {
  std::mt19937 random(11);
  for_plans(10, 10, kFewProducts,
            [&](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
              SCOPED_TRACE(describe(shape, geometry));
              const Job job = make_job("packed", shape, accumulate, geometry);
              const Plan& plan = job.plan;
              const MatrixI8 weights = random_matrix(random, shape.n, shape.k);
              const std::vector<std::uint8_t> packed = pack_weights(job, weights);
              ASSERT_EQ(packed.size(), plan.weight_bytes());
              const std::uint64_t n = geometry.n;
              std::size_t wrong = 0;
              for (std::size_t at = 0; at < packed.size(); ++at) {
                const std::uint64_t k_in_tile = at % n, column = at / n % n, tile = at / (n * n);
                const std::uint64_t row = tile / plan.k_tiles * n + column;
                const std::uint64_t k = tile % plan.k_tiles * n + k_in_tile;
                wrong += static_cast<std::int8_t>(packed[at]) != at_or_zero(weights, row, k);
              }
              EXPECT_EQ(wrong, 0u);
            });
}

TEST(PackWeights, LeavesLanesAheadOfAPartEmpty) {
  Geometry geometry;
  geometry.n = 4;
  for (const std::uint32_t ahead : {0U, 1U, 3U}) {
    Output output{ResultFormat(ResultCode::kInt8), 0, -128, 127};
    output.vector = StoreCommand{};
    output.part = ResultPart{ahead, 8};
    const Job job = make_job("part", {1, 4, 1}, Accumulate::kDevice, geometry, output);
    std::vector<std::uint8_t> expected(16);
    std::fill_n(expected.begin() + 4 * static_cast<std::ptrdiff_t>(ahead), 4, 7);
    EXPECT_EQ(pack_weights(job, MatrixI8::Constant(1, 4, 7)), expected) << ahead;
  }
}

TEST(PackWeights, ConcatenatesProductsOfAStack) {
  std::mt19937 random(13);
  Geometry geometry;
  geometry.n = 4;
  Output output;
  output.format = ResultFormat(ResultCode::kInt8);
  output.low = -128;
  output.high = 127;
  for (const std::uint64_t rows : {1, 7, 300}) {  // in one block or more
    const Job one = make_job("one", {rows, 9, 6}, Accumulate::kDevice, geometry, output);
    const Job stack = make_job("stack", {3 * rows, 9, 6}, Accumulate::kDevice, geometry, output, 3);
    std::vector<std::uint8_t> weights, parameters;
    MatrixI8 all_weights(18, 9);
    std::vector<std::int32_t> all_biases;
    std::vector<float> all_scales;
    for (int i = 0; i < 3; ++i) {
      const MatrixI8 w = random_matrix(random, 6, 9);
      all_weights.middleRows(i * 6, 6) = w;
      std::vector<std::int32_t> bias(6);
      std::vector<float> scale(6);
      for (std::int32_t& value : bias) value = static_cast<std::int32_t>(random());
      for (float& value : scale) value = static_cast<float>(random() % 100);
      const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      append(weights, pack_weights(one, w));
      append(parameters, pack_parameters(one, bias, scale));
      append(all_biases, bias);
      append(all_scales, scale);
    }
    EXPECT_EQ(pack_weights(stack, all_weights), weights);
    EXPECT_EQ(pack_parameters(stack, all_biases, all_scales), parameters);
    EXPECT_THROW(pack_weights(stack, all_weights.topRows(6)), std::invalid_argument);
    EXPECT_THROW(pack_parameters(stack, {1}, {1}), std::invalid_argument);
  }
}

TEST(PackActivations, OrdersTilesOfKThenRowsAndPads) {
  std::mt19937 random(12);
  for_plans(
      12, 10, kFewProducts,
      [&](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
        SCOPED_TRACE(describe(shape, geometry));
        const Job job = make_job("packed", shape, accumulate, geometry);
        const Plan& plan = job.plan;
        const MatrixI8 activations = random_matrix(random, shape.m, shape.k);
        const std::vector<std::uint8_t> packed = pack_activations(job, activations);
        ASSERT_EQ(packed.size(), plan.activation_bytes());
        std::size_t at = 0, wrong = 0;
        for (std::uint64_t k = 0; k < std::uint64_t{plan.k_tiles} * geometry.n; k += geometry.n) {
          for (std::uint64_t row = 0; row < shape.m; ++row) {
            for (std::uint32_t i = 0; i < geometry.n; ++i, ++at) {
              wrong += static_cast<std::int8_t>(packed[at]) != at_or_zero(activations, row, k + i);
            }
          }
        }
        EXPECT_EQ(at, packed.size());
        EXPECT_EQ(wrong, 0u);
      });
}

TEST(UnpackResults, PlacesSumsAndDropsPadding) {
  for_plans(
      13, 10, kFewProducts,
      [&](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
        SCOPED_TRACE(describe(shape, geometry));
        const Job job = make_job("packed", shape, accumulate, geometry);
        const Plan& plan = job.plan;
        // Each partial sum of row m, column n is 1000 m + n; what is padded holds what must not be
        // seen.
        std::vector<std::int32_t> results;
        for (std::uint64_t tile = 0; tile < plan.result_blocks(); ++tile) {
          const std::uint64_t n_tile = tile * plan.n_tiles / plan.result_blocks();
          for (std::uint64_t row = 0; row < shape.m; ++row) {
            for (std::uint64_t i = 0; i < geometry.n; ++i) {
              const std::uint64_t column = n_tile * geometry.n + i;
              results.push_back(column < shape.n ? static_cast<std::int32_t>(1000 * row + column)
                                                 : std::numeric_limits<std::int32_t>::min());
            }
          }
        }
        const MatrixI32 sums = unpack_results(job, results);
        ASSERT_EQ(static_cast<std::uint64_t>(sums.rows()), shape.m);
        ASSERT_EQ(static_cast<std::uint64_t>(sums.cols()), shape.n);
        const auto parts = static_cast<std::int32_t>(plan.result_blocks() / plan.n_tiles);
        std::size_t wrong = 0;
        for (Eigen::Index row = 0; row < sums.rows(); ++row) {
          for (Eigen::Index column = 0; column < sums.cols(); ++column) {
            wrong += sums(row, column) != parts * static_cast<std::int32_t>(1000 * row + column);
          }
        }
        EXPECT_EQ(wrong, 0u);
      });
}

TEST(UnpackResults, AddsOnTheHostModulo32Bits) {
  Geometry geometry;
  geometry.n = 2;
  const Job job = make_job("sums", {1, 6, 2}, Accumulate::kHost, geometry);  // three tiles of K
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  const MatrixI32 sums = unpack_results(job, {kMax, kLeast, 1, -1, 5, kLeast});
  EXPECT_EQ(sums(0, 0), kLeast + 5);
  EXPECT_EQ(sums(0, 1), -1);
}

// Tile by tile of N: four words of biases, then four of scales, low byte first.
TEST(PackParameters, BiasesThenScalesPerTile) {
  Geometry geometry;
  geometry.n = 2;
  const Output output{ResultFormat(ResultCode::kUint8), 0, 0, 255};
  const Job job = make_job("bytes", {1, 1, 3}, Accumulate::kDevice, geometry, output);
  EXPECT_EQ(
      pack_parameters(job, {0x01020304, -1, 5}, {1.0F, 0.5F, -0.0F}),
      (std::vector<std::uint8_t>{4, 3, 2, 1, 255, 255, 255, 255, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x3f,
                                 5, 0, 0, 0, 0,   0,   0,   0,   0, 0, 0,    0x80, 0, 0, 0, 0}));
}

TEST(PackParameters, RejectsUnsupportedScales) {
  const Output output{ResultFormat(ResultCode::kInt8), 0, -128, 127};
  const Job job = make_job("bytes", {1, 1, 3}, Accumulate::kDevice, Geometry{}, output);
  const auto refusal = [&](float scale) -> std::string {
    return message_of([&] { pack_parameters(job, {0, 0, 0}, {1, 1, scale}); });
  };
  EXPECT_EQ(refusal(1e-45F), "");
  EXPECT_EQ(refusal(std::numeric_limits<float>::max()), "");
  EXPECT_EQ(refusal(-1), "bytes: the scale of column 2 is -1; it must be finite and at least 0");
  EXPECT_NE(refusal(std::numeric_limits<float>::infinity()), "");
  EXPECT_NE(refusal(std::numeric_limits<float>::quiet_NaN()), "");
  EXPECT_THROW(pack_parameters(job, {0, 0}, {1, 1, 1}), std::invalid_argument);
  EXPECT_THROW(pack_parameters(job, {0, 0, 0}, {1, 1}), std::invalid_argument);
}

TEST(Packing, RejectsOperandsOfAnotherConvolution) {
  Convolution c;
  c.channels = 3;
  c.out_channels = 5;
  c.height = c.out_height = 4;
  c.width = c.out_width = 6;
  const Job job = make_job("small", c, Geometry{});
  EXPECT_THROW(pack_activations(job, MatrixI8::Zero(23, 3)), std::invalid_argument);
  EXPECT_THROW(pack_activations(job, MatrixI8::Zero(24, 4)), std::invalid_argument);
  EXPECT_NO_THROW(pack_activations(job, MatrixI8::Zero(24, 3)));
  EXPECT_THROW(pack_weights(job, MatrixI8::Zero(5, 4)), std::invalid_argument);
  EXPECT_NO_THROW(pack_weights(job, MatrixI8::Zero(5, 3)));
}

TEST(Packing, RejectsOperandsOfAnotherShape) {
  const Job job = make_job("small", {3, 5, 7}, Accumulate::kDevice, Geometry{});
  EXPECT_THROW(pack_weights(job, MatrixI8::Zero(5, 7)), std::invalid_argument);
  EXPECT_THROW(pack_weights(job, MatrixI8::Zero(7, 6)), std::invalid_argument);
  EXPECT_NO_THROW(pack_weights(job, MatrixI8::Zero(7, 5)));
  EXPECT_THROW(pack_activations(job, MatrixI8::Zero(5, 3)), std::invalid_argument);
  EXPECT_THROW(pack_activations(job, MatrixI8::Zero(2, 5)), std::invalid_argument);
  EXPECT_NO_THROW(pack_activations(job, MatrixI8::Zero(3, 5)));
  EXPECT_THROW(unpack_results(job, std::vector<std::int32_t>(3 * 64 - 1)), std::invalid_argument);
  EXPECT_NO_THROW(unpack_results(job, std::vector<std::int32_t>(3 * 64)));
}

}  // namespace
}  // namespace gemm64
