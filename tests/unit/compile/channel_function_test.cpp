// SPDX-License-Identifier: Apache-2.0
#include "host/compile/channel_function.hpp"

#include "host/graph/onnx/host_nodes.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

using onnx::TensorProto;

constexpr std::int64_t kChannels = 8;

void set_constant(onnx::ModelProto& proto, const std::string& name, Tensor tensor) {
  TensorProto& constant = *proto.mutable_graph()->add_initializer();
  constant = tensor.to_proto();
  constant.set_name(name);
}

Tensor floats(const Dims& dims, float least, float most, std::mt19937& random) {
  Tensor tensor(TensorProto::FLOAT, dims);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    tensor.mutable_values<float>()[i] =
        least + (most - least) * static_cast<float>(random() % 10007) / 10007;
  }
  return tensor;
}

/// A network of all 256 values in each channel, which `nodes` take from d to r. Where these end
/// with a Relu, 0 is the least result.
OnnxModel function(const std::string& type, const std::string& nodes, std::mt19937& random) {
  onnx::ModelProto proto = parse_model(fmt::format(
      "({0}[256,{1},1,1] x) => ({0}[256,{1},1,1] y) {{d = DequantizeLinear (x, s, z) {2} y = "
      "QuantizeLinear (r, t, o)}}",
      type, kChannels, nodes));
  const auto zero = [&](std::uint32_t value) {
    return type == "uint8" ? Tensor::of<std::uint8_t>({}, {static_cast<std::uint8_t>(value)})
                           : Tensor::of<std::int8_t>({}, {static_cast<std::int8_t>(value)});
  };
  set_constant(proto, "s", floats({}, 0.01F, 0.05F, random));
  set_constant(proto, "z", zero(random()));
  set_constant(proto, "t", floats({}, 0.01F, 0.05F, random));
  const bool ends = nodes.find("Relu") != std::string::npos;
  set_constant(proto, "o", zero(!ends ? random() : type == "uint8" ? 0 : 128));
  set_constant(proto, "factor", floats({kChannels}, -2, 2, random));
  set_constant(proto, "offset", floats({kChannels}, -2, 2, random));
  set_constant(proto, "mean", floats({kChannels}, -1, 1, random));
  set_constant(proto, "variance", floats({kChannels}, 0.3F, 2, random));
  set_constant(proto, "slope", floats({kChannels, 1, 1}, -2, 2, random));
  return OnnxModel::from_proto(std::move(proto), "test.onnx");
}

std::optional<ChannelFunction> read(const OnnxModel& model, std::string& why) {
  return read_channel_function(HostNodes(model), readers_of(model), 0, why);
}

/// The byte that the factors give, in double, which is exact here but for the one rounding.
int result_of(const ChannelFunction& function, int value, std::size_t channel) {
  const ChannelFactors& factors = function.factors;
  const int sum = value * factors.weight[channel] + factors.bias[channel];
  const float steps = static_cast<float>(sum) * factors.scale[channel];
  const int low = function.type == TensorProto::UINT8 ? 0 : -128;
  const double result = std::nearbyint(static_cast<double>(steps)) + function.result.zero;
  return static_cast<int>(std::clamp<double>(result, low, low + 255));
}

TEST(ChannelFunction, GivesTheBytesOfFloatNodes) {
  std::mt19937 random(1);
  int exact = 0;
  for (int i = 0; i < 60; ++i) {
    const bool is_unsigned = i % 2 == 0;
    const std::string nodes =
        i % 3 == 0   ? "n = BatchNormalization (d, factor, offset, mean, variance) r = Relu (n)"
        : i % 3 == 1 ? "r = BatchNormalization (d, factor, offset, mean, variance)"
                     : "m = Mul (d, slope) r = Add (m, slope)";
    const OnnxModel model = function(is_unsigned ? "uint8" : "int8", nodes, random);
    std::string why;
    const auto found = read(model, why);
    if (!found) {
      EXPECT_THAT(why, testing::StartsWith("no integer factors")) << i;
      continue;
    }
    ++exact;
    EXPECT_EQ(found->nodes.size(), i % 3 == 1 ? 3U : 4U);
    Tensor x(is_unsigned ? TensorProto::UINT8 : TensorProto::INT8, {256, kChannels, 1, 1});
    for (std::int64_t at = 0; at < x.elements(); ++at) {
      x.mutable_raw()[at] = static_cast<std::byte>(at / kChannels);
    }
    const Tensor y = HostNodes(model).values({"y"}, {{"x", x}}).at("y");
    for (std::int64_t at = 0; at < x.elements(); ++at) {
      const int byte = static_cast<int>(at / kChannels);
      const int value = is_unsigned ? byte - 128 : static_cast<std::int8_t>(byte);
      const auto given = static_cast<std::uint8_t>(y.raw()[at]);
      const int wanted = is_unsigned ? given : static_cast<std::int8_t>(given);
      ASSERT_EQ(result_of(*found, value, static_cast<std::size_t>(at % kChannels)), wanted)
          << i << " " << at;
    }
  }
  EXPECT_EQ(exact, 60);
}

TEST(ChannelFunction, IsNoneOfOtherNodes) {
  std::mt19937 random(2);
  const std::string normalized = "n = BatchNormalization (d, factor, offset, mean, variance) ";
  for (const std::string& nodes : {normalized + "e = Relu (d) r = Add (n, e)",
                                   std::string("r = Relu (d)"), normalized + "r = Sin (n)"}) {
    std::string why;
    EXPECT_FALSE(read(function("int8", nodes, random), why)) << nodes;
    EXPECT_EQ(why, "") << nodes;
  }
}

TEST(ChannelFunction, ReportsMissingFactors) {
  std::mt19937 random(3);
  std::string why;
  // The larger of a value and its channel's constant is no line.
  EXPECT_FALSE(read(function("int8", "m = Mul (d, slope) r = Max (m, slope)", random), why));
  EXPECT_NE(why, "");
}

}  // namespace
}  // namespace gemm64
