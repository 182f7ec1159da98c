// SPDX-License-Identifier: Apache-2.0
// A network from an ONNX file, its Linear layers on the RTL: values, cycles and bytes.

#include "host/analysis/analysis.hpp"
#include "host/graph/onnx/networks.hpp"
#include "host/report/verdict.hpp"
#include "host/runtime/network_input.hpp"
#include "tests/system/system.hpp"
#include "tests/unit/ep/run_network.hpp"
#include "tests/unit/run_on_cpu.hpp"
#include "tests/unit/runtime/quantized_graph_text.hpp"

namespace gemm64::system_test {
namespace {

class NetworkOnRtl : public testing::TestWithParam<Precision> {
 protected:
  NetworkOnRtl() : model_(OnnxModel::from_proto(make_network("mnist-cnn", 3, 1), "cnn.onnx")) {}

  NetworkRun run(Accumulate accumulate, bool one_program = false) {
    InputOptions seeded;
    seeded.seed = 7;
    Rig rig(8);
    RunOptions options;
    options.one_program = one_program;
    options.precision = GetParam();
    options.accumulate = accumulate;
    rig.device->set_latency(options.memory.latency);
    return run_network(model_, NetworkInputs::of(open_inputs(model_, seeded)), *rig.device, options,
                       nullptr, "rtl", 3);
  }

