// SPDX-License-Identifier: Apache-2.0
// Published figures of well-known networks (float32, batch 1, 3x224x224).

#include "host/analysis/analysis.hpp"
#include "host/graph/onnx/networks.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_data.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

Analysis analyze_graph(const std::string& name, const ImportOptions& options = {}) {
  return analyze(load_graph(name, options), Geometry(), {});
}

Analysis analyze_network(const std::string& name) {
  return analyze(OnnxModel::from_proto(make_network(name, 1, 1), name), Geometry(), {});
}

const LayerAnalysis& layer(const Analysis& analysis, const std::string& name) {
  for (const LayerAnalysis& candidate : analysis.layers) {
    if (candidate.name == name) return candidate;
  }
  throw std::runtime_error("no layer is called " + name);
}

std::vector<std::uint64_t> macs_of_layers(const Analysis& analysis) {
  std::vector<std::uint64_t> macs;
  for (const LayerAnalysis& candidate : analysis.layers) {
    if (candidate.macs != 0) macs.push_back(candidate.macs);
  }
  return macs;
}

const std::vector<std::uint64_t> kAlexNetMacs{70276800, 223948800, 112140288, 149520384,
                                              99680256, 37748736,  16777216,  4096000};

TEST(AlexNet, HasThePublishedParametersAndMacs) {
  const Analysis analysis = analyze_graph("alexnet");
  EXPECT_EQ(analysis.totals.parameters, 61100840U);
  EXPECT_EQ(analysis.totals.parameter_bytes, 244403360U);
  EXPECT_EQ(analysis.totals.weight_bytes, 244361984U);
  EXPECT_EQ(analysis.totals.macs, 714188480U);
  EXPECT_EQ(macs_of_layers(analysis), kAlexNetMacs);
  EXPECT_TRUE(analysis.unknown.empty());
}

TEST(AlexNet, HasThePublishedActivations) {
  const Analysis analysis = analyze_graph("alexnet");
  EXPECT_EQ(analysis.totals.activation_bytes, 4392864U);
  ASSERT_TRUE(analysis.modules);
  // Leaf modules only, and as hooks on every module count them: features, classifier and the whole
  // model once more.
  EXPECT_EQ(analysis.modules->leaf_bytes, 4392864U);
  EXPECT_EQ(analysis.modules->container_bytes, 4U * (9216 + 1000 + 1000));
  EXPECT_EQ(analysis.modules->leaf_bytes + analysis.modules->container_bytes, 4437728U);
}

TEST(AlexNet, CostsWhatThePublishedFormulasSay) {
  ImportOptions options;
  options.batch = 64;
  const Analysis analysis = analyze_graph("alexnet", options);
  const std::map<std::string, std::vector<std::uint64_t>> expected{
      // tiles, SCALE-Sim OS, SCALE-Sim WS, double-buffered WS
      {"/classifier/classifier.1/Gemm", {9216, 597887, 2340863, 590014}},
      {"/classifier/classifier.4/Gemm", {4096, 270207, 1040383, 262334}},
      {"/classifier/classifier.6/Gemm", {1024, 67551, 260095, 65726}}};
  for (const auto& [name, figures] : expected) {
    const LayerAnalysis& gemm = layer(analysis, name);
    ASSERT_TRUE(gemm.array) << name;
    EXPECT_EQ(gemm.array->tiles, figures[0]) << name;
    EXPECT_EQ(gemm.array->published.scale_sim_os, figures[1]) << name;
    EXPECT_EQ(gemm.array->published.scale_sim_ws, figures[2]) << name;
    EXPECT_EQ(gemm.array->published.double_buffered, figures[3]) << name;
  }
  // At batch 1 the same layers are bound by their weights: a byte for each MAC.
  const LayerAnalysis& single = layer(analyze_graph("alexnet"), "/classifier/classifier.1/Gemm");
  EXPECT_EQ(single.array->published.scale_sim_ws, 1760255U);
  EXPECT_EQ(single.array->bound(), "weights");
  EXPECT_EQ(single.array->weights_cycles, 9216U * 64);
  EXPECT_NEAR(single.array->utilization, 1.0 / 64, 1e-4);
}

