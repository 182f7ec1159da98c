// SPDX-License-Identifier: Apache-2.0
#include "host/execute/network_run.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/device/reference_device.hpp"
#include "host/report/run_table.hpp"
#include "tests/host/execute/run_node.hpp"
#include "tests/host/onnx_text.hpp"

namespace gemm64 {
namespace {

using testing::HasSubstr;

Geometry small_geometry() {
  Geometry geometry;
  geometry.n = 8;
  return geometry;
}

class NetworkRunTest : public testing::Test {
 protected:
  NetworkRunTest() : device_(small_geometry()), driver_(device_) {}

  NetworkRun run(const OnnxModel& model, const NamedTensors& inputs,
                 Precision precision = Precision::kInt8) {
    RunOptions options;
    options.precision = precision;
    Runner runner(device_, driver_, options);
    return run_network(Executor(model), inputs, runner, runner.report("test", 1), nullptr, nullptr);
  }

  static NetworkRun on_host(const OnnxModel& model, const NamedTensors& inputs) {
    return run_on_host(Executor(model), inputs, {}, nullptr, nullptr);
  }

  /// A model of nodes between x and y; weights hold values that int8 does not hold exactly.
  static OnnxModel model(const std::string& text, const std::vector<std::string>& weights) {
    onnx::ModelProto proto = parse_model(text, weights);
    std::mt19937 random(1);
    for (onnx::TensorProto& tensor : *proto.mutable_graph()->mutable_initializer()) {
      auto* values = reinterpret_cast<float*>(tensor.mutable_raw_data()->data());
      for (std::size_t i = 0; i < tensor.raw_data().size() / 4; ++i) {
        values[i] = static_cast<float>(random() >> 8) * 0x1p-23F - 1;
      }
    }
    int number = 0;
    for (onnx::NodeProto& node : *proto.mutable_graph()->mutable_node()) {
      node.set_name("node" + std::to_string(number++));
    }
    return OnnxModel::from_proto(std::move(proto), "test.onnx");
  }

  static Tensor input(const Dims& dims) {
    std::mt19937 random(2);
    return random_floats(dims, random);
  }