  OnnxModel model_;
};

INSTANTIATE_TEST_SUITE_P(Precisions, NetworkOnRtl,
                         testing::Values(Precision::kInt8, Precision::kFloat32),
                         [](const auto& info) {
                           return info.param == Precision::kInt8 ? "int8" : "float32";
                         });

TEST_P(NetworkOnRtl, IsExactInValuesCyclesAndBytes) {
  for (const Accumulate accumulate : {Accumulate::kDevice, Accumulate::kHost}) {
    const NetworkRun found = run(accumulate);
    ASSERT_EQ(found.report.layers.size(), 2U);
    EXPECT_TRUE(found.report.predictable());
    EXPECT_TRUE(found.report.verified());
    for (const LayerReport& layer : found.report.layers) {
      EXPECT_GT(layer.counters[counter::kTotalClocks], 0U);
      EXPECT_EQ(layer.shape.m, 3U);
    }
    EXPECT_EQ(found.report.layers[0].shape.k, 392U);
    EXPECT_EQ(found.report.layers[1].shape.n, 10U);
    EXPECT_EQ(found.outputs.begin()->second.dims(), (Dims{3, 10}));
  }
}

// Layer by layer, and with the very values of the network run layer after layer.
TEST_P(NetworkOnRtl, IsExactAsOneProgram) {
  if (GetParam() == Precision::kFloat32) return;  // each layer is four products there
  const NetworkRun apart = run(Accumulate::kDevice);
  const NetworkRun found = run(Accumulate::kDevice, true);
  ASSERT_EQ(found.report.layers.size(), 2U);
  EXPECT_TRUE(found.report.one_program);
  EXPECT_TRUE(found.report.predictable());
  EXPECT_TRUE(found.report.verified());
  EXPECT_LT(found.report.total().counters[counter::kTotalClocks],
            apart.report.total().counters[counter::kTotalClocks]);
  const Tensor& output = found.outputs.begin()->second;
  const Tensor& expected = apart.outputs.begin()->second;
  for (std::int64_t i = 0; i < output.elements(); ++i) {
    EXPECT_EQ(output.values<float>()[i], expected.values<float>()[i]) << i;
  }
}

TEST_P(NetworkOnRtl, IsNearTheFloatPath) {
  const NetworkQuality quality = run(Accumulate::kDevice).report.quality.value();
  if (GetParam() == Precision::kFloat32) {
    EXPECT_GT(quality.signal_to_noise_db, 110);
    EXPECT_EQ(quality.top1_equal, quality.images);
    EXPECT_EQ(quality.images, 3U);
  } else {
    EXPECT_GT(quality.signal_to_noise_db, 30);
    EXPECT_LT(quality.signal_to_noise_db, 60);
  }
}

NetworkRun run_quantized(Rig& rig, const OnnxModel& model, const RunOptions& options = {},
                         const Tensor& x = quantized_input()) {
  rig.device->set_latency(options.memory.latency);
  return run_network(model, NetworkInputs::of(NamedTensors{{"x", x}}), *rig.device, options,
                     nullptr, "rtl", static_cast<std::uint64_t>(x.dim(0)));
}

std::uint64_t cycles_of(const RunReport& report) {
  std::uint64_t cycles = 0;
  for (const LayerReport& layer : report.layers) cycles += layer.counters[counter::kTotalClocks];
  return cycles;
}

TEST(QuantizedNetworkOnRtl, RunsInPredictedCycles) {
  const OnnxModel model = quantized_branches();
  Rig rig(8);
  const NetworkRun found = run_quantized(rig, model);
  EXPECT_TRUE(found.report.verified());
  EXPECT_TRUE(found.report.predictable());
  EXPECT_EQ(found.report.device_macs(), found.report.all_macs());
  std::string order;
  for (const LayerReport& layer : found.report.layers) {
    order += fmt::format("{}{} ", layer.program, layer.name);
  }
  EXPECT_EQ(order, "1first 1a 1side 1b 1c 2deep 2pooled1 2deep1 2y ");
  EXPECT_TRUE(found.report.layers[0].packed);
  const Analysis analysis = analyze(model, rig.driver.geometry(), RunOptions().memory);
  ASSERT_EQ(analysis.programs.size(), 2U);
  std::uint64_t cycles[2] = {};
  for (const LayerReport& layer : found.report.layers) {
    cycles[layer.program - 1] += layer.counters[counter::kTotalClocks];
  }
  EXPECT_EQ(analysis.programs[0].cycles, cycles[0]);
  EXPECT_EQ(analysis.programs[1].cycles, cycles[1]);
}

// Results that stay on the chip are compared through the layers that read them, and so reported.
TEST(QuantizedNetworkOnRtl, KeepsTensorsOnChip) {
  for (const OnnxModel& model : {quantized_branches(), quantized_lanes()}) {
    RtlOptions device = Rig::options(8);
    device.memory.sharing = MemorySharing::kShared;
    device.memory.bytes_per_cycle = 1;
    RunOptions options;
    options.memory = device.memory;
    Rig rig(device);
    const NetworkRun found = run_quantized(rig, model, options);
    EXPECT_TRUE(found.report.verified());
    EXPECT_TRUE(found.report.predictable());
    std::size_t on_chip = 0;
    for (const LayerReport& layer : found.report.layers) {
      if (layer.on_chip) ++on_chip;
      EXPECT_EQ(layer.on_chip, layer.place == "scratchpad") << layer.name;
    }
    EXPECT_GT(on_chip, 2U);
    EXPECT_NE(summary_line(found.report, {}).find(" on the chip compared only through these"),
              std::string::npos);
    Rig ideal(8);
    const NetworkRun expected = run_quantized(ideal, model);
    ASSERT_EQ(found.first.bytes(), expected.first.bytes());
    EXPECT_EQ(std::memcmp(found.first.raw(), expected.first.raw(), found.first.bytes()), 0);
    const Analysis analysis = analyze(model, rig.driver.geometry(), options.memory);
    std::uint64_t predicted = 0;
    for (const ProgramAnalysis& program : analysis.programs) predicted += program.cycles;
    EXPECT_EQ(predicted, cycles_of(found.report));
  }
}

TEST(QuantizedNetworkOnRtl, RunsDepthwiseAndPools) {
  const OnnxModel model = quantized_lanes();
  for (const bool lanes : {true, false}) {
    Rig rig(8);
    RunOptions options;
    options.lanes = lanes;
    const NetworkRun found = run_quantized(rig, model, options);
    EXPECT_TRUE(found.report.verified());
    EXPECT_TRUE(found.report.predictable());
    const Analysis analysis = analyze(model, rig.driver.geometry(), options.memory, lanes);
    std::uint64_t predicted = 0;
    for (const ProgramAnalysis& program : analysis.programs) predicted += program.cycles;
    EXPECT_EQ(predicted, cycles_of(found.report));
    EXPECT_EQ(analysis.programs.size(), lanes ? 1U : 3U);
  }
}

TEST(QuantizedNetworkOnRtl, WritesResultsInEveryWay) {
  for (const auto& [n, images] : {std::pair{4, 1}, {8, 1}, {4, 3}, {8, 2}}) {
    const OnnxModel model = quantized_ways(images);
    Rig rig(n);
    const RunOptions options;
    const NetworkRun found = run_quantized(rig, model, options, quantized_input({images, 3, 9, 9}));
    EXPECT_TRUE(found.report.verified());
    EXPECT_TRUE(found.report.predictable());
    EXPECT_EQ(found.report.host->nodes, 0U);
    EXPECT_EQ(found.report.device_macs(), found.report.all_macs());
    const Analysis analysis = analyze(model, rig.driver.geometry(), options.memory);
    ASSERT_EQ(analysis.programs.size(), 1U);
    EXPECT_EQ(analysis.programs[0].cycles, cycles_of(found.report));
  }
}

TEST(QuantizedNetworkOnRtl, LaysPartsAndReadsSlices) {
  for (const auto& [n, sliced] : {std::pair{4, false}, {8, false}, {4, true}, {8, true}}) {
    const OnnxModel model = sliced ? quantized_slices() : quantized_parts();
    Rig rig(n);
    const NetworkRun found = run_quantized(rig, model);
    EXPECT_TRUE(found.report.verified());
    EXPECT_TRUE(found.report.predictable());
    EXPECT_EQ(found.report.layers.back().program, 1U);
    EXPECT_EQ(found.report.device_macs(), found.report.all_macs());
    const Tensor wanted = run_on_cpu(model, {{"x", quantized_input()}}).at("y");
    const Tensor& y = found.outputs.at("y");
    ASSERT_EQ(y.dims(), wanted.dims());
    EXPECT_EQ(std::memcmp(y.raw(), wanted.raw(), y.bytes()), 0);
  }
}

TEST(QuantizedNetworkOnRtl, WritesUnderStalls) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    const int images = seed % 3 + 1;
    const OnnxModel model = quantized_ways(images);
    Rig rig(seed % 2 == 0 ? 4 : 8, 0.1 * seed, seed);
    RunOptions options;
    options.memory.stall_probability = 0.1 * seed;
    EXPECT_TRUE(
        run_quantized(rig, model, options, quantized_input({images, 3, 9, 9})).report.verified());
  }
}

// What a layer loads of the next one's depends on the stalls, so it is no failure of the layer.
TEST(QuantizedNetworkOnRtl, DiagnosesNoStalledLayer) {
  const OnnxModel model = quantized_lanes();
  bool differs = false;
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    Rig rig(8, 0.4, seed);
    RunOptions options;
    options.memory.stall_probability = 0.4;
    unsigned looks = 0;
    options.investigate = [&looks](const JobRun&, Failure&) { ++looks; };
    const NetworkRun found = run_quantized(rig, model, options);
    EXPECT_TRUE(found.report.verified());
    EXPECT_EQ(looks, 0U);
    for (const LayerReport& layer : found.report.layers) {
      differs |=
          layer.counters[counter::kBytesActivations] != layer.predicted[counter::kBytesActivations];
    }
  }
  EXPECT_TRUE(differs);  // so the layers of this network show it
}

}  // namespace
}  // namespace gemm64::system_test