TEST(AlexNet, MadeHereHasTheSameFigures) {
  const Analysis analysis = analyze_network("alexnet");
  EXPECT_EQ(analysis.totals.parameters, 61100840U);
  EXPECT_EQ(macs_of_layers(analysis), kAlexNetMacs);
}

TEST(GoogLeNet, HasThePublishedParametersAndMacs) {
  const Analysis analysis = analyze_graph("googlenet");
  EXPECT_EQ(analysis.totals.parameters, 6624904U);
  EXPECT_EQ(analysis.totals.parameter_bytes, 26499616U);
  const OperatorKind& conv = analysis.kinds.at("Conv");
  const OperatorKind& gemm = analysis.kinds.at("Gemm");
  EXPECT_EQ(conv.macs, 1497352192U);
  EXPECT_EQ(gemm.macs, 1024000U);
  EXPECT_EQ(gemm.macs + gemm.bias_adds, 1025000U);
}

TEST(GoogLeNet, HasFewerMacsWithoutCeilMode) {
  onnx::ModelProto proto = load_graph("googlenet").proto();
  for (onnx::NodeProto& node : *proto.mutable_graph()->mutable_node()) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.name() == "ceil_mode") attribute.set_i(0);
    }
  }
  ImportOptions options;
  options.shapes_only = true;
  const OnnxModel model = OnnxModel::from_proto(proto, "floor", options);
  const Analysis analysis = analyze(model, Geometry(), {});
  EXPECT_EQ(analysis.totals.macs, 1356857600U);
}

TEST(CaffeGoogLeNet, HasResultsOfModelZoo) {
  const Analysis analysis = analyze_graph("googlenet_caffe");
  EXPECT_EQ(analysis.totals.parameter_bytes, 27994208U);
  const OperatorKind& conv = analysis.kinds.at("Conv");
  const OperatorKind& gemm = analysis.kinds.at("Gemm");
  EXPECT_EQ(conv.macs + conv.bias_adds, 1584874032U);
  EXPECT_EQ(gemm.macs + gemm.bias_adds, 1025000U);
}

TEST(MobileNetV2, HasThePublishedOperators) {
  const Analysis analysis = analyze_graph("mobilenet_v2");
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [name, kind] : analysis.kinds) {
    if (name != "Constant" && name != "Identity") counts[name] = kind.count;
  }
  const std::map<std::string, std::uint64_t> expected{{"Add", 10},  {"Clip", 35},
                                                      {"Conv", 52}, {"Flatten", 1},
                                                      {"Gemm", 1},  {"GlobalAveragePool", 1}};
  EXPECT_EQ(counts, expected);
}

TEST(MobileNetV2, MovesThePublishedBytes) {
  const Analysis analysis = analyze_graph("mobilenet_v2");
  EXPECT_EQ(analysis.totals.read_bytes + analysis.totals.written_bytes, 119445696U);
  const LayerAnalysis& gemm = layer(analysis, "/classifier/classifier.1/Gemm");
  EXPECT_EQ(gemm.read_bytes, 5129120U);
  EXPECT_EQ(gemm.written_bytes, 4000U);
  const LayerAnalysis& conv = layer(analysis, "/features/features.2/conv/conv.1/conv.1.0/Conv");
  EXPECT_EQ(conv.read_bytes, 4820736U);
  EXPECT_EQ(conv.written_bytes, 1204224U);
  const std::string largest = "/features/features.2/conv/conv.0/conv.0.2/Clip";
  EXPECT_EQ(layer(analysis, largest).read_bytes, 4816896U);
  EXPECT_EQ(layer(analysis, largest).written_bytes, 4816896U);
  EXPECT_EQ(analysis.totals.peak_layer, largest);
  EXPECT_EQ(analysis.totals.peak_layer_bytes, 9633792U);
  for (const LayerAnalysis& candidate : analysis.layers) {
    EXPECT_LE(candidate.read_bytes + candidate.written_bytes, 9633792U) << candidate.name;
  }
}

