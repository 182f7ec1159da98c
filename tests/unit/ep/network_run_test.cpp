// SPDX-License-Identifier: Apache-2.0
// Networks with their Linear layers on a reference device: host/ep/network_session.

#include "host/analysis/analysis.hpp"
#include "host/report/json.hpp"
#include "tests/test.hpp"
#include "tests/unit/ep/run_network.hpp"
#include "tests/unit/onnx_text.hpp"
#include "tests/unit/report/shown.hpp"
#include "tests/unit/run_on_cpu.hpp"
#include "tests/unit/runtime/small_device.hpp"
#include "tests/unit/runtime/tensors.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Linear layers of float32 quantized on the way: one job each.
RunOptions int8() {
  RunOptions options;
  options.precision = Precision::kInt8;
  return options;
}

class NetworkRunTest : public testing::Test {
 protected:
  NetworkRun run(const OnnxModel& model, const NamedTensors& inputs, const RunOptions& options,
                 const RunProgress& progress = nullptr) {
    return run_network(model, NetworkInputs::of(inputs), device_, options, progress);
  }
  NetworkRun run(const OnnxModel& model, const NamedTensors& inputs,
                 Precision precision = Precision::kInt8) {
    RunOptions options;
    options.precision = precision;
    return run(model, inputs, options);
  }

  /// In float32, without a device.
  NetworkRun on_host(const OnnxModel& model, const NetworkInputs& inputs) {
    RunOptions options;
    options.precision = Precision::kFloat32;
    return run_network(model, inputs, device_, options, nullptr, "reference");
  }
  NetworkRun on_host(const OnnxModel& model, const NamedTensors& inputs) {
    return on_host(model, NetworkInputs::of(inputs));
  }

  /// Two Linear layers with a Relu before, between and after them: node0 to node4.
  static OnnxModel two_layers() {
    return model(
        "(float[6,20] x, float[11,20] w, float[11] b, float[11,5] v) => (float[6,5] y) "
        "{p = Relu(x) h = Gemm <transB = 1> (p, w, b) r = Relu(h) m = MatMul(r, v) y = Relu(m)}",
        {"w", "b", "v"});
  }

  /// A convolution, products of activations, and one Linear layer: node0, node2, node3.
  static OnnxModel mixed() {
    return model(
        "(float[2,1,4,4] x, float[3,1,3,3] w, float[12,5] v) => (float[2,2] y) "
        "{c = Conv(x, w) f = Flatten(c) h = MatMul(f, v) t = Transpose(h) y = MatMul(h, t)}",
        {"w", "v"});
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

  DamagedDevice device_;
};

TEST_F(NetworkRunTest, ComputesFloatFileInSlices) {
  const OnnxModel network = two_layers();
  const NamedTensors inputs{{"x", input({6, 20})}};
  const NetworkRun found = run(network, inputs, {});
  EXPECT_TRUE(found.report.verified());
  EXPECT_EQ(device_.runs, 8);
  ASSERT_EQ(found.report.layers_of(Arithmetic::kSlices), 2U);
  EXPECT_FALSE(found.report.quality.has_value()) << "there is no other arithmetic to compare with";
  EXPECT_EQ(to_json(found.report)["precision"], "float32");
  EXPECT_THAT(shown(found.report), Says("float32 from four slices of 7 bits"));
  const auto expected = values_of<float>(run_on_cpu(network, inputs).at("y"));
  const auto y = values_of<float>(found.outputs.at("y"));
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-5);
}

TEST_F(NetworkRunTest, ReportsQuantizationOnRequest) {
  const NetworkRun found = run(two_layers(), {{"x", input({6, 20})}}, Precision::kInt8);
  const std::string text = shown(found.report);
  EXPECT_THAT(text, Says("VERIFIED",
                         "Quantized on the way, as --precision int8 asks: 2 layers of float32. "
                         "Their reference is gemm64's own int8 arithmetic, not the file's "
                         "float32.\n"));
  EXPECT_EQ(to_json(found.report)["layers"][0]["arithmetic"], "quantized on the way");
  const NetworkRun plain = run(two_layers(), {{"x", input({6, 20})}}, {});
  EXPECT_THAT(shown(plain.report), Lacks("on the way"));
}

