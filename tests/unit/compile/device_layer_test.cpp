// SPDX-License-Identifier: Apache-2.0
#include "host/compile/device_layer.hpp"

#include <fmt/ranges.h>

#include "host/graph/onnx/host_nodes.hpp"
#include "host/kernels/operators.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"
#include "tests/unit/runtime/small_device.hpp"

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
    for (const std::int64_t dim : inputs_[0].dims()) {
      type.mutable_shape()->add_dim()->set_dim_value(dim);
    }
    graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    for (std::size_t i = 1; i < inputs_.size(); ++i) {
      if (!inputs_[i].present()) continue;
      TensorProto tensor = inputs_[i].to_proto();
      tensor.set_name(std::string(1, static_cast<char>('a' + i)));
      *graph.add_initializer() = tensor;
    }
    model_.emplace(OnnxModel::from_proto(proto, "test.onnx"));
  }

  QuantizedNode read() const { return read_quantized_node(*model_, 0); }
  /// As an array of 8x8 takes it.
  ProgramLayer layer() const {
    const DevicePlan plan = plan_device(*model_, small_geometry());
    const DeviceLayer& layer = plan.programs.at(0).layers.at(0);
    ProgramLayer made = program_layer(layer, layer_weights(layer, context(), inputs_), inputs_[0],
                                      layer.weights_value.empty() ? Tensor() : inputs_[3]);
    made.expected = to_job_results(layer, result());
    return made;
  }
  /// The results as the device writes them, as the node's again: for another layer of the device,
  /// or for the host.
  void check_results(bool read_on_device) const {
    DevicePlan plan = plan_device(*model_, small_geometry());
    DeviceLayer& layer = plan.programs.at(0).layers.at(0);
    if (read_on_device) layer.job.plan.output.format = ResultFormat(ResultCode::kInt8);
    const Tensor expected = result();
    const Tensor found = to_node_results(layer, to_job_results(layer, expected),
                                         *model_->type(model_->graph().node(0).output(0)), {});
    EXPECT_EQ(found.type(), expected.type());
    ASSERT_EQ(found.dims(), expected.dims());
    EXPECT_EQ(std::memcmp(found.raw(), expected.raw(), found.bytes()), 0);
  }
  Tensor result() const {
    const onnx::NodeProto& node = model_->graph().node(0);
    return HostNodes(*model_)
        .values({node.output(0)}, {{node.input(0), inputs_[0]}})
        .at(node.output(0));
  }

 private:
  NodeContext context() const { return {&model_->graph().node(0), "test", model_->opset()}; }

  Tensors inputs_;
  std::optional<OnnxModel> model_;
};

/// What a device with this arithmetic writes for a sum, in doubles where they are exact.
int result_of(const ProgramLayer& layer, std::int32_t sum, std::int64_t column) {
  const auto c = static_cast<std::size_t>(column);
  const Output& output = layer.job.plan.output;
  const double steps = static_cast<float>(sum + layer.bias[c]) * layer.scale[c];
  return static_cast<int>(
      std::clamp<double>(std::nearbyint(steps) + output.zero, output.low, output.high));
}

std::vector<int> results_of(const ProgramLayer& layer) {
  std::vector<int> results;
  for (std::int64_t row = 0; row < layer.a.rows(); ++row) {
    for (std::int64_t column = 0; column < layer.w.rows(); ++column) {
      std::int32_t sum = 0;
      for (std::int64_t k = 0; k < layer.a.cols(); ++k) sum += layer.a(row, k) * layer.w(column, k);
      results.push_back(result_of(layer, sum, column));
    }
  }
  return results;
}

