// SPDX-License-Identifier: Apache-2.0
// A network's operands on a user's array.
#include "host/dut/network_operands.hpp"
#include "host/dut/network_run.hpp"
#include "host/runtime/network_input.hpp"
#include "tests/dut/checked_array.hpp"

namespace gemm64::dut {
namespace {

constexpr Operand kInt8{8, true}, kUint8{8, false}, kInt4{4, true};

onnx::NodeProto node_of(const char* type,
                        const std::vector<std::pair<const char*, Dims>>& lists = {}) {
  onnx::NodeProto node;
  node.set_op_type(type);
  for (int i = 0; i < 8; ++i) node.add_input("i" + std::to_string(i));
  for (const auto& [name, values] : lists) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) attribute.add_ints(value);
  }
  return node;
}

void set_flag(onnx::NodeProto& node, const char* name) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(1);
}

Operands rows_of(std::int64_t rows, std::int64_t columns, const std::vector<std::int32_t>& values) {
  return Eigen::Map<const Operands>(values.data(), rows, columns);
}

TEST(NetworkOperands, WindowsPadWithTheZeroPoint) {
  const onnx::NodeProto node =
      node_of("ConvInteger", {{"pads", {1, 1, 0, 0}}, {"strides", {2, 2}}});
  const NetworkProduct product{"conv", "ConvInteger", {4, 4, 1}, 1, &node};
  const Tensor x = Tensor::of<std::uint8_t>({1, 1, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 255});
  const Tensor w = Tensor::of<std::int8_t>({1, 1, 2, 2}, {1, -2, 3, -128});
  const Tensor zero = Tensor::of<std::uint8_t>({}, {130});
  const Tensors inputs{x, w, zero};
  const NodeContext context{&node, "conv", 13};
  // Unsigned values are moved by 128, and so is the zero point.
  EXPECT_EQ(
      activations_of(product, context, inputs, 0, kInt8).value(),
      rows_of(4, 4, {2, 2, 2, -128, 2, 2, -127, -126, 2, -125, 2, -122, -124, -123, -121, 127}));
  EXPECT_EQ(activations_of(product, context, inputs, 0, kUint8).value()(3, 3), 255);
  EXPECT_EQ(weights_of(product, inputs, 0, kInt8).value(), rows_of(1, 4, {1, -2, 3, -128}));
}

TEST(NetworkOperands, GroupsHaveTheirOwnChannels) {
  const onnx::NodeProto node = node_of("ConvInteger");
  const NetworkProduct product{"conv", "ConvInteger", {2, 1, 1}, 2, &node};
  const Tensor x = Tensor::of<std::int8_t>({1, 2, 1, 2}, {1, 2, 3, 4});
  const Tensor w = Tensor::of<std::int8_t>({2, 1, 1, 1}, {5, 6});
  const NodeContext context{&node, "conv", 13};
  EXPECT_EQ(activations_of(product, context, {x, w}, 1, kInt8).value(), rows_of(2, 1, {3, 4}));
  EXPECT_EQ(weights_of(product, {x, w}, 1, kInt8).value(), rows_of(1, 1, {6}));
}

TEST(NetworkOperands, FloatsHaveOneScalePerTensor) {
  onnx::NodeProto node = node_of("Gemm");
  const NetworkProduct product{"fc", "Gemm", {2, 2, 3}, 1, &node};
  const Tensor a = Tensor::of<float>({2, 2}, {1, -2, 0.5F, NAN});
  const Tensor w = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const NodeContext context{&node, "fc", 13};
  EXPECT_EQ(activations_of(product, context, {a, w}, 0, kInt8).value(),
            rows_of(2, 2, {64, -127, 32, 0}));
  EXPECT_EQ(weights_of(product, {a, w}, 0, kInt4).value(), rows_of(3, 2, {1, 5, 2, 6, 4, 7}));
  set_flag(node, "transB");
  EXPECT_EQ(weights_of(product, {a, w.reshaped({3, 2})}, 0, kInt4).value(),
            rows_of(3, 2, {1, 2, 4, 5, 6, 7}));
  set_flag(node, "transA");
  EXPECT_EQ(activations_of(product, context, {a, w}, 0, kInt8).value(),
            rows_of(2, 2, {64, 32, -127, 0}));
}

TEST(NetworkOperands, UnknownOnesAreEmpty) {
  const onnx::NodeProto node = node_of("ConvTranspose");
  const NetworkProduct product{"up", "ConvTranspose", {1, 1, 1}, 1, &node};
  const Tensor one = Tensor::of<float>({1, 1, 1, 1}, {1});
  EXPECT_FALSE(activations_of(product, {&node, "up", 13}, {one, one}, 0, kInt8));
  EXPECT_FALSE(weights_of(product, {one, one}, 0, kInt8));
  const NetworkProduct none{"fc", "Gemm", {1, 1, 1}};
  EXPECT_FALSE(weights_of(none, {one, one}, 0, kInt8));
}

RunResult run_on(const std::filesystem::path& file, const NetworkWork& work) {
  const Description description = read_description(file);
  BuildOptions options;
  options.cache = GEMM64_DUT_CACHE;
  VerilatedBench bench(description, build_model(description, options));
  return run_network(bench, description, work, 1, [](const std::string&, double) {});
}

NetworkWork work_of(const std::filesystem::path& file) {
  NetworkWork work{file.string(), OnnxModel::load(file)};
  work.inputs.emplace();
  for (const auto& [name, source] : open_inputs(*work.model, {})) {
    (*work.inputs)[name] = source.rows(0, source.dims.at(0));
  }
  work.products = products_of(*work.model);
  return work;
}

/// Each layer of a small network with the operands that it has there.
TEST(DutNetwork, SmallOneOnOutputStationaryArray) {
  const EditedTemplate array("output-stationary", {});
  const RunResult run = run_on(array.file(), work_of(GEMM64_DUT_NETWORK));
  EXPECT_EQ(run.products.size(), 5U);
  for (const ProductRun& product : run.products) {
    EXPECT_TRUE(product.verified()) << product.name << " " << product.error;
    EXPECT_FALSE(product.random_weights) << product.name;
    EXPECT_FALSE(product.random_activations) << product.name;
  }
}

TEST(DutNetwork, AlexnetOnOutputStationaryArray) {
  const EditedTemplate array("output-stationary", {}, 8);
  NetworkWork work;
  work.products = alexnet_linear_layers(1);
  const RunResult run = run_on(array.file(), work);
  EXPECT_TRUE(run.total().verified()) << run.total().error;
  std::uint64_t macs = 0;
  for (const ProductRun& product : run.products) macs += product.macs();
  EXPECT_EQ(macs, 58'621'952U);
}

}  // namespace
}  // namespace gemm64::dut