  ReferenceDevice device_;
  Driver driver_;
};

TEST_F(NetworkRunTest, SendsLinearLayersToTheDeviceAndNothingElse) {
  const OnnxModel network = model(
      "(float[5,12] x, float[20,12] w, float[20] b, float[20,9] v) => (float[5,9] y) "
      "{h = Gemm <transB = 1> (x, w, b) r = Relu(h) y = MatMul(r, v)}",
      {"w", "b", "v"});
  const NetworkRun found = run(network, {{"x", input({5, 12})}});
  ASSERT_EQ(found.report.layers.size(), 2U);
  EXPECT_EQ(found.report.layers[0].name, "node0");
  EXPECT_EQ(found.report.layers[1].name, "node2");
  EXPECT_EQ(found.report.layers[0].shape.k, 12U);
  EXPECT_EQ(found.report.layers[1].shape.m, 5U);
  EXPECT_EQ(found.report.layers[1].shape.n, 9U);
  EXPECT_EQ(found.report.host->nodes, 1U);
  EXPECT_TRUE(found.report.verified());
  ASSERT_TRUE(found.report.quality.has_value());
  EXPECT_GT(found.report.quality->signal_to_noise_db, 30);
  EXPECT_LT(found.report.quality->signal_to_noise_db, 60);  // it was quantized
  EXPECT_GT(found.report.layers[0].max_abs_error, 0);
  EXPECT_THAT(run_table(found.report, 0), HasSubstr("1 node on the host"));
}

TEST_F(NetworkRunTest, AppliesEveryPartOfGemm) {
  // All of the form but the product is the host's own: float32 by slices is nearly exact.
  const char* form[] = {"", "transA = 1", "transB = 1", "transA = 1, transB = 1"};
  for (int i = 0; i < 4; ++i) {
    SCOPED_TRACE(form[i]);
    const bool a = (i & 1) != 0, b = (i & 2) != 0;
    const OnnxModel network =
        model(fmt::format("({} x, {} w, float[7] b) => (float[5,7] y) {{y = Gemm <alpha = 0.5, "
                          "beta = 3.0{}{}> (x, w, b)}}",
                          a ? "float[11,5]" : "float[5,11]", b ? "float[7,11]" : "float[11,7]",
                          i == 0 ? "" : ", ", form[i]),
              {"w", "b"});
    const NamedTensors inputs{{"x", input(a ? Dims{11, 5} : Dims{5, 11})}};
    const NetworkRun found = run(network, inputs, Precision::kFloat32);
    ASSERT_EQ(found.report.layers.size(), 1U);
    EXPECT_GT(found.report.quality->signal_to_noise_db, 120);
  }
}

TEST_F(NetworkRunTest, StacksRowsOfHigherDimensions) {
  const OnnxModel network =
      model("(float[2,3,6] x, float[6,4] w) => (float[2,3,4] y) {y = MatMul(x, w)}", {"w"});
  const NetworkRun found = run(network, {{"x", input({2, 3, 6})}}, Precision::kFloat32);
  EXPECT_EQ(found.report.layers.at(0).shape.m, 6U);
  EXPECT_EQ(found.outputs.at("y").dims(), (Dims{2, 3, 4}));
  EXPECT_GT(found.report.quality->signal_to_noise_db, 120);
}

TEST_F(NetworkRunTest, LeavesProductsOfActivationsToTheHost) {
  const OnnxModel network =
      model("(float[4,4] x) => (float[4,4] y) {t = Transpose(x) y = MatMul(x, t)}", {});
  const NetworkRun found = run(network, {{"x", input({4, 4})}});
  EXPECT_TRUE(found.report.layers.empty());
  EXPECT_EQ(found.report.quality->top1_agreement, 1);
}

TEST_F(NetworkRunTest, RunsWeightsThatNodesPrepare) {
  const OnnxModel network = model(
      "(float[4,6] x, float[5,6] w) => (float[4,5] y) {t = Transpose(w) y = MatMul(x, t)}", {"w"});
  EXPECT_EQ(run(network, {{"x", input({4, 6})}}).report.layers.size(), 1U);
}

TEST_F(NetworkRunTest, NamesTheNodeWhoseInputCannotBeQuantized) {
  const OnnxModel network =
      model("(float[1,2] x, float[2,2] w) => (float[1,2] y) {y = MatMul(x, w)}", {"w"});
  try {
    run(network, {{"x", floats({1, 2}, {1, INFINITY})}});
    FAIL() << "infinity was quantized";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("test.onnx: node0 (MatMul): cannot quantize"));
  }
}

TEST_F(NetworkRunTest, ComparesTheFloatPathWithProductsInDouble) {
  const OnnxModel network = model(
      "(float[5,300] x, float[20,300] w, float[20] b) => (float[5,20] y) "
      "{y = Gemm <alpha = 2.0, transB = 1> (x, w, b)}",
      {"w", "b"});
  const NetworkRun found = on_host(network, {{"x", input({5, 300})}});
  ASSERT_EQ(found.report.layers.size(), 1U);
  const LayerReport& layer = found.report.layers[0];
  EXPECT_EQ(layer.shape.k, 300U);
  EXPECT_GT(layer.max_abs_error, 0);
  EXPECT_LE(layer.max_abs_error, layer.error_bound);
  // The bound is tight enough to mean something: a float16 product would be far outside.
  EXPECT_LT(layer.error_bound, 1e-1);
  EXPECT_TRUE(found.report.verified());
  EXPECT_THAT(run_table(found.report, 0), HasSubstr("VERIFIED: 1 Linear layer"));
}

}  // namespace
}  // namespace gemm64
