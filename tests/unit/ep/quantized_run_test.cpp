// SPDX-License-Identifier: Apache-2.0
// Quantized networks with their layers on a reference device: host/ep/network_session.

#include "host/report/json.hpp"
#include "host/runtime/network_input.hpp"
#include "tests/test.hpp"
#include "tests/unit/ep/run_network.hpp"
#include "tests/unit/report/shown.hpp"
#include "tests/unit/run_on_cpu.hpp"
#include "tests/unit/runtime/quantized_graph_text.hpp"
#include "tests/unit/runtime/small_device.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

class QuantizedRunTest : public testing::Test {
 protected:
  NetworkRun run(const OnnxModel& model, const RunOptions& options = {},
                 const RunProgress& progress = nullptr) {
    return run_network(model, NetworkInputs::of(NamedTensors{{"x", quantized_input()}}), device_,
                       options, progress);
  }

  DamagedDevice device_;
};

TEST_F(QuantizedRunTest, RunsEveryLayerOnTheDevice) {
  const OnnxModel model = quantized_branches();
  const NetworkRun found = run(model);
  EXPECT_TRUE(found.report.verified());
  EXPECT_EQ(device_.runs, 2);
  EXPECT_EQ(found.report.layers.size(), 9U);
  EXPECT_TRUE(found.report.host_layers.empty());
  EXPECT_EQ(found.report.device_macs(), found.report.all_macs());
  EXPECT_EQ(found.report.host->nodes, 1U);  // Transpose
  const NamedTensors expected = run_on_cpu(model, {{"x", quantized_input()}});
  const Tensor& y = found.outputs.at("y");
  ASSERT_EQ(y.bytes(), expected.at("y").bytes());
  EXPECT_EQ(std::memcmp(y.raw(), expected.at("y").raw(), y.bytes()), 0);
}

TEST_F(QuantizedRunTest, RunsDepthwiseLayersAndPools) {
  const OnnxModel model = quantized_lanes();
  const NetworkRun found = run(model);
  EXPECT_TRUE(found.report.verified());
  EXPECT_EQ(device_.runs, 1);
  EXPECT_EQ(found.report.layers.size(), 9U);
  EXPECT_EQ(found.report.host->nodes, 0U);
  EXPECT_EQ(found.report.device_macs(), found.report.all_macs());
  EXPECT_THAT(shown(found.report),
              Says("2x3 pool, lanes", "3x3 in 20 groups, lanes", "5x5 /2x1 in 20 groups, lanes"));
  RunOptions array;
  array.lanes = false;
  const NetworkRun on_array = run(model, array);
  EXPECT_TRUE(on_array.report.verified());
  for (const LayerReport& layer : on_array.report.layers) EXPECT_NE(layer.tiles, 0U);
  const NamedTensors expected = run_on_cpu(model, {{"x", quantized_input()}});
  for (const NetworkRun* one : {&found, &on_array}) {
    const Tensor& y = one->outputs.at("y");
    ASSERT_EQ(y.bytes(), expected.at("y").bytes());
    EXPECT_EQ(std::memcmp(y.raw(), expected.at("y").raw(), y.bytes()), 0);
  }
}

TEST_F(QuantizedRunTest, ReportsWindowsAndPackedRows) {
  const NetworkRun found = run(quantized_branches());
  const std::string text = shown(found.report);
  EXPECT_THAT(text, Says("3x3 /2 packed", "3x3 dilated 2 in 20 groups", "1 node in ONNX Runtime",
                         "(1 Transpose)",
                         "2 programs on the device.\n"
                         "1 node in its element-wise unit, as layers wrote their results.\n"));
  // 2 x 5 x 5 windows of 27 bytes, in words of 8.
  EXPECT_THAT(text,
              Says("im2col on the host: 1.562 KiB of 1 layer.\n", "MACs on the device: 100.0 %"));
  const nlohmann::ordered_json json = to_json(found.report);
  EXPECT_EQ(json["total"]["device_share"], 1);
  EXPECT_EQ(json["layers"][0]["program"], 1);
  EXPECT_EQ(json["layers"][0]["packed_bytes"], 50 * 32);
  EXPECT_EQ(json["layers"][4]["name"], "c");
  EXPECT_EQ(json["layers"][4]["vector_nodes"], nlohmann::ordered_json({"sum"}));
  EXPECT_FALSE(json["layers"][5].contains("vector_nodes"));
  EXPECT_EQ(json["layers"][5]["name"], "deep");
  EXPECT_EQ(json["layers"][5]["window"]["groups"], 20);
  EXPECT_EQ(json["layers"][5]["window"]["padding"], (nlohmann::ordered_json{2, 1}));
  EXPECT_EQ(json["programs"][0]["layers"], 5);
  EXPECT_EQ(json["programs"][1]["layers"], 4);
  EXPECT_EQ(json["host"]["operators"]["Transpose"], 1);
}

TEST_F(QuantizedRunTest, AnnouncesThePrograms) {
  JobNotes notes;
  RunOptions options;
  options.observers = {&notes};
  run(quantized_branches(), options);
  EXPECT_THAT(notes.notes, ElementsAre("announce first a side b c deep pooled1 deep1 y",
                                       "begin together first a side b c", "end",
                                       "begin together deep pooled1 deep1 y", "end"));
}

TEST_F(QuantizedRunTest, NoticesFlipInAConvolution) {
  device_.damage = true;
  const NetworkRun found = run(quantized_branches());
  EXPECT_FALSE(found.report.verified());
  EXPECT_EQ(found.report.layers[0].mismatches.count, 1U);
  EXPECT_THAT(shown(found.report), Says("first: 1 value differs; the first at row 0"));
}

