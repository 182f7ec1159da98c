// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/networks.hpp"

#include "host/graph/onnx/graph_check.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/kernels/tensor.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

OnnxModel network(const std::string& name, std::int64_t batch = 1, std::uint32_t seed = 1) {
  onnx::ModelProto proto = make_network(name, batch, seed);
  require_valid(proto, "made");
  return OnnxModel::from_proto(std::move(proto), name);
}

std::int64_t parameters(const OnnxModel& model, const std::string& ending) {
  std::int64_t sum = 0;
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    const std::string& name = tensor.name();
    if (name.size() < ending.size()) continue;
    if (name.compare(name.size() - ending.size(), ending.size(), ending) != 0) continue;
    sum += model.type(name)->elements();
  }
  return sum;
}

/// Values that all nodes write, flattening left out: it moves nothing.
std::int64_t outputs(const OnnxModel& model) {
  std::int64_t sum = 0;
  for (const onnx::NodeProto& node : model.graph().node()) {
    if (node.op_type() != "Flatten") sum += model.type(node.output(0))->elements();
  }
  return sum;
}

/// A layer's initializer as floats.
struct Floats {
  const float* values;
  std::size_t count;
};

Floats floats_of(const onnx::TensorProto& tensor) {
  return {reinterpret_cast<const float*>(tensor.raw_data().data()),
          tensor.raw_data().size() / sizeof(float)};
}

/// `values` are uniform in [-bound, bound].
void expect_uniform(const Floats& values, double bound) {
  double sum = 0, squares = 0, largest = 0;
  for (std::size_t i = 0; i < values.count; ++i) {
    const auto value = static_cast<double>(values.values[i]);
    sum += value;
    squares += value * value;
    largest = std::max(largest, std::abs(value));
  }
  const auto n = static_cast<double>(values.count);
  const double variance = bound * bound / 3;
  EXPECT_LE(largest, bound * 1.000001);
  EXPECT_GT(largest, bound * (1 - 20 / n));
  EXPECT_NEAR(sum / n, 0, 6 * std::sqrt(variance / n));
  EXPECT_NEAR(squares / n, variance, 6 * variance * std::sqrt(0.8 / n));
}

TEST(Networks, AlexNetHasTheNumbersOfTheReference) {
  const OnnxModel model = network("alexnet");
  EXPECT_EQ(parameters(model, ""), 61100840);
  EXPECT_EQ(4 * parameters(model, ".weight"), 244361984);
  EXPECT_EQ(4 * outputs(model), 4392864);  // all leaf modules, with dropout and avgpool
  EXPECT_EQ(model.type("input")->dims, (Dims{1, 3, 224, 224}));
  EXPECT_EQ(model.type("output")->dims, (Dims{1, 1000}));
}

TEST(Networks, AlexNetHasTorchvisionsModules) {
  const OnnxModel model = network("alexnet");
  std::string text;
  for (const onnx::NodeProto& node : model.graph().node()) {
    text += node.name() + ":" + node.op_type() + " ";
  }
  EXPECT_EQ(text,
            "features.0:Conv features.1:Relu features.2:MaxPool features.3:Conv features.4:Relu "
            "features.5:MaxPool features.6:Conv features.7:Relu features.8:Conv features.9:Relu "
            "features.10:Conv features.11:Relu features.12:MaxPool avgpool:AveragePool "
            "flatten:Flatten classifier.0:Dropout classifier.1:Gemm classifier.2:Relu "
            "classifier.3:Dropout classifier.4:Gemm classifier.5:Relu classifier.6:Gemm ");
}

TEST(Networks, AlexNetsLayersAreUniform) {
  const OnnxModel model = network("alexnet", 1, 3);
  int layers = 0;
  for (const onnx::NodeProto& node : model.graph().node()) {
    if (node.op_type() != "Conv" && node.op_type() != "Gemm") continue;
    SCOPED_TRACE(node.name());
    ++layers;
    const Dims dims = model.type(node.input(1))->dims;
    std::int64_t fan_in = 1;
    for (std::size_t i = 1; i < dims.size(); ++i) fan_in *= dims[i];
    const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
    ASSERT_EQ(node.input_size(), 3);
    EXPECT_EQ(node.input(1), node.name() + ".weight");
    EXPECT_EQ(node.input(2), node.name() + ".bias");
    EXPECT_EQ(model.type(node.input(2))->dims, (Dims{dims[0]}));
    expect_uniform(floats_of(*model.constant(node.input(1))), bound);
    expect_uniform(floats_of(*model.constant(node.input(2))), bound);
  }
  EXPECT_EQ(layers, 8);
}

