// SPDX-License-Identifier: Apache-2.0
#include "host/execute/quantized_layer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/host/execute/run_node.hpp"
#include "tests/host/onnx_text.hpp"

namespace gemm64 {
namespace {

using onnx::TensorProto;

template <class T>
Tensor random_bytes(const Dims& dims, std::mt19937& random) {
  Tensor tensor(data_type_of<T>(), dims);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    tensor.mutable_values<T>()[i] = static_cast<T>(random());
  }
  return tensor;
}

Tensor random_scales(std::int64_t count, std::mt19937& random) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values)
    value = std::ldexp(1.0F + static_cast<float>(random() % 997) / 997, -9);
  return Tensor::of<float>(count == 1 ? Dims{} : Dims{count}, values);
}

/// One node whose inputs but the first are constants.
class OneNode {
 public:
  /// `text` names its inputs a, b, c, ...; those that are absent in `inputs` stand there as
  /// nothing.
  OneNode(const std::string& text, Tensors inputs) : inputs_(std::move(inputs)) {
    onnx::ModelProto proto =
        parse_model("(uint8[1,1] a) => (uint8[1,1] y) {" + text + "}", {}, 13, 8);
    onnx::GraphProto& graph = *proto.mutable_graph();
    auto& type = *graph.mutable_input(0)->mutable_type()->mutable_tensor_type();
    type.set_elem_type(inputs_[0].type());
    type.clear_shape();
    graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    for (std::size_t i = 1; i < inputs_.size(); ++i) {
      if (!inputs_[i].present()) continue;
      TensorProto tensor = inputs_[i].to_proto();
      tensor.set_name(std::string(1, static_cast<char>('a' + i)));
      *graph.add_initializer() = tensor;
    }
    model_.emplace(OnnxModel::from_proto(proto, "test.onnx"));
    executor_.emplace(*model_);
  }

  std::optional<QuantizedLayer> layer() {
    return quantized_layer(*executor_, executor_->steps()[0], inputs_, why_);
  }
  const std::string& why() const { return why_; }
  Tensor result() const {
    const Step& step = executor_->steps()[0];
    return compute(*step.info, step.context, inputs_)[0];
  }

 private:
  Tensors inputs_;
  std::string why_;
  std::optional<OnnxModel> model_;
  std::optional<Executor> executor_;
};

/// What a device with this arithmetic writes for the layer, in doubles where they are exact.
std::vector<int> results_of(const QuantizedLayer& layer) {
  const bool is_signed = layer.type == TensorProto::INT8;
  std::vector<int> results;
  for (std::int64_t row = 0; row < layer.a.rows(); ++row) {
    for (std::int64_t column = 0; column < layer.w.rows(); ++column) {
      const auto c = static_cast<std::size_t>(column);
      std::int32_t sum = layer.bias[c];
      for (std::int64_t k = 0; k < layer.a.cols(); ++k) sum += layer.a(row, k) * layer.w(column, k);
      const double steps = static_cast<float>(sum) * layer.scale[c];
      const double value = std::nearbyint(steps) + layer.zero;
      results.push_back(
          static_cast<int>(std::clamp(value, is_signed ? -128.0 : 0.0, is_signed ? 127.0 : 255.0)));
    }
  }
  return results;
}

std::vector<int> values_as_ints(const Tensor& tensor) {
  std::vector<int> values;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    values.push_back(tensor.type() == TensorProto::INT8 ? tensor.values<std::int8_t>()[i]
                                                        : tensor.values<std::uint8_t>()[i]);
  }
  return values;
}

template <class A, class Y>
void check_matmul(std::mt19937& random) {
  const std::int64_t m = 1 + random() % 5, k = 1 + random() % 40, n = 1 + random() % 9;
  const bool by_column = random() % 2 == 0;
  Tensor b = random_bytes<std::int8_t>({k, n}, random);
  OneNode node(
      "y = QLinearMatMul (a, b, c, d, e, f, g, h)",
      {random_bytes<A>({m, k}, random), random_scales(1, random), random_bytes<A>({}, random), b,
       random_scales(by_column ? n : 1, random), Tensor::of<std::int8_t>({}, {0}),
       random_scales(1, random), random_bytes<Y>({}, random)});
  const auto layer = node.layer();
  ASSERT_TRUE(layer);
  ASSERT_EQ(layer->type, data_type_of<Y>());
  EXPECT_EQ(results_of(*layer), values_as_ints(node.result()));
}