/// The same of a convolution over rows of channels, one for each pixel.
std::vector<int> results_of(const ProgramLayer& layer, const Convolution& c) {
  std::vector<int> results;
  const std::int64_t width = c.channels / c.groups, filters = c.out_channels / c.groups;
  for (std::int64_t pixel = 0; pixel < std::int64_t{c.images} * c.out_height * c.out_width;
       ++pixel) {
    const std::int64_t image = pixel / c.out_width / c.out_height;
    for (std::int64_t filter = 0; filter < c.out_channels; ++filter) {
      std::int32_t sum = 0;
      std::int64_t at = 0;
      for (std::int64_t channel = 0; channel < width; ++channel) {
        for (std::int64_t i = 0; i < c.kernel_height; ++i) {
          for (std::int64_t j = 0; j < c.kernel_width; ++j, ++at) {
            const std::int64_t row = pixel / c.out_width % c.out_height * c.stride_height -
                                     c.pad_top + i * c.dilation_height;
            const std::int64_t column =
                pixel % c.out_width * c.stride_width - c.pad_left + j * c.dilation_width;
            const bool inside = row >= 0 && row < c.height && column >= 0 && column < c.width;
            const std::int32_t value = inside ? layer.a((image * c.height + row) * c.width + column,
                                                        filter / filters * width + channel)
                                              : c.zero;
            sum += value * layer.w(filter, at);
          }
        }
      }
      results.push_back(result_of(layer, sum, filter));
    }
  }
  return results;
}

std::vector<int> expected_of(const ProgramLayer& layer) {
  return {layer.expected.data(), layer.expected.data() + layer.expected.size()};
}

template <class A, class Y>
void check_matmul(std::mt19937& random) {
  const std::int64_t m = 1 + random() % 5, k = 1 + random() % 40, n = 1 + random() % 9;
  const bool by_column = random() % 2 == 0;
  // Of many columns int32 results take less time than those of a zero point.
  const auto w_zero = static_cast<std::int8_t>(k < 16 ? random() : 0);
  Tensor b = random_bytes<std::int8_t>({k, n}, random);
  OneNode node(
      "y = QLinearMatMul (a, b, c, d, e, f, g, h)",
      {random_bytes<A>({m, k}, random), random_scales(1, random), random_bytes<A>({}, random), b,
       random_scales(by_column ? n : 1, random), Tensor::of<std::int8_t>({}, {w_zero}),
       random_scales(1, random), random_bytes<Y>({}, random)});
  const ProgramLayer layer = node.layer();
  ASSERT_EQ(layer.job.plan.output.format.code(),
            std::is_signed_v<Y> ? ResultCode::kInt8 : ResultCode::kUint8);
  for (const bool read_on_device : {false, true}) node.check_results(read_on_device);
  EXPECT_EQ(results_of(layer), expected_of(layer));
}

TEST(DeviceLayer, GivesTheBytesOfQLinearMatMul) {
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    check_matmul<std::uint8_t, std::uint8_t>(random);
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
  Tensor zeros(TensorProto::INT8, n == 1 ? Dims{} : Dims{n});
  std::fill_n(zeros.mutable_raw(), n, std::byte{0});
  OneNode node(
      fmt::format("y = com.microsoft.QGemm <transB = {}, alpha = 0.75> (a, b, c, d, e, f, g, h, i)",
                  transposed ? 1 : 0),
      {random_bytes<A>({m, k}, random), random_scales(1, random), random_bytes<A>({}, random),
       random_bytes<std::int8_t>(transposed ? Dims{n, k} : Dims{k, n}, random),
       random_scales(n, random), zeros, bias, random_scales(1, random),
       random_bytes<A>({}, random)});
  const ProgramLayer layer = node.layer();
  EXPECT_EQ(results_of(layer), expected_of(layer));
}

TEST(DeviceLayer, GivesTheBytesOfQGemm) {
  std::mt19937 random(2);
  for (int i = 0; i < 50; ++i) {
    check_gemm<std::uint8_t>(random);
    check_gemm<std::int8_t>(random);
  }
}

TEST(DeviceLayer, CentersUnsignedWeights) {
  std::mt19937 random(3);
  OneNode node("y = QLinearMatMul (a, b, c, d, e, f, g, h)",
               {random_bytes<std::uint8_t>({3, 20}, random), random_scales(1, random),
                random_bytes<std::uint8_t>({}, random), random_bytes<std::uint8_t>({20, 4}, random),
                random_scales(1, random), Tensor::of<std::uint8_t>({}, {128}),
                random_scales(1, random), random_bytes<std::uint8_t>({}, random)});
  const ProgramLayer layer = node.layer();
  EXPECT_EQ(layer.w.cols(), 20);
  EXPECT_EQ(results_of(layer), expected_of(layer));
}