TEST(Networks, AlexNetsLayersFollowSeed) {
  const onnx::ModelProto one = make_network("alexnet", 1, 1);
  const onnx::ModelProto same = make_network("alexnet", 1, 1);
  const onnx::ModelProto other = make_network("alexnet", 1, 2);
  ASSERT_EQ(one.graph().initializer_size(), 16);
  for (int i = 0; i < 16; ++i) {
    const onnx::TensorProto& tensor = one.graph().initializer(i);
    EXPECT_TRUE(tensor.raw_data() == same.graph().initializer(i).raw_data()) << tensor.name();
    EXPECT_EQ(tensor.name(), other.graph().initializer(i).name());
    EXPECT_FALSE(tensor.raw_data() == other.graph().initializer(i).raw_data()) << tensor.name();
  }
}

TEST(Networks, MnistCnnHasTheNumbersOfTheReference) {
  const OnnxModel model = network("mnist-cnn");
  EXPECT_EQ(parameters(model, ".weight"), 103812);
  EXPECT_EQ(parameters(model, ".bias"), 4 + 8 + 256 + 10);
  EXPECT_EQ(outputs(model), 11106);
  EXPECT_EQ(model.type("output")->dims, (Dims{1, 10}));
}

TEST(Networks, LeNetHasTheParametersOfLeNet5) {
  const OnnxModel model = network("lenet");
  EXPECT_EQ(parameters(model, ""), 61706);
  EXPECT_EQ(model.type("s2.output")->dims, (Dims{1, 6, 14, 14}));
  EXPECT_EQ(model.type("s4.output")->dims, (Dims{1, 16, 5, 5}));
  EXPECT_EQ(model.type("output")->dims, (Dims{1, 10}));
}

TEST(Networks, TakeTheirBatchOrLeaveItOpen) {
  EXPECT_EQ(network("lenet", 7).type("output")->dims, (Dims{7, 10}));
  const onnx::ModelProto open = make_network("lenet", 0, 1);
  EXPECT_EQ(open.graph().input(0).type().tensor_type().shape().dim(0).dim_param(), "batch");
  ImportOptions options;
  options.batch = 9;
  EXPECT_EQ(OnnxModel::from_proto(open, "lenet", options).type("output")->dims, (Dims{9, 10}));
}

TEST(Networks, FollowSeed) {
  const std::string one = make_network("mnist-cnn", 1, 1).SerializeAsString();
  EXPECT_EQ(one, make_network("mnist-cnn", 1, 1).SerializeAsString());
  EXPECT_NE(one, make_network("mnist-cnn", 1, 2).SerializeAsString());
}

TEST(Networks, RefuseAnUnknownName) {
  EXPECT_EQ(message_of([&] { make_network("resnet", 1, 1); }),
            "unknown network 'resnet'; use one of alexnet, lenet, mnist-cnn");
}

TEST(LinearModel, IsOneGemmAsInPyTorch) {
  const OnnxModel model = OnnxModel::from_proto(make_linear_model(3, 5, 7, true, 1), "linear");
  ASSERT_EQ(model.graph().node_size(), 1);
  const onnx::NodeProto& node = model.graph().node(0);
  EXPECT_EQ(node.op_type(), "Gemm");
  EXPECT_EQ(attribute(node, "transB", std::int64_t{0}), 1);
  EXPECT_EQ(model.type("linear.weight")->dims, (Dims{7, 5}));
  EXPECT_EQ(model.type("linear.bias")->dims, (Dims{7}));
  EXPECT_EQ(model.type("input")->dims, (Dims{3, 5}));
  EXPECT_EQ(model.type("output")->dims, (Dims{3, 7}));
}

TEST(Networks, HaveShapesOnlyWithoutASeed) {
  const onnx::ModelProto drawn = make_network("lenet", 1, 1);
  const onnx::ModelProto shapes = make_network("lenet", 1, std::nullopt);
  ASSERT_EQ(shapes.graph().initializer_size(), drawn.graph().initializer_size());
  for (int i = 0; i < shapes.graph().initializer_size(); ++i) {
    const onnx::TensorProto& tensor = shapes.graph().initializer(i);
    EXPECT_EQ(tensor.name(), drawn.graph().initializer(i).name());
    EXPECT_TRUE(std::equal(tensor.dims().begin(), tensor.dims().end(),
                           drawn.graph().initializer(i).dims().begin()));
    EXPECT_TRUE(tensor.raw_data().empty());
  }
}

TEST(LinearModel, LeavesTheBiasOutWhereNotWanted) {
  const onnx::ModelProto model = make_linear_model(3, 5, 7, false, 1);
  EXPECT_EQ(model.graph().node(0).input_size(), 2);
  EXPECT_EQ(model.graph().initializer_size(), 1);
}

TEST(LinearModel, RefusesWeightsThatNoFileHolds) {
  EXPECT_THROW(make_linear_model(1, 1 << 15, 1 << 14, true, 1), UsageError);
  const std::int64_t huge = std::int64_t{1} << 31;
  EXPECT_THROW(make_linear_model(1, huge, huge, true, 1), UsageError);
}

}  // namespace
}  // namespace gemm64