TEST_F(NetworkRunTest, ComputesOthersOnHost) {
  Tensor x = input({6, 20});
  x.mutable_values<float>()[25] = -INFINITY;
  x.mutable_values<float>()[26] = INFINITY;
  const OnnxModel network = two_layers();
  const NetworkRun found = run(network, {{"x", x}}, {});
  ASSERT_FALSE(found.report.host_layers.empty());
  EXPECT_THAT(found.report.host_layers[0].reason, Says("is not finite"));
  const Tensor expected = run_on_cpu(network, {{"x", x}}).at("y");
  EXPECT_EQ(values_of<float>(found.outputs.at("y"))[0], values_of<float>(expected)[0]);
}

TEST_F(NetworkRunTest, LeavesFloatsToHostInOneProgram) {
  RunOptions options;
  options.one_program = true;
  const NetworkRun found = run(two_layers(), {{"x", input({6, 20})}}, options);
  EXPECT_TRUE(found.report.layers.empty());
  ASSERT_EQ(found.report.host_layers.size(), 2U);
  EXPECT_THAT(found.report.host_layers[0].reason, Says("--precision int8"));
  options.precision = Precision::kInt8;
  EXPECT_EQ(run(two_layers(), {{"x", input({6, 20})}}, options).report.layers.size(), 2U);
}