TEST(QuantizedLayer, GivesTheBytesOfQLinearMatMul) {
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    check_matmul<std::uint8_t, std::uint8_t>(random);
    check_matmul<std::uint8_t, std::int8_t>(random);
    check_matmul<std::int8_t, std::uint8_t>(random);
    check_matmul<std::int8_t, std::int8_t>(random);
  }
}

template <class A>
void check_gemm(std::mt19937& random) {
  const std::int64_t m = 1 + random() % 5, k = 1 + random() % 40, n = 1 + random() % 9;
  const bool transposed = random() % 2 == 0;
  Tensor bias(TensorProto::INT32, {n});
  for (std::int64_t i = 0; i < n; ++i) {
    bias.mutable_values<std::int32_t>()[i] = static_cast<std::int32_t>(random() % 100001) - 50000;
  }
  OneNode node(
      fmt::format("y = com.microsoft.QGemm <transB = {}, alpha = 0.75> (a, b, c, d, e, f, g, h, i)",
                  transposed ? 1 : 0),
      {random_bytes<A>({m, k}, random), random_scales(1, random), random_bytes<A>({}, random),
       random_bytes<std::int8_t>(transposed ? Dims{n, k} : Dims{k, n}, random),
       random_scales(n, random), Tensor::of<std::int8_t>({}, {0}), bias, random_scales(1, random),
       random_bytes<A>({}, random)});
  const auto layer = node.layer();
  ASSERT_TRUE(layer);
  EXPECT_EQ(results_of(*layer), values_as_ints(node.result()));
}

TEST(QuantizedLayer, GivesTheBytesOfQGemm) {
  std::mt19937 random(2);
  for (int i = 0; i < 50; ++i) {
    check_gemm<std::uint8_t>(random);
    check_gemm<std::int8_t>(random);
  }
}

TEST(QuantizedLayer, TakesUnsignedWeightsAroundTheirMiddle) {
  std::mt19937 random(3);
  OneNode node("y = QLinearMatMul (a, b, c, d, e, f, g, h)",
               {random_bytes<std::uint8_t>({3, 20}, random), random_scales(1, random),
                random_bytes<std::uint8_t>({}, random), random_bytes<std::uint8_t>({20, 4}, random),
                random_scales(1, random), Tensor::of<std::uint8_t>({}, {128}),
                random_scales(1, random), random_bytes<std::uint8_t>({}, random)});
  const auto layer = node.layer();
  ASSERT_TRUE(layer);
  EXPECT_EQ(results_of(*layer), values_as_ints(node.result()));
}

TEST(QuantizedLayer, IsNoneWhereTheDeviceGivesSumsAlone) {
  std::mt19937 random(4);
  const Tensor a = random_bytes<std::uint8_t>({3, 20}, random);
  const Tensor b = random_bytes<std::int8_t>({20, 4}, random);
  const Tensor one = random_scales(1, random);
  const Tensor a_zero = random_bytes<std::uint8_t>({}, random);
  const Tensor zero = Tensor::of<std::int8_t>({}, {0});
  OneNode zero_point("y = QLinearMatMul (a, b, c, d, e, f, g, h)",
                     {a, one, a_zero, b, one, Tensor::of<std::int8_t>({}, {3}), one, a_zero});
  EXPECT_FALSE(zero_point.layer());
  EXPECT_EQ(zero_point.why(), "its weights have a zero point");
  OneNode integer("y = MatMulInteger (a, b, c)", {a, b, a_zero});
  EXPECT_FALSE(integer.layer());
  EXPECT_EQ(integer.why(), "its results are not of 8 bits");
  OneNode floats("y = com.microsoft.QGemm (a, b, c, d, e, f)", {a, one, a_zero, b, one, zero});
  EXPECT_FALSE(floats.layer());
  OneNode negative("y = QLinearMatMul (a, b, c, d, e, f, g, h)",
                   {a, one, a_zero, b, Tensor::of<float>({}, {-1}), zero, one, a_zero});
  EXPECT_FALSE(negative.layer());
  EXPECT_EQ(negative.why(), "its scales are not positive numbers, one for each column");
}

TEST(SameValues, SeesThroughOtherShapesButNotThroughOtherPlaces) {
  std::mt19937 random(6);
  const Tensor a = random_bytes<std::int8_t>({2, 6}, random);
  EXPECT_TRUE(same_values(a, a.reshaped({3, 4})));
  EXPECT_FALSE(same_values(a, Tensor::from_proto(a.to_proto())));
  EXPECT_FALSE(same_values(Tensor(), Tensor()));
}

}  // namespace
}  // namespace gemm64
