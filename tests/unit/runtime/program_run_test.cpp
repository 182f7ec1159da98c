// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/program_run.hpp"

#include "host/graph/onnx/host_nodes.hpp"
#include "tests/test.hpp"
#include "tests/unit/runtime/quantized_graph_text.hpp"
#include "tests/unit/runtime/small_device.hpp"

namespace gemm64 {
namespace {

bool are_same(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && a.dims() == b.dims() &&
         std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

/// Expects what ONNX Runtime computed, and counts what it is asked for.
class KnownValues : public LayerOracle {
 public:
  explicit KnownValues(NamedBuffers values) : values_(std::move(values)) {}

  Tensor expected(const DeviceLayer& layer, NamedBuffers given) const override {
    ++asked;
    read = given.count(layer.input_value) != 0;
    return values_.at(layer.job.name);
  }

  mutable int asked = 0;
  mutable bool read = false;  // had the last layer its input?

 private:
  const NamedBuffers values_;
};

/// A network of one program, of which only what compile() made is left.
class ProgramRunTest : public testing::Test {
 protected:
  ProgramRunTest() {
    QuantizedText text("1,8,6,6");
    text.conv("x", "a", 8, 12, 3, "pads = [1,1,1,1]")
        .weights("t", {12, 8, 1, 1})
        .node("turned", "Transpose <perm = [1,0,2,3]> (t)")  // a constant that a node computes
        .node("y", "QLinearConv (a, s, z, turned, s, wz, s, z)");
    const OnnxModel model = text.model();
    executable_ = compile(model, small_geometry());
    pack_constants(executable_, model);
    const auto found = HostNodes(model).values({"a", "y"}, {{"x", x_}});
    values_.insert(found.begin(), found.end());
  }

  /// Runs the program; returns its values by name.
  NamedBuffers run(const Tensor& x, LayerOracle* oracle) {
    const ProgramRun run(executable_.plan.programs.at(0), executable_.programs[0].buffers,
                         executable_.programs[0].constants);
    std::vector<ProgramLayer> layers;
    for (std::size_t i = 0; i < run.program().layers.size(); ++i) {
      layers.push_back(run.layer(i, {{"x", x}}));
    }
    std::vector<Tensor> wanted;
    const Expectations expectations = [&] { return run.expected({{"x", x}}, *oracle, wanted); };
    Driver driver(device_, Timeouts());
    RunOptions options;
    options.check = oracle != nullptr ? CheckLevel::kLayers : CheckLevel::kNone;
    found_ = JobRunner(device_, driver, options)
                 .run_program(std::move(layers), ProgressShare(),
                              oracle != nullptr ? expectations : nullptr);
    NamedBuffers values;
    for (const auto& [layer, value] : run.values(run.written(found_.values, wanted))) {
      values[run.result_name(layer)] = value;
    }
    return values;
  }

  const Tensor x_ = quantized_input({1, 8, 6, 6});
  Executable executable_;
  NamedBuffers values_;  // by ONNX Runtime
  DamagedDevice device_;
  ProgramResults found_;
};

TEST_F(ProgramRunTest, NeedsNoOracle) {
  const NamedBuffers values = run(x_, nullptr);
  EXPECT_EQ(values.size(), 2U);
  EXPECT_TRUE(are_same(values.at("a"), values_.at("a")));
  EXPECT_TRUE(are_same(values.at("y"), values_.at("y")));
}

TEST_F(ProgramRunTest, AsksTheOracleOncePerLayer) {
  KnownValues oracle(values_);
  EXPECT_TRUE(are_same(run(x_, &oracle).at("y"), values_.at("y")));
  EXPECT_EQ(oracle.asked, 2);
  EXPECT_TRUE(oracle.read);
  EXPECT_EQ(found_.layers.at(0).mismatches.count, 0U);
}

TEST_F(ProgramRunTest, KeepsValuesThatDiffer) {
  device_.damage = true;
  KnownValues oracle(values_);
  const NamedBuffers values = run(x_, &oracle);
  EXPECT_FALSE(are_same(values.at("a"), values_.at("a")));
  EXPECT_EQ(found_.layers.at(0).mismatches.count, 1U);
  EXPECT_EQ(oracle.asked, 3);  // the second layer again, for what it read
}

TEST_F(ProgramRunTest, RefusesOtherShapes) {
  EXPECT_THAT(
      [this] {
        run(quantized_input({1, 8, 6, 5}), nullptr);
      },
      Fails("'x' is uint8 1x8x6x5", "1x8x6x6"));
}

}  // namespace
}  // namespace gemm64
