// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "host/device/reference_device.hpp"
#include "host/report/json.hpp"
#include "host/report/run_table.hpp"
#include "host/run/runner.hpp"

namespace gemm64 {
namespace {

using testing::HasSubstr;

Geometry small_geometry() {
  Geometry geometry;
  geometry.n = 8;
  return geometry;
}

/// A device whose results can be damaged on their way to the host.
class DamagedDevice : public Device {
 public:
  std::uint32_t read_register(std::uint32_t offset) override {
    return inner_.read_register(offset);
  }
  void write_register(std::uint32_t offset, std::uint32_t value) override {
    inner_.write_register(offset, value);
  }
  std::uint64_t memory_bytes() const override { return inner_.memory_bytes(); }
  void write_memory(std::uint64_t address, const void* data, std::size_t bytes) override {
    inner_.write_memory(address, data, bytes);
  }
  void read_memory(std::uint64_t address, void* data, std::size_t bytes) override {
    inner_.read_memory(address, data, bytes);
    if (damage) static_cast<std::uint8_t*>(data)[0] ^= 1;
  }
  bool wait_interrupt(std::uint64_t max_clocks) override {
    return inner_.wait_interrupt(max_clocks);
  }
  void reset() override { inner_.reset(); }
  std::uint64_t clocks() const override { return inner_.clocks(); }
  std::string name() const override { return inner_.name(); }

  bool damage = false;

 private:
  ReferenceDevice inner_{small_geometry()};
};

class RunnerTest : public testing::Test {
 protected:
  RunnerTest() : driver_(device_) {
    std::srand(1);  // Eigen's random matrices
    workload_.model = "two layers";
    workload_.input = MatrixF::Random(6, 20).cwiseAbs();
    workload_.layers.push_back({"one", MatrixF::Random(11, 20), Eigen::VectorXf::Random(11), true});
    workload_.layers.push_back({"two", MatrixF::Random(5, 11), Eigen::VectorXf::Random(5), false});
  }

  RunReport run(Precision precision, Accumulate accumulate = Accumulate::kDevice) {
    RunOptions options;
    options.precision = precision;
    options.accumulate = accumulate;
    return Runner(device_, driver_, options).network(workload_);
  }

  DamagedDevice device_;
  Driver driver_;
  Workload workload_;
};

TEST_F(RunnerTest, RunsAQuantizedNetworkCloseToTheFloatOne) {
  const RunReport report = run(Precision::kInt8);
  EXPECT_TRUE(report.verified());
  ASSERT_EQ(report.layers.size(), 2U);
  EXPECT_EQ(report.layers[0].shape.k, 20U);
  EXPECT_EQ(report.layers[0].padded.k, 24U);
  EXPECT_EQ(report.layers[0].padded.n, 16U);
  EXPECT_EQ(report.layers[1].tiles, 2U * 1U);
  ASSERT_TRUE(report.quality);
  // 8 bits of which one is the sign: some 40 dB in each of two layers.
  EXPECT_GT(report.quality->signal_to_noise_db, 30);
  EXPECT_LT(report.quality->signal_to_noise_db, 60);
}

TEST_F(RunnerTest, IsMuchCloserInFloat32) {
  const RunReport report = run(Precision::kFloat32);
  EXPECT_TRUE(report.verified());
  EXPECT_GT(report.quality->signal_to_noise_db, 120);
  EXPECT_LT(report.layers[0].max_abs_error, 1e-5);
  EXPECT_EQ(report.layers[0].tiles, (3U + 5 + 8 + 10) * 2);  // of K, 2K, 3K and 4K
}

TEST_F(RunnerTest, GivesTheSameNetworkWhereverPartialSumsAreAdded) {
  const RunReport on_device = run(Precision::kInt8);
  const RunReport on_host = run(Precision::kInt8, Accumulate::kHost);
  EXPECT_TRUE(on_host.verified());
  EXPECT_EQ(on_host.quality->signal_to_noise_db, on_device.quality->signal_to_noise_db);
  EXPECT_FALSE(on_device.layers[0].on_device);
  ASSERT_TRUE(on_host.layers[0].on_device);
  EXPECT_EQ((*on_host.layers[0].on_device)[counter::kBytesResults], 6U * 16 * 4);
  EXPECT_EQ(on_host.layers[0].counters[counter::kBytesResults], 3U * 6 * 16 * 4);
}

TEST_F(RunnerTest, NoticesAFlippedBit) {
  device_.damage = true;
  const RunReport report = run(Precision::kInt8);
  EXPECT_FALSE(report.verified());
  EXPECT_EQ(report.layers[0].mismatches.count, 1U);
  EXPECT_EQ(report.layers[0].mismatches.expected ^ report.layers[0].mismatches.found, 1);
  EXPECT_THAT(run_table(report, 0),
              HasSubstr("one: 1 values differ; the first at row 0, column 0"));
  EXPECT_THAT(run_table(report, 0), HasSubstr("FAILED"));
  const auto json = to_json(report);
  EXPECT_EQ(json["verified"], false);
  EXPECT_EQ(json["layers"][0]["first_mismatch"]["row"], 0);
  EXPECT_FALSE(run(Precision::kFloat32).verified());
}

TEST_F(RunnerTest, FailsWhereACounterIsNotAsPredicted) {
  RunReport report = run(Precision::kInt8);
  for (LayerReport& layer : report.layers)
    layer.counters = layer.predicted;  // as a device with clocks
  EXPECT_TRUE(report.verified());
  ++report.layers[1].counters[counter::kWeightsIdle];
  EXPECT_FALSE(report.verified());
  EXPECT_THAT(run_table(report, 0), HasSubstr("two: counter weights.idle is"));
  report.memory.stall_probability = 0.5;  // nothing is predicted for a memory that stalls
  EXPECT_TRUE(report.verified());
}

TEST_F(RunnerTest, TellsProgressFromNothingToAll) {
  std::vector<double> shares;
  RunOptions options;
  Runner runner(device_, driver_, options,
                [&shares](const std::string&, double done) { shares.push_back(done); });
  runner.network(workload_);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    EXPECT_GE(shares[i], i == 0 ? 0.0 : shares[i - 1]);
    EXPECT_LE(shares[i], 1.0);
  }
}

TEST(Utilization, CountsUsefulWorkOnly) {
  LayerReport layer;
  layer.shape = {4, 8, 8};
  layer.counters[counter::kTotalClocks] = 16;
  layer.counters[counter::kBytesWeights] = 64;
  layer.counters[counter::kBytesResults] = 4 * 8 * 4;
  MemoryTiming memory;
  set_utilization(layer, small_geometry(), memory);
  EXPECT_DOUBLE_EQ(layer.utilization, 4.0 * 8 * 8 / (64 * 16));
  EXPECT_DOUBLE_EQ(layer.roofline_utilization, 128.0 / 8 / 16);  // the results' port bounds it
  memory.bytes_per_cycle = 4;
  set_utilization(layer, small_geometry(), memory);
  EXPECT_DOUBLE_EQ(layer.roofline_utilization, 128.0 / 4 / 16);
}

}  // namespace
}  // namespace gemm64