/// What a device gives for a stack of products, row by row.
std::vector<int> stack_results_of(const ProgramLayer& layer) {
  std::vector<int> results;
  const Plan& plan = layer.job.plan;
  const std::uint32_t together = layer.shared_tiles ? layer.shared_tiles->together : 1;
  const auto n = static_cast<std::int64_t>(plan.shape.n / together);
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(layer.products.m); ++row) {
    const std::int64_t product =
        row / static_cast<std::int64_t>(plan.shape.m / plan.products / together);
    for (std::int64_t column = product * n; column < (product + 1) * n; ++column) {
      const std::int32_t sum =
          layer.a.row(row).cast<std::int32_t>().dot(layer.w.row(column).cast<std::int32_t>());
      results.push_back(result_of(layer, sum, column));
    }
  }
  return results;
}

template <class A, class B>
void check_stack(std::mt19937& random, int b_zero) {
  const std::int64_t m = 1 + random() % 5, k = 1 + random() % 40, n = 1 + random() % 9;
  const std::int64_t heads = 1 + random() % 3, batch = 1 + random() % 3;
  const Dims a_stack = random() % 4 == 0 ? Dims{} : Dims{batch, random() % 4 == 0 ? 1 : heads};
  const Dims b_stack = {random() % 4 == 0 ? 1 : batch, heads};
  const auto matrices = [](Dims stack, std::int64_t rows, std::int64_t columns) {
    stack.insert(stack.end(), {rows, columns});
    return stack;
  };
  OneNode node("y = QLinearMatMul (a, b, c, d, e, f, g, h)",
               {random_bytes<A>(matrices(a_stack, m, k), random), random_scales(1, random),
                random_bytes<A>({}, random), random_bytes<B>(matrices(b_stack, k, n), random),
                random_scales(1, random), Tensor::of<B>({}, {static_cast<B>(b_zero)}),
                random_scales(1, random), random_bytes<A>({}, random)});
  ASSERT_EQ(node.read().why, "");
  const ProgramLayer layer = node.layer();
  EXPECT_EQ(layer.products.k, static_cast<std::uint64_t>(k));
  EXPECT_EQ(stack_results_of(layer), expected_of(layer));
  for (const bool read_on_device : {false, true}) node.check_results(read_on_device);
}

TEST(DeviceLayer, GivesTheBytesOfAStackOfProducts) {
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) {
    const auto any = static_cast<int>(random() % 256);
    for (const int zero : {0, 1, 127, 128, 129, 255, any}) {
      check_stack<std::uint8_t, std::uint8_t>(random, zero);
      check_stack<std::uint8_t, std::int8_t>(random, zero - 128);
      check_stack<std::int8_t, std::int8_t>(random, zero - 128);
    }
  }
}

/// The parts of a row's sum must fit their columns where the sum is the largest that there is.
TEST(DeviceLayer, HoldsTheLargestSumsBesideAStack) {
  for (const auto value : {std::int8_t{-128}, std::int8_t{127}}) {
    for (const std::int64_t k : {1, 2, 127, 128, 300}) {
      for (const int zero : {-128, -127, -1, 1, 63, 127}) {
        Tensor a(TensorProto::INT8, {1, 1, k}), b(TensorProto::INT8, {2, k, 1});
        std::fill_n(a.mutable_values<std::int8_t>(), k, value);
        const Tensor one = Tensor::of<float>({}, {1}), none = Tensor::of<std::int8_t>({}, {0});
        OneNode node("y = QLinearMatMul (a, b, c, d, e, f, g, h)",
                     {a, one, none, b, one, Tensor::of<std::int8_t>({}, {std::int8_t(zero)}),
                      Tensor::of<float>({}, {static_cast<float>(128 * k)}), none});
        const ProgramLayer layer = node.layer();
        EXPECT_EQ(stack_results_of(layer), expected_of(layer)) << value * k << " " << zero;
      }
    }
  }
}