TEST_F(QuantizedRunTest, ReportsGrowingProgress) {
  std::vector<double> reported;
  run(quantized_branches(), {}, [&](const std::string&, double done) { reported.push_back(done); });
  EXPECT_EQ(reported.front(), 0);
  EXPECT_NEAR(reported.back(), 1, 1e-9);
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
}

TEST_F(QuantizedRunTest, LeavesConvolutionsToHost) {
  const OnnxModel model = quantized_branches();
  RunOptions sums, one_program, host_adds, host, float32;
  sums.results = ResultCode::kInt32;
  one_program.one_program = true;
  host_adds.accumulate = Accumulate::kHost;
  host.convolutions = false;
  float32.precision = Precision::kFloat32;
  const std::pair<RunOptions, const char*> cases[] = {{sums, "--results int32"},
                                                      {one_program, "--one-program"},
                                                      {host_adds, "--accumulate host"},
                                                      {host, "--convolutions host"},
                                                      {float32, "--precision float32"}};
  for (const auto& [options, name] : cases) {
    SCOPED_TRACE(name);
    const NetworkRun found = run(model, options);
    EXPECT_EQ(found.report.layers.size(), options.precision != Precision::kFloat32 ? 1U : 0U);
    ASSERT_GE(found.report.host_layers.size(), 8U);
    EXPECT_THAT(found.report.host_layers[0].reason, Says(name));
    EXPECT_EQ(found.report.verified(), options.precision != Precision::kFloat32);
    EXPECT_LT(found.report.device_macs(), found.report.all_macs());
  }
}

/// A quantized layer, and one that the file leaves in float.
OnnxModel with_float_layer() {
  onnx::ModelProto proto = parse_model(
      "(uint8[6,20] x, float[20,9] w, float[9,5] v) => (float[6,5] y) "
      "<float s = {0.01}, uint8 z = {131}, int8 wz = {0}> "
      "{q = QLinearMatMul(x, s, z, w, s, wz, s, z)"
      " f = DequantizeLinear(q, s, z) y = MatMul(f, v)}",
      {"w", "v"});
  onnx::GraphProto& graph = *proto.mutable_graph();
  std::mt19937 random(4);
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    if (tensor.name() == "v") {
      std::string& bytes = *tensor.mutable_raw_data();
      for (std::size_t i = 0; i < 45; ++i) {
        const float value = static_cast<float>(random() >> 8) * 0x1p-23F - 1;
        std::memcpy(&bytes[4 * i], &value, 4);
      }
    } else if (tensor.name() == "w") {
      tensor.set_data_type(onnx::TensorProto::INT8);
      std::string& bytes = *tensor.mutable_raw_data();
      bytes.resize(180);
      for (char& byte : bytes) byte = static_cast<char>(random());
    }
  }
  graph.mutable_node(2)->set_name("fc");
  return OnnxModel::from_proto(std::move(proto), "test.onnx");
}

TEST_F(QuantizedRunTest, ComputesFloatLayerOfTheFile) {
  const OnnxModel model = with_float_layer();
  Tensor x(onnx::TensorProto::UINT8, {6, 20});
  for (int i = 0; i < 120; ++i) x.mutable_values<std::uint8_t>()[i] = static_cast<std::uint8_t>(i);
  const NetworkInputs inputs = NetworkInputs::of(NamedTensors{{"x", x}});
  const Tensor expected = run_on_cpu(model, {{"x", x}}).at("y");
  const auto bytes_equal = [&](const NetworkRun& found) {
    const Tensor& y = found.outputs.at("y");
    return std::memcmp(y.raw(), expected.raw(), expected.bytes()) == 0;
  };
  for (const CheckLevel check : {CheckLevel::kLayers, CheckLevel::kOutputs}) {
    RunOptions options;
    options.check = check;
    const NetworkRun found = run_network(model, inputs, device_, options);
    EXPECT_TRUE(found.report.verified());
    EXPECT_TRUE(bytes_equal(found));
    EXPECT_EQ(found.report.layers.size(), 1U);
    ASSERT_EQ(found.report.host_layers.size(), 1U);
    EXPECT_EQ(found.report.host_layers[0].name, "fc");
    EXPECT_THAT(found.report.host_layers[0].reason, Says("float32 in the file"));
  }
  RunOptions on_the_way;
  on_the_way.precision = Precision::kInt8;
  const NetworkRun found = run_network(model, inputs, device_, on_the_way);
  EXPECT_TRUE(found.report.verified());
  EXPECT_FALSE(bytes_equal(found));
  EXPECT_EQ(found.report.layers_of(Arithmetic::kQuantizedOnTheWay), 1U);
  RunOptions slices;
  slices.precision = Precision::kFloat32;
  EXPECT_EQ(run_network(model, inputs, device_, slices).report.layers_of(Arithmetic::kSlices), 1U);
}

TEST_F(QuantizedRunTest, RunsImagesInPasses) {
  QuantizedText text("2,3,6,6");
  text.conv("x", "a", 3, 9, 3).conv("a", "y", 9, 4, 1);
  const Tensor images = quantized_input({3, 3, 6, 6});
  const NetworkRun found = run_network(
      text.model(), NetworkInputs::in_passes({{"x", InputSource::of(images)}}, 3, 2), device_);
  EXPECT_TRUE(found.report.verified());
  EXPECT_EQ(device_.runs, 2);
  ASSERT_EQ(found.report.layers.size(), 2U);
  EXPECT_EQ(found.report.layers[1].shape.m, 4U * 4 * 4);
  EXPECT_EQ(found.outputs.at("y").dims(), (Dims{3, 4, 4, 4}));
}

}  // namespace
}  // namespace gemm64