TEST(MobileNetV2WithComputedShape, HasResults) {
  const Analysis analysis = analyze_graph("mobilenet_v2_shape");
  EXPECT_EQ(analysis.layers.size(), 105U);
  std::set<std::string> kinds;
  for (const auto& entry : analysis.kinds) kinds.insert(entry.first);
  const std::set<std::string> expected{"Add",     "Clip",   "Concat",   "Constant",
                                       "Conv",    "Gather", "Gemm",     "GlobalAveragePool",
                                       "Reshape", "Shape",  "Unsqueeze"};
  EXPECT_EQ(kinds, expected);
  EXPECT_EQ(analysis.totals.activation_bytes, 52010328U);
  EXPECT_EQ(analysis.totals.peak_layer_bytes, 9633792U);
}

TEST(MnistCnn, HasThePublishedFigures) {
  const Analysis analysis = analyze_network("mnist-cnn");
  EXPECT_EQ(analysis.totals.activation_values, 11106U);
  EXPECT_EQ(analysis.totals.weight_bytes, 4U * 103812);
  EXPECT_EQ(macs_of_layers(analysis), (std::vector<std::uint64_t>{78400, 156800, 100352, 2560}));
  EXPECT_EQ(analysis.totals.macs, 338112U);
  std::vector<std::uint64_t> weights;
  std::vector<double> intensities;
  for (const LayerAnalysis& candidate : analysis.layers) {
    if (candidate.weight_bytes != 0) weights.push_back(candidate.weight_bytes / 4);
    if (candidate.op_type != "Flatten" && candidate.op_type != "Reshape") {
      intensities.push_back(candidate.intensity);
    }
  }
  EXPECT_EQ(weights, (std::vector<std::uint64_t>{100, 800, 100352, 2560}));
  // The order of the table's row is conv1, relu, pool, conv2, relu, pool, relu, fc1, fc2; the
  // network has fc1 before its relu.
  const std::vector<double> expected{19.5025, 0, 0, 49.7462, 0, 0, 0.99358, 0, 0.90587};
  ASSERT_EQ(intensities.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(intensities[i], expected[i], 5e-5) << i;
  }
  EXPECT_NEAR(analysis.totals.intensity_sum, 71.14814, 5e-6);
}

TEST(LeNet, HasItsPublishedParametersAndMacs) {
  // LeNet-5 with full connections between its convolutions: 1 -> 6 -> 16 channels of 5x5, then
  // 400 -> 120 -> 84 -> 10.
  const Analysis analysis = analyze_network("lenet");
  EXPECT_EQ(analysis.totals.parameters, 61706U);
  EXPECT_EQ(macs_of_layers(analysis),
            (std::vector<std::uint64_t>{117600, 240000, 48000, 10080, 840}));
}

TEST(Vgg16, HasThePublishedParametersAndMacs) {
  const Analysis analysis = analyze_graph("vgg16");
  EXPECT_EQ(analysis.totals.parameters, 138357544U);
  EXPECT_EQ(analysis.totals.macs, 15470264320U);
}

TEST(ResNet50, HasThePublishedParametersAndMacs) {
  const Analysis analysis = analyze_graph("resnet50");
  EXPECT_EQ(analysis.totals.parameters, 25557032U);
  EXPECT_EQ(analysis.totals.macs, 4089184256U);
}

TEST(AllNetworks, ScaleWithTheBatch) {
  for (const char* name :
       {"alexnet", "googlenet", "mobilenet_v2", "vgg16", "resnet50", "mobilenet_v2_shape"}) {
    ImportOptions options;
    options.batch = 8;
    const Analysis one = analyze_graph(name);
    const Analysis eight = analyze_graph(name, options);
    EXPECT_EQ(eight.totals.macs, 8 * one.totals.macs) << name;
    EXPECT_EQ(eight.totals.parameters, one.totals.parameters) << name;
    EXPECT_GE(8 * one.totals.activation_bytes, eight.totals.activation_bytes) << name;
    EXPECT_GE(eight.totals.activation_bytes + 1000, 8 * one.totals.activation_bytes) << name;
    EXPECT_TRUE(eight.unknown.empty()) << name;
  }
}

}  // namespace
}  // namespace gemm64