TEST(QuantizedNode, IsNoLayerIfOnlySumsAreSupported) {
  std::mt19937 random(4);
  const Tensor a = random_bytes<std::uint8_t>({3, 20}, random);
  const Tensor b = random_bytes<std::int8_t>({20, 4}, random);
  const Tensor one = random_scales(1, random);
  const Tensor a_zero = random_bytes<std::uint8_t>({}, random);
  const Tensor zero = Tensor::of<std::int8_t>({}, {0});
  OneNode zero_point("y = QLinearMatMul (a, b, c, d, e, f, g, h)",
                     {a, one, a_zero, b, random_scales(4, random),
                      Tensor::of<std::int8_t>({4}, {3, 3, 3, 2}), one, a_zero});
  EXPECT_EQ(zero_point.read().place, NodePlace::kSums);
  EXPECT_EQ(zero_point.read().why, "its weights have more than one zero point");
  OneNode integer("y = MatMulInteger (a, b, c)", {a, b, a_zero});
  EXPECT_EQ(integer.read().place, NodePlace::kSums);
  EXPECT_EQ(integer.read().why, "its results are not of 8 bits");
  OneNode floats("y = com.microsoft.QGemm (a, b, c, d, e, f)", {a, one, a_zero, b, one, zero});
  EXPECT_EQ(floats.read().place, NodePlace::kSums);
  OneNode negative("y = QLinearMatMul (a, b, c, d, e, f, g, h)",
                   {a, one, a_zero, b, Tensor::of<float>({}, {-1}), zero, one, a_zero});
  EXPECT_EQ(negative.read().place, NodePlace::kSums);
  EXPECT_EQ(negative.read().why, "its scales are not positive numbers");
}

/// A QLinearConv of random sizes, with one spatial axis or two.
template <class X>
void check_convolution(std::mt19937& random) {
  const auto draw = [&random](int least, int most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const bool flat = draw(0, 3) == 0;
  const std::int64_t groups = draw(1, 3), channels = groups * draw(1, 3),
                     filters = groups * draw(1, 4);
  const auto axes = [&](auto value) { return flat ? Dims{value()} : Dims{value(), value()}; };
  const Dims kernel = axes([&] { return draw(1, 3); });
  const Dims pads = axes([&] { return draw(0, 2); });
  Dims x{draw(1, 2), channels}, w{filters, channels / groups};
  for (const std::int64_t size : axes([&] { return draw(5, 7); })) x.push_back(size);
  w.insert(w.end(), kernel.begin(), kernel.end());
  Tensor bias(TensorProto::INT32, {filters});
  for (std::int64_t i = 0; i < filters; ++i) {
    bias.mutable_values<std::int32_t>()[i] = static_cast<std::int32_t>(random() % 20001) - 10000;
  }
  const bool without = draw(0, 2) == 0;
  Tensors inputs{random_bytes<X>(x, random),     random_scales(1, random),
                 random_bytes<X>({}, random),    random_bytes<std::int8_t>(w, random),
                 random_scales(filters, random), Tensor::of<std::int8_t>({}, {0}),
                 random_scales(1, random),       random_bytes<X>({}, random)};
  if (!without) inputs.push_back(bias);
  OneNode node(fmt::format("y = QLinearConv <group = {}, strides = [{}], dilations = [{}], "
                           "pads = [{},{}]> (a, b, c, d, e, f, g, h{})",
                           groups, fmt::join(axes([&] { return draw(1, 2); }), ","),
                           fmt::join(axes([&] { return draw(1, 2); }), ","), fmt::join(pads, ","),
                           fmt::join(axes([&] { return draw(0, 2); }), ","), without ? "" : ", i"),
               inputs);
  const QuantizedNode read = node.read();
  ASSERT_EQ(read.place, NodePlace::kLayer) << read.why;
  for (const bool read_on_device : {false, true}) node.check_results(read_on_device);
  const ProgramLayer layer = node.layer();
  const bool packed = layer.a.rows() == layer.expected.rows() && layer.a.cols() == layer.w.cols() &&
                      !layer.job.plan.window;
  EXPECT_EQ(packed ? results_of(layer) : results_of(layer, *read.convolution), expected_of(layer));
}

TEST(DeviceLayer, GivesTheBytesOfQLinearConv) {
  std::mt19937 random(5);
  for (int i = 0; i < 100; ++i) {
    check_convolution<std::uint8_t>(random);
    check_convolution<std::int8_t>(random);
  }
}

}  // namespace
}  // namespace gemm64