TEST_F(NetworkRunTest, SendsLinearLayersToDevice) {
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
  EXPECT_EQ(device_.runs, 2);
  EXPECT_TRUE(found.report.verified());
  ASSERT_TRUE(found.report.quality.has_value());
  EXPECT_GT(found.report.quality->signal_to_noise_db, 30);
  EXPECT_LT(found.report.quality->signal_to_noise_db, 60);  // it was quantized
  EXPECT_GT(found.report.layers[0].max_abs_error, 0);
  EXPECT_THAT(shown(found.report), Says("1 node in ONNX Runtime"));
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

TEST_F(NetworkRunTest, LeavesActivationProductsToHost) {
  const OnnxModel network =
      model("(float[4,4] x) => (float[4,4] y) {t = Transpose(x) y = MatMul(x, t)}", {});
  const NetworkRun found = run(network, {{"x", input({4, 4})}});
  EXPECT_TRUE(found.report.layers.empty());
  EXPECT_FALSE(found.report.quality.has_value()) << "float32 agrees with itself";
  ASSERT_EQ(found.report.host_layers.size(), 1U);
  EXPECT_EQ(found.report.host_layers[0].reason, "its weights depend on the input");
}

TEST_F(NetworkRunTest, RunsWeightsThatNodesPrepare) {
  const OnnxModel network = model(
      "(float[4,6] x, float[5,6] w) => (float[4,5] y) {t = Transpose(w) y = MatMul(x, t)}", {"w"});
  EXPECT_EQ(run(network, {{"x", input({4, 6})}}).report.layers.size(), 1U);
}

TEST_F(NetworkRunTest, NamesNodeThatCannotBeQuantized) {
  const OnnxModel network =
      model("(float[1,2] x, float[2,2] w) => (float[1,2] y) {y = MatMul(x, w)}", {"w"});
  EXPECT_THAT(
      [&] {
        run(network, {{"x", floats({1, 2}, {1, INFINITY})}});
      },
      Fails("test.onnx: node0 (MatMul): cannot quantize"));
}

TEST_F(NetworkRunTest, IsMuchCloserInFloat32) {
  const NetworkRun found = run(two_layers(), {{"x", input({6, 20})}}, Precision::kFloat32);
  EXPECT_TRUE(found.report.verified());
  EXPECT_GT(found.report.quality->signal_to_noise_db, 110);
  EXPECT_EQ(found.report.layers[0].tiles, (3U + 5 + 8 + 10) * 2);  // of K, 2K, 3K and 4K
  EXPECT_LT(found.report.layers[0].max_abs_error, 1e-4);
}

TEST_F(NetworkRunTest, EqualsWithAnyAccumulation) {
  const OnnxModel network = two_layers();
  const NamedTensors inputs{{"x", input({6, 20})}};
  RunOptions options = int8();
  const NetworkRun on_device = run(network, inputs, options);
  options.accumulate = Accumulate::kHost;
  const NetworkRun on_host = run(network, inputs, options);
  EXPECT_TRUE(on_host.report.verified());
  EXPECT_EQ(values_of<float>(on_host.outputs.at("y")), values_of<float>(on_device.outputs.at("y")));
  EXPECT_EQ(on_host.report.quality->signal_to_noise_db,
            on_device.report.quality->signal_to_noise_db);
  EXPECT_GT(on_host.report.layers[0].counters[counter::kBytesResults],
            on_device.report.layers[0].counters[counter::kBytesResults]);
}

TEST_F(NetworkRunTest, AnnouncesJobsBeforeTheyRun) {
  const OnnxModel network = two_layers();
  const NamedTensors inputs{{"x", input({6, 20})}};
  JobNotes notes;
  RunOptions options = int8();
  options.observers = {&notes};
  run(network, inputs, options);
  EXPECT_THAT(notes.notes,
              ElementsAre("announce node1 node3", "begin node1", "end", "begin node3", "end"));
  ASSERT_EQ(notes.announced.size(), 2U);
  EXPECT_EQ(notes.announced[1].plan.shape.k, 11U);

  notes.notes.clear();
  options.precision = Precision::kFloat32;
  run(network, inputs, options);
  EXPECT_EQ(notes.notes[0],
            "announce node1/0 node1/1 node1/2 node1/3 node3/0 node3/1 node3/2 node3/3");
}

TEST_F(NetworkRunTest, RunsNothingIfObserverRefuses) {
  JobNotes notes;
  notes.refuse = true;
  RunOptions options = int8();
  options.observers = {&notes};
  EXPECT_THROW(run(two_layers(), {{"x", input({6, 20})}}, options), UsageError);
  EXPECT_EQ(device_.runs, 0);
}

TEST_F(NetworkRunTest, ReportsGrowingProgress) {
  for (const Precision precision : {Precision::kInt8, Precision::kFloat32}) {
    std::vector<double> reported;
    RunOptions options;
    options.precision = precision;
    run(two_layers(), {{"x", input({6, 20})}}, options,
        [&](const std::string&, double done) { reported.push_back(done); });
    EXPECT_EQ(reported.front(), 0);
    EXPECT_DOUBLE_EQ(reported.back(), 1);
    EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  }
}

TEST_F(NetworkRunTest, NoticesAFlippedBit) {
  device_.damage = true;
  const NetworkRun found = run(two_layers(), {{"x", input({6, 20})}});
  EXPECT_FALSE(found.report.verified());
  EXPECT_EQ(found.report.layers[0].mismatches.count, 1U);
  EXPECT_THAT(shown(found.report),
              Says("node1: 1 value differs; the first at row 0, column 0", "FAILED"));
  EXPECT_EQ(to_json(found.report)["layers"][0]["first_mismatch"]["row"], 0);
  EXPECT_FALSE(run(two_layers(), {{"x", input({6, 20})}}, Precision::kFloat32).report.verified());
}

TEST_F(NetworkRunTest, FailsIfACounterDiffers) {
  RunReport report = run(two_layers(), {{"x", input({6, 20})}}).report;
  for (LayerReport& layer : report.layers) {
    layer.counters = layer.predicted;  // as a device with cycles
  }
  EXPECT_TRUE(report.verified());
  ++report.layers[1].counters[counter::kWeightsIdle];
  EXPECT_FALSE(report.verified());
  EXPECT_THAT(shown(report), Says("node3: counter weights.idle is"));
}

TEST_F(NetworkRunTest, ReportsHostLayersAndReasons) {
  const NetworkRun found = run(mixed(), {{"x", input({2, 1, 4, 4})}});
  ASSERT_EQ(found.report.layers.size(), 1U);
  EXPECT_EQ(found.report.layers[0].name, "node2");
  const auto& on_host = found.report.host_layers;
  ASSERT_EQ(on_host.size(), 2U);  // nodes without MACs are none
  EXPECT_EQ(on_host[0].name, "node0");
  EXPECT_EQ(on_host[0].op_type, "Conv");
  EXPECT_EQ(on_host[0].macs, 2U * 3 * 9 * 2 * 2);
  EXPECT_EQ(on_host[0].reason,
            "convolutions run on the device only where their values are of 8 bits");
  EXPECT_EQ(on_host[1].name, "node4");
  EXPECT_EQ(on_host[1].macs, 2U * 5 * 2);
  EXPECT_EQ(on_host[1].reason, "its weights depend on the input");
  EXPECT_EQ(found.report.host->nodes, 4U);
  EXPECT_EQ(found.report.device_macs(), 2U * 12 * 5);
  EXPECT_EQ(found.report.all_macs(), 120U + 216 + 20);
  EXPECT_DOUBLE_EQ(to_json(found.report)["total"]["device_share"].get<double>(), 120.0 / 356);
}

TEST_F(NetworkRunTest, RunsLayersOfTheAnalysis) {
  const OnnxModel network = mixed();
  const Analysis analysis = analyze(network, Geometry(), {});
  const RunReport report = run(network, {{"x", input({2, 1, 4, 4})}}).report;
  std::vector<std::string> device, host;
  for (const LayerAnalysis& layer : analysis.layers) {
    if (!layer.on_host) continue;
    if (layer.on_host->empty()) {
      device.push_back(layer.name);
    } else {
      host.push_back(layer.name + ": " + *layer.on_host);
    }
  }
  ASSERT_EQ(report.layers.size(), device.size());
  ASSERT_EQ(report.host_layers.size(), host.size());
  for (std::size_t i = 0; i < device.size(); ++i) EXPECT_EQ(report.layers[i].name, device[i]);
  for (std::size_t i = 0; i < host.size(); ++i) {
    EXPECT_EQ(report.host_layers[i].name + ": " + report.host_layers[i].reason, host[i]);
  }
}

TEST_F(NetworkRunTest, VerifiesNothingWithoutLayer) {
  const OnnxModel network =
      model("(float[2,1,4,4] x, float[3,1,3,3] w) => (float[2,3,2,2] y) {y = Conv(x, w)}", {"w"});
  const NetworkRun found = run(network, {{"x", input({2, 1, 4, 4})}});
  EXPECT_TRUE(found.report.layers.empty());
  EXPECT_FALSE(found.report.verified());
  EXPECT_EQ(device_.runs, 0);
  EXPECT_FALSE(found.report.quality.has_value());
  const std::string text = shown(found.report);
  EXPECT_THAT(text,
              testing::AllOf(Says("No layer of the network ran on the device"), Lacks("MxKxN")));
  EXPECT_EQ(to_json(found.report)["verified"], false);
  EXPECT_EQ(to_json(found.report)["layers"].size(), 1U);
}

TEST_F(NetworkRunTest, ComparesFloatPathWithDouble) {
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
  EXPECT_THAT(shown(found.report), Says("1 Linear layer as close", ": VERIFIED\n"));
}

TEST_F(NetworkRunTest, AllowsLargeBiasToRound) {
  const OnnxModel network = load_text(
      "(float[1,1] x, float[1,257] w, float[257] b) => (float[1,257] y) {y = Gemm(x, w, b)}",
      {"w", "b"});
  const NetworkRun found = on_host(network, {{"x", floats({1, 1}, {0})}});
  ASSERT_EQ(found.report.layers.size(), 1U);
  // Nothing is added up; the largest result is 256 / 64.
  EXPECT_EQ(found.report.layers[0].error_bound, 3 * 0x1p-23 * 4);
}

TEST_F(NetworkRunTest, RunsImagesOneAfterTheOther) {
  const OnnxModel network = model(
      "(float[1,4] x, float[2,3] w) => (float[2,3] y) "
      "{s = Constant <value_ints = [2, 2]> () r = Reshape(x, s) y = MatMul(r, w)}",
      {"w"});
  const Tensor images = input({3, 4});
  std::vector<float> expected;
  for (std::int64_t i = 0; i < 3; ++i) {
    const NetworkRun single = run(network, {{"x", rows(images, i, 1)}});
    const auto y = values_of<float>(single.outputs.at("y"));
    expected.insert(expected.end(), y.begin(), y.end());
  }
  JobNotes notes;
  RunOptions options = int8();
  options.observers = {&notes};
  const NetworkInputs inputs =
      NetworkInputs::in_passes({{"x", InputSource::of(images)}}, 3, 1, "one at a time");
  const NetworkRun found = run_network(network, inputs, device_, options, nullptr, "tlm", 3);
  EXPECT_EQ(found.outputs.at("y").dims(), (Dims{6, 3}));
  EXPECT_EQ(values_of<float>(found.outputs.at("y")), expected);
  EXPECT_EQ(notes.notes[0], "announce node2 node2 node2");
  ASSERT_EQ(found.report.layers.size(), 1U);
  EXPECT_EQ(found.report.layers[0].shape.m, 6U);
  EXPECT_EQ(found.report.layers[0].tiles, 3U);
  EXPECT_TRUE(found.report.verified());
  EXPECT_THAT(shown(found.report), Says("The 3 images ran one after the other: one at a time.\n"));

  const NetworkRun in_float = on_host(network, inputs);
  EXPECT_EQ(in_float.outputs.at("y").dims(), (Dims{6, 3}));
  EXPECT_EQ(in_float.report.layers.at(0).shape.m, 6U);
}

TEST_F(NetworkRunTest, DropsFillersOfLastPass) {
  const OnnxModel network =
      model("(float[2,4] x, float[4,3] w) => (float[2,3] y) {y = MatMul(x, w)}", {"w"});
  const Tensor images = input({3, 4});
  const NetworkInputs inputs = NetworkInputs::in_passes({{"x", InputSource::of(images)}}, 3, 2);
  const NetworkRun found = run_network(network, inputs, device_, int8());
  EXPECT_EQ(found.outputs.at("y").dims(), (Dims{3, 3}));
  EXPECT_EQ(found.exact.dims(), (Dims{3, 3}));
  EXPECT_EQ(found.report.images_at_once, 2U);
  EXPECT_EQ(found.report.quality->images, 3U);
  EXPECT_EQ(device_.runs, 2);
}

/// Products of 8-bit integers: the device's sums lead to the host's very bytes.
TEST_F(NetworkRunTest, SendsIntegerProductsToDevice) {
  for (const char* type : {"int8", "uint8"}) {
    for (const char* of_weights : {"int8", "uint8"}) {
      if (type == std::string("int8") && of_weights == std::string("uint8")) continue;  // no kernel
      SCOPED_TRACE(std::string(type) + " x " + of_weights);
      onnx::ModelProto proto = parse_model(
          fmt::format("({0}[3,70] x, float s, {0} zx, {1}[70,5] w, float[5] sw, {1}[5] zw, float "
                      "sy, {0} zy) => ({0}[3,5] y) "
                      "{{y = QLinearMatMul(x, s, zx, w, sw, zw, sy, zy)}}",
                      type, of_weights),
          {"s", "zx", "w", "sw", "zw", "sy", "zy"});
      std::mt19937 random(4);
      for (onnx::TensorProto& tensor : *proto.mutable_graph()->mutable_initializer()) {
        std::string& bytes = *tensor.mutable_raw_data();
        const std::string& name = tensor.name();
        if (name[0] == 's') {
          auto* scales = reinterpret_cast<float*>(bytes.data());
          std::fill(scales, scales + bytes.size() / 4, tensor.name() == "sy" ? 3.0F : 0.04F);
        } else {
          const std::string of = name == "w" || name == "zw" ? of_weights : type;
          tensor.set_data_type(of == "int8" ? onnx::TensorProto::INT8 : onnx::TensorProto::UINT8);
          std::size_t size = 1;
          for (const std::int64_t dim : tensor.dims()) size *= static_cast<std::size_t>(dim);
          tensor.clear_int32_data();
          bytes.resize(size);
          for (char& byte : bytes) byte = static_cast<char>(random());
        }
      }
      const OnnxModel network = OnnxModel::from_proto(std::move(proto), "test.onnx");
      Tensor x(type[0] == 'i' ? onnx::TensorProto::INT8 : onnx::TensorProto::UINT8, {3, 70});
      for (std::size_t i = 0; i < x.bytes(); ++i) x.mutable_raw()[i] = std::byte(random());
      const int runs = device_.runs;
      const NetworkRun found = run(network, {{"x", x}});
      EXPECT_EQ(device_.runs, runs + 1);
      ASSERT_EQ(found.report.layers.size(), 1U);
      EXPECT_EQ(found.report.layers[0].shape.k, 70U);
      EXPECT_TRUE(found.report.verified());
      EXPECT_FALSE(found.report.quality.has_value()) << "there is no float network";
      if (type == std::string("uint8") ||
          of_weights == std::string("int8")) {  // ONNX Runtime has it
        const Tensor expected = run_on_cpu(network, {{"x", x}}).at("y");
        EXPECT_EQ(std::memcmp(found.outputs.at("y").raw(), expected.raw(), 15), 0);
      }
      // Only float32 products go to the device in float32.
      EXPECT_TRUE(run(network, {{"x", x}}, Precision::kFloat32).report.layers.empty());
    }
  }
}

TEST_F(NetworkRunTest, ReportsLayersByReason) {
  RunReport report = run(two_layers(), {{"x", input({6, 20})}}).report;
  const LayerReport layer = report.layers[0];
  for (int i = 0; i < 6; ++i) {
    report.layers.push_back(layer);
    report.layers.back().why_sums = "its weights have a zero point";
  }
  report.layers[0].why_sums = "its results are not of 8 bits";
  const std::string text = shown(report);
  EXPECT_THAT(text, Says("int32 results of node1: its results are not of 8 bits.\n",
                         "int32 results of 6 layers (node1, node1, node1, node1, ...), of each: "
                         "its weights have a zero point.\n"));
}

TEST_F(NetworkRunTest, ReportsNodesBetweenPrograms) {
  RunReport report = run(two_layers(), {{"x", input({6, 20})}}).report;
  report.geometry.n = 8;
  report.layers.resize(1);
  report.layers[0].counters[counter::kTotalClocks] = 84;
  EXPECT_THAT(shown(report), Not(HasSubstr("would wait")));
  report.host->between = {{"a", "Erf", 0, "why", 8},
                          {"b", "LayerNormalization", 0, "why", 100},
                          {"c", "LayerNormalization", 0, "why", 9},
                          {"d", "Softmax", 0, "of no known size", 0}};
  EXPECT_THAT(shown(report),
              Says("With 8 lanes for these nodes, a value each a cycle, the chip would wait at "
                   "least 16 cycles (16.00 % of all); 15 for LayerNormalization (15.00 %), 1 for "
                   "Erf (1.00 %).\n"));
  const nlohmann::ordered_json waits = to_json(report)["host"]["waits"];
  EXPECT_EQ(waits.size(), 2U);
  EXPECT_EQ(waits[0], nlohmann::ordered_json({{"operator", "LayerNormalization"},
                                              {"nodes", 2},
                                              {"values", 109},
                                              {"least_cycles", 15}}));
}

}  // namespace
}  // namespace gemm64
