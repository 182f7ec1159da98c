// SPDX-License-Identifier: Apache-2.0

#include "host/cycles/tlm_device.hpp"
#include "host/numerics/reference.hpp"
#include "tests/test.hpp"
#include "tests/unit/runtime/chains.hpp"
#include "tests/unit/runtime/small_device.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{16} << 20;

void expect_right(const std::vector<ChainedLayer>& chain) {
  for (std::size_t i = 0; i < chain.size(); ++i) EXPECT_EQ(chain[i].mismatches.count, 0u) << i;
}

TEST(Chain, GivesEachLayersResults) {
  TlmDevice device(small_geometry(), MemoryTiming{}, kMemoryBytes);
  Driver driver(device);
  std::mt19937 random(60);
  const auto layers = random_chain(random, {20, 33, 40, 11});
  const MatrixI8 x = random_activations(random, 6, 20);
  const auto chain = run_chain(driver, MemoryTiming{}, x, layers);
  ASSERT_EQ(chain.size(), 3u);
  expect_right(chain);
  // The second, from what the first gave.
  const MatrixI32 sums = reference_gemm(chain[0].results.cast<std::int8_t>(), layers[1].weights);
  const Output& output = layers[1].output;
  EXPECT_EQ(chain[1].results, reference_requantize(sums, layers[1].bias, layers[1].scales,
                                                   output.zero, output.low, output.high));
  for (const ChainedLayer& layer : chain) {
    EXPECT_EQ(layer.counters, layer.predicted);
    EXPECT_NE(layer.counters[counter::kTotalClocks], 0u);
  }
  EXPECT_EQ(chain[2].results.cols(), 11);
}

// Shapes with one tile and with several, with one block of M and with more, on both sides.
TEST(Chain, OfAnyShapeIsRight) {
  std::mt19937 random(61);
  ReferenceDevice device(small_geometry(), kMemoryBytes);
  Driver driver(device);
  for (int i = 0; i < 60; ++i) {
    std::vector<std::uint64_t> columns(2 + random() % 4);
    for (std::uint64_t& size : columns) size = 1 + random() % 40;
    const std::uint64_t m = random() % 3 == 0 ? 100 + random() % 100 : 1 + random() % 40;
    SCOPED_TRACE(testing::Message()
                 << i << ": " << m << " rows, " << testing::PrintToString(columns));
    expect_right(run_chain(driver, MemoryTiming{}, random_activations(random, m, columns[0]),
                           random_chain(random, columns)));
    if (HasFailure()) return;
  }
}

TEST(Chain, MayEndWithSumsOrUint8) {
  std::mt19937 random(62);
  ReferenceDevice device(small_geometry(), kMemoryBytes);
  Driver driver(device);
  auto layers = random_chain(random, {20, 33, 11});
  const MatrixI8 x = random_activations(random, 6, 20);
  layers[1].output = {};
  auto chain = run_chain(driver, MemoryTiming{}, x, layers);
  expect_right(chain);
  EXPECT_EQ(chain[1].results,
            reference_gemm(chain[0].results.cast<std::int8_t>(), layers[1].weights));
  layers[1].output = {ResultFormat(ResultCode::kUint8), 200, 100, 250};
  chain = run_chain(driver, MemoryTiming{}, x, layers);
  expect_right(chain);
  EXPECT_GT(chain[1].results.maxCoeff(), 127);
}

TEST(Chain, NoticesAFlippedBit) {
  std::mt19937 random(63);
  DamagedDevice device;
  Driver driver(device);
  const auto layers = random_chain(random, {20, 33, 11});
  const MatrixI8 x = random_activations(random, 6, 20);
  expect_right(run_chain(driver, MemoryTiming{}, x, layers));
  device.damage = true;  // of what the host reads
  const auto chain = run_chain(driver, MemoryTiming{}, x, layers);
  EXPECT_EQ(chain[0].mismatches.count, 1u);
  EXPECT_EQ(chain[1].mismatches.count, 1u);
}

TEST(Chain, RefusesWhatCannotBeChained) {
  std::mt19937 random(64);
  ReferenceDevice device(small_geometry(), kMemoryBytes);
  Driver driver(device);
  const MatrixI8 x = random_activations(random, 6, 20);
  const auto run = [&](const std::vector<TestLayer>& layers) {
    run_chain(driver, MemoryTiming{}, x, layers);
  };
  EXPECT_THROW(run({}), std::invalid_argument);
  auto layers = random_chain(random, {20, 33, 11});
  layers[0].output = {ResultFormat(ResultCode::kUint8), 0, 0, 255};
  EXPECT_THROW(run(layers), std::invalid_argument);
  layers = random_chain(random, {20, 33, 11});
  layers[1].weights = MatrixI8::Zero(11, 34);
  EXPECT_THROW(run(layers), std::invalid_argument);
  layers = random_chain(random, {20, 33, 11});
  layers[1].scales[3] = -1;
  EXPECT_THROW(run(layers), UsageError);
}

}  // namespace
}  // namespace gemm64
