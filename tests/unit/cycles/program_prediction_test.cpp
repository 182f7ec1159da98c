// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/program_prediction.hpp"

#include "host/cycles/cycle_model.hpp"
#include "host/cycles/tlm_device.hpp"
#include "host/runtime/job_runner.hpp"
#include "tests/test.hpp"
#include "tests/unit/runtime/chains.hpp"
#include "tests/unit/runtime/small_device.hpp"

namespace gemm64 {
namespace {

/// Convolutions of 1x1 on several images, each of which reads the one before: while the last
/// results of one are computed and stored, most of the next is ready to run.
JobProgram convolutions(std::uint32_t images) {
  std::vector<Job> jobs;
  for (const std::uint32_t channels : {24U, 40U, 16U}) {
    Convolution c;
    c.images = images;
    c.channels = jobs.empty() ? 8 : jobs.back().plan.window->convolution.out_channels;
    c.out_channels = channels;
    c.height = c.width = c.out_height = c.out_width = 6;
    jobs.push_back(make_job("conv", c, small_geometry(), {ResultFormat(ResultCode::kInt8)}));
    if (jobs.size() > 1) jobs.back().source = jobs.size() - 2;
  }
  return make_job_program(jobs, small_geometry());
}

MemoryTiming memory_of(MemorySharing sharing, std::uint32_t bytes) {
  MemoryTiming memory;
  memory.sharing = sharing;
  memory.bytes_per_cycle = bytes;
  return memory;
}

class ProgramPredictionTest : public testing::TestWithParam<MemoryTiming> {};

TEST_P(ProgramPredictionTest, CountsTilesPerLayer) {
  for (const std::uint32_t images : {1U, 4U, 20U}) {
    const JobProgram list = convolutions(images);
    const ProgramPrediction found = predict_program(list, small_geometry(), GetParam());
    ASSERT_EQ(found.layers.size(), list.jobs.size());
    RunReport report;
    report.geometry = small_geometry();
    report.memory = GetParam();
    bool overlap = false;
    for (std::size_t i = 0; i < list.jobs.size(); ++i) {
      const Plan& plan = list.jobs[i].plan;
      const std::uint64_t rows = plan.shape.m * plan.tiles();
      EXPECT_EQ(found.layers[i][counter::kComputeCompute], rows) << "layer " << i;
      overlap = overlap || found.between_fences[i][counter::kComputeCompute] != rows;
      LayerReport layer = layer_of(list.jobs[i]);
      layer.program = 1;
      layer.counters = layer.predicted = found.layers[i];
      set_utilization(layer, report.geometry, report.memory);
      report.layers.push_back(layer);
    }
    if (images == 20) EXPECT_TRUE(overlap);  // of few, a slow memory leaves nothing to do early
    EXPECT_EQ(report.impossible(), std::vector<std::string>());
    EXPECT_EQ(report.total().counters,
              predict_counters(list.program, small_geometry(), GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(Memories, ProgramPredictionTest,
                         testing::Values(memory_of(MemorySharing::kIndependent, 0),
                                         memory_of(MemorySharing::kIndependent, 3),
                                         memory_of(MemorySharing::kShared, 0),
                                         memory_of(MemorySharing::kExclusive, 5)));

/// Runs a chain of two layers on a device with `real` memory, predicted for the usual one.
RunReport run_chain_report(const MemoryTiming& real) {
  TlmDevice device(small_geometry(), real);
  Driver driver(device);
  JobRunner runner(device, driver, RunOptions());
  std::mt19937 random(1);
  const MatrixI8 x = random_activations(random, 4, 40);
  std::vector<ProgramLayer> layers;
  MatrixI8 a = x;
  for (const TestLayer& from : random_chain(random, {40, 64, 24})) {
    ProgramLayer layer;
    layer.job = runner.job(from.name,
                           GemmShape{4, static_cast<std::uint64_t>(from.weights.cols()),
                                     static_cast<std::uint64_t>(from.weights.rows())},
                           from.output);
    if (layers.empty()) {
      layer.a = x;
    } else {
      layer.source = 0;
    }
    layer.w = from.weights;
    layer.bias = from.bias;
    layer.scale = from.scales;
    layer.expected = reference_layer(from, a);
    a = layer.expected.cast<std::int8_t>();
    layers.push_back(std::move(layer));
  }
  RunReport report = runner.report("chain", 4);
  report.chained = true;
  report.layers = runner.run_program(std::move(layers), ProgressShare()).layers;
  for (LayerReport& layer : report.layers) layer.program = 1;
  return report;
}

TEST(RunOfAProgram, HasTheCyclesOfEachLayer) {
  const RunReport report = run_chain_report({});
  EXPECT_TRUE(report.verified());
  for (const LayerReport& layer : report.layers) {
    EXPECT_FALSE(layer.overlapped);
    EXPECT_EQ(layer.counters[counter::kComputeCompute], 4 * layer.tiles);
    EXPECT_GT(layer.utilization, 0);
  }
}

TEST(RunOfAProgram, HasOnlyTotalIfMispredicted) {
  MemoryTiming slow;
  slow.latency = 300;
  const RunReport report = run_chain_report(slow);
  EXPECT_FALSE(report.verified());
  for (const LayerReport& layer : report.layers) {
    EXPECT_TRUE(layer.overlapped);
    EXPECT_EQ(layer.utilization, 0);
  }
  EXPECT_GT(report.total().utilization, 0);
  EXPECT_EQ(report.impossible(), std::vector<std::string>());
}

}  // namespace
}  // namespace gemm64
