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

/// A function of each channel: rint(slope * value + offset), as int8 of steps of 1.
OnnxModel lines(const std::vector<float>& slopes, const std::vector<float>& offsets) {
  onnx::ModelProto proto = parse_model(fmt::format(
      "(int8[256,{0},1,1] x) => (int8[256,{0},1,1] y) {{d = DequantizeLinear (x, one, zero) m = "
      "Mul (d, slope) r = Add (m, offset) y = QuantizeLinear (r, one, zero)}}",
      slopes.size()));
  const Dims dims{static_cast<std::int64_t>(slopes.size()), 1, 1};
  set_constant(proto, "one", Tensor::of<float>({}, {1}));
  set_constant(proto, "zero", Tensor::of<std::int8_t>({}, {0}));
  set_constant(proto, "slope", Tensor::of<float>(dims, slopes));
  set_constant(proto, "offset", Tensor::of<float>(dims, offsets));
  return OnnxModel::from_proto(std::move(proto), "test.onnx");
}

// Slopes and offsets that few factors give. A weight of 0: any.
TEST(ChannelFunction, FindsTheFewExactFactors) {
  const struct {
    const char* name;
    float slope, offset;
    int weight, bias;
  } cases[] = {{"the last weight, a bias below the line", -2.032575466F, -2.021873400F, -127, -126},
               {"the last weight, a bias above it", 1.589537699F, 0.001517678F, 127, 1},
               {"the same below zero", -1.361013957F, 0.003024031F, -127, 1},
               {"all results are one", 0.001F, 7, 0, 7},
               {"a sum is 0 at a value", 1.63F, 3.26F, 0, 0},
               {"the same, falling", -1.63F, 4.89F, 0, 0},
               {"the limits only", 300, 150, 0, 0},
               {"the same, falling", -300, 150, 0, 0},
               {"one step", 0.003F, 0.5F, 0, 0}};
  std::vector<float> slopes, offsets;
  for (const auto& one : cases) {
    slopes.push_back(one.slope);
    offsets.push_back(one.offset);
  }
  std::string why;
  const auto found = read(lines(slopes, offsets), why);
  ASSERT_TRUE(found) << why;
  for (std::size_t channel = 0; channel < slopes.size(); ++channel) {
    const auto& one = cases[channel];
    const ChannelFactors& factors = found->factors;
    EXPECT_TRUE(std::isfinite(factors.scale[channel])) << one.name;
    EXPECT_GT(factors.scale[channel], 0) << one.name;
    if (one.weight != 0 || one.bias != 0) {
      EXPECT_EQ(factors.weight[channel], one.weight) << one.name;
      EXPECT_EQ(factors.bias[channel], one.bias) << one.name;
    }
    for (int value = -128; value < 128; ++value) {
      const float sum = one.slope * static_cast<float>(value) + one.offset;
      const auto wanted = static_cast<int>(std::clamp(std::nearbyint(sum), -128.0F, 127.0F));
      EXPECT_EQ(result_of(*found, value, channel), wanted) << one.name << " of " << value;
    }
  }
}

TEST(ChannelFunction, NamesTheChannelWithoutFactors) {
  std::string why;
  EXPECT_FALSE(read(lines({1, 2.886405413F, 1}, {0, 2.899959225F, 0}), why));
  EXPECT_EQ(why, "no integer factors give the floats of channel 1");
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

TEST(ChannelFunction, IsNoneOfWordsOf32Bits) {
  onnx::ModelProto proto = parse_model(
      "(int32[256,8,1,1] x) => (int8[256,8,1,1] y) {d = DequantizeLinear (x, one) r = Mul (d, "
      "slope) y = QuantizeLinear (r, one, zero)}");
  std::mt19937 random(2);
  set_constant(proto, "one", Tensor::of<float>({}, {1}));
  set_constant(proto, "zero", Tensor::of<std::int8_t>({}, {0}));
  set_constant(proto, "slope", floats({kChannels, 1, 1}, 1, 2, random));
  std::string why;
  EXPECT_FALSE(read(OnnxModel::from_proto(std::move(proto), "test.onnx"), why));
  EXPECT_EQ(why, "");
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
