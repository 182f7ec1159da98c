// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/group_run.hpp"

#include "host/compile/executable.hpp"
#include "host/runtime/device_schedule.hpp"
#include "tests/test.hpp"
#include "tests/unit/runtime/quantized_graph_text.hpp"
#include "tests/unit/runtime/small_device.hpp"

namespace gemm64 {
namespace {

struct Network {
  const char* name;
  OnnxModel (*model)();
  Dims x;
};

void PrintTo(const Network& network, std::ostream* to) { *to << network.name; }

/// A network on an array of 8x8, each layer compared with ONNX Runtime.
class GroupRun : public testing::TestWithParam<Network> {
 protected:
  GroupRun()
      : model_(GetParam().model()),
        nodes_(model_),
        executable_(compile(model_, small_geometry(), compile_options(options_))) {
    pack_constants(executable_, model_);
  }

  NetworkRun run(const NodeObserver& after = nullptr) {
    Driver driver(device_, Timeouts());
    JobRunner runner(device_, driver, options_);
    return run_group(nodes_, executable_, runner, {{"x", quantized_input(GetParam().x)}},
                     runner.report("test", 1), nullptr, after);
  }

  std::uint64_t mismatches(const NetworkRun& run) const {
    std::uint64_t all = 0;
    for (const LayerReport& layer : run.report.layers) all += layer.mismatches.count;
    return all;
  }

  RunOptions options_;
  const OnnxModel model_;
  const HostNodes nodes_;
  Executable executable_;
  DamagedDevice device_;
};

TEST_P(GroupRun, EqualsOnnxRuntime) {
  const NetworkRun found = run();
  EXPECT_EQ(found.report.error, "");
  EXPECT_EQ(mismatches(found), 0U);
  EXPECT_GT(found.report.layers.size(), 5U);
  const Tensor y = nodes_.values({"y"}, {{"x", quantized_input(GetParam().x)}}).at("y");
  ASSERT_EQ(found.outputs.at("y").dims(), y.dims());
  EXPECT_EQ(std::memcmp(found.outputs.at("y").raw(), y.raw(), y.bytes()), 0);
}

// The oracle knows the file's scales, not those that were packed.
TEST_P(GroupRun, NoticesAnotherScaleInEachLayer) {
  std::size_t all = 0;
  for (CompiledProgram& program : executable_.programs) {
    for (PackedLayer& layer : program.constants) {
      if (layer.parameters.empty()) continue;
      const std::vector<std::uint8_t> right = layer.parameters;
      for (std::size_t i = 0; i < right.size(); ++i) {
        // The exponents of 8 scales after 8 biases.
        if (i % 64 >= 32 && i % 4 == 3) layer.parameters[i] = 0x20;
      }
      ++all;
      EXPECT_NE(mismatches(run()), 0U) << all;
      layer.parameters = right;
    }
  }
  EXPECT_GT(all, 5U);
  EXPECT_EQ(mismatches(run()), 0U);
}

TEST_P(GroupRun, ShowsAllValues) {
  std::vector<std::pair<std::string, Tensor>> values;
  NodeObserver after = [&](const onnx::NodeProto& node, const Tensors& outputs) {
    values.emplace_back(node.output(0), outputs.at(0));
  };
  after.wants_inner = [](const onnx::NodeProto&) { return true; };
  run(after);
  EXPECT_GT(values.size(), 5U);
  for (const auto& [name, value] : values) {
    const Tensor y = nodes_.values({name}, {{"x", quantized_input(GetParam().x)}}).at(name);
    ASSERT_EQ(value.dims(), y.dims()) << name;
    EXPECT_EQ(std::memcmp(value.raw(), y.raw(), y.bytes()), 0) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, GroupRun,
    testing::Values(Network{"branches", [] { return quantized_branches(); }, {2, 3, 9, 9}},
                    Network{"lanes", [] { return quantized_lanes(); }, {2, 3, 9, 9}},
                    Network{"ways", [] { return quantized_ways(); }, {1, 3, 9, 9}},
                    Network{"parts", [] { return quantized_parts(); }, {2, 3, 9, 9}},
                    Network{"slices", [] { return quantized_slices(); }, {2, 3, 9, 9}},
                    Network{"repeats", [] { return quantized_repeats(); }, {2, 3, 9, 9}},
                    Network{"doubled", [] { return quantized_doubled(); }, {3, 3, 10, 12}},
                    Network{"strips", [] { return quantized_strips(); }, {1, 1, 64, 64}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace gemm64
