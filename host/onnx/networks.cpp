// SPDX-License-Identifier: Apache-2.0
#include "host/onnx/networks.hpp"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "host/error.hpp"
#include "host/models/alexnet.hpp"
#include "host/models/initialize.hpp"
#include "host/onnx/builder.hpp"
#include "host/onnx/save.hpp"

namespace gemm64 {
namespace {

constexpr std::int64_t kOpset = 13;
constexpr std::int64_t kIrVersion = 7;  // the first that goes with this opset

using Dims = std::vector<std::int64_t>;

onnx::ModelProto empty_model(const std::string& name) {
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("gemm64");
  model.add_opset_import()->set_version(kOpset);
  model.mutable_graph()->set_name(name);
  return model;
}

/// Appends layer after layer, each named as in PyTorch's state_dict.
class Chain {
 public:
  Chain(onnx::GraphProto& graph, std::uint32_t seed, const Dims& input)
      : graph_(graph), builder_(graph), seed_(seed) {
    declare(*graph.add_input(), value_, input);
  }

  void convolution(const std::string& name, std::int64_t out, std::int64_t in, std::int64_t kernel,
                   std::int64_t padding) {
    const Dims dims{out, in, kernel, kernel};
    const auto [weights, bias] = draw(name, out, in * kernel * kernel);
    convolution(name, dims, weights.data(), bias.data(), 1, padding);
  }

  void convolution(const std::string& name, const Dims& dims, const float* weights,
                   const float* bias, std::int64_t stride, std::int64_t padding) {
    onnx::NodeProto& node = layer("Conv", name, dims, weights, bias);
    window(node, dims[2], stride, padding);
    set_attribute(node, "dilations", Dims{1, 1});
    set_attribute(node, "group", std::int64_t{1});
  }

  void linear(const std::string& name, std::int64_t in, std::int64_t out, bool with_bias = true) {
    const auto [weights, bias] = draw(name, out, in);
    linear(name, {out, in}, weights.data(), with_bias ? bias.data() : nullptr);
  }

  void linear(const std::string& name, const Dims& dims, const float* weights, const float* bias) {
    set_attribute(layer("Gemm", name, dims, weights, bias), "transB", std::int64_t{1});
  }

  void pooling(const std::string& op_type, const std::string& name, std::int64_t kernel,
               std::int64_t stride) {
    window(apply(op_type, name, {value_}), kernel, stride, 0);
  }

  onnx::NodeProto& plain(const std::string& op_type, const std::string& name) {
    return apply(op_type, name, {value_});
  }

  /// Names the last value "output".
  void finish(const Dims& dims) {
    value_ = "output";
    graph_.mutable_node(graph_.node_size() - 1)->set_output(0, value_);
    declare(*graph_.add_output(), value_, dims);
  }

 private:
  /// Weights [out x in] and a bias of `out` values.
  std::pair<std::vector<float>, std::vector<float>> draw(const std::string& name, std::int64_t out,
                                                         std::int64_t in) const {
    std::mt19937 generator = layer_generator(seed_, name);
    const float bound = initial_bound(static_cast<std::size_t>(in));
    std::vector<float> weights(static_cast<std::size_t>(out * in));
    std::vector<float> bias(static_cast<std::size_t>(out));
    fill_uniform(generator, bound, weights.data(), weights.size());
    fill_uniform(generator, bound, bias.data(), bias.size());
    return {std::move(weights), std::move(bias)};
  }

  onnx::NodeProto& layer(const std::string& op_type, const std::string& name, const Dims& dims,
                         const float* weights, const float* bias) {
    std::vector<std::string> inputs{value_, builder_.add_floats(name + ".weight", dims, weights)};
    if (bias != nullptr) {
      inputs.push_back(builder_.add_floats(name + ".bias", {dims[0]}, bias));
    }
    return apply(op_type, name, inputs);
  }

  onnx::NodeProto& apply(const std::string& op_type, const std::string& name,
                         const std::vector<std::string>& inputs) {
    value_ = name + ".output";
    return builder_.add_node(op_type, name, inputs, {value_});
  }

  static void window(onnx::NodeProto& node, std::int64_t kernel, std::int64_t stride,
                     std::int64_t padding) {
    set_attribute(node, "kernel_shape", Dims{kernel, kernel});
    set_attribute(node, "strides", Dims{stride, stride});
    set_attribute(node, "pads", Dims{padding, padding, padding, padding});
  }

  onnx::GraphProto& graph_;
  GraphBuilder builder_;
  const std::uint32_t seed_;
  std::string value_ = "input";
};

/// torchvision's modules with their indices; its `avgpool` has nothing to average at this size, and
/// ONNX's Dropout is the identity unless training is asked for.
void append_alexnet(onnx::GraphProto& graph, std::int64_t batch, std::uint32_t seed) {
  constexpr std::int64_t kClasses = 1000;
  Chain chain(graph, seed,
              {batch, static_cast<std::int64_t>(kImageNetChannels),
               static_cast<std::int64_t>(kImageNetSize), static_cast<std::int64_t>(kImageNetSize)});
  const AlexNet alexnet(seed);
  int index = 0;
  const auto name = [&index] { return fmt::format("features.{}", index++); };
  for (const Stage& stage : alexnet.stages()) {
    if (const auto* convolution = std::get_if<Convolution>(&stage)) {
      const auto size = [](std::size_t value) { return static_cast<std::int64_t>(value); };
      chain.convolution(name(),
                        {size(convolution->out_channels), size(convolution->in_channels),
                         size(convolution->kernel), size(convolution->kernel)},
                        convolution->weights.data(), convolution->bias.data(),
                        size(convolution->stride), size(convolution->padding));
      if (convolution->relu) chain.plain("Relu", name());
    } else {
      const MaxPooling& pooling = std::get<MaxPooling>(stage);
      chain.pooling("MaxPool", name(), static_cast<std::int64_t>(pooling.kernel),
                    static_cast<std::int64_t>(pooling.stride));
    }
  }
  chain.pooling("AveragePool", "avgpool", 1, 1);
  set_attribute(chain.plain("Flatten", "flatten"), "axis", std::int64_t{1});
  index = 0;
  const auto next = [&index] { return fmt::format("classifier.{}", index++); };
  std::vector<LinearLayer> layers = alexnet.linear_layers();
  for (LinearLayer& layer : layers) {
    if (layer.relu) chain.plain("Dropout", next());
    chain.linear(next(), {layer.weights.rows(), layer.weights.cols()}, layer.weights.data(),
                 layer.bias.data());
    layer.weights.resize(0, 0);  // they are in the graph now
    if (layer.relu) chain.plain("Relu", next());
  }
  chain.finish({batch, kClasses});
}

void append_lenet(onnx::GraphProto& graph, std::int64_t batch, std::uint32_t seed) {
  Chain chain(graph, seed, {batch, 1, 32, 32});
  chain.convolution("c1", 6, 1, 5, 0);
  chain.plain("Tanh", "c1.tanh");
  chain.pooling("AveragePool", "s2", 2, 2);
  chain.convolution("c3", 16, 6, 5, 0);
  chain.plain("Tanh", "c3.tanh");
  chain.pooling("AveragePool", "s4", 2, 2);
  set_attribute(chain.plain("Flatten", "flatten"), "axis", std::int64_t{1});
  chain.linear("c5", 400, 120);
  chain.plain("Tanh", "c5.tanh");
  chain.linear("f6", 120, 84);
  chain.plain("Tanh", "f6.tanh");
  chain.linear("out", 84, 10);
  chain.finish({batch, 10});
}

void append_mnist_cnn(onnx::GraphProto& graph, std::int64_t batch, std::uint32_t seed) {
  Chain chain(graph, seed, {batch, 1, 28, 28});
  chain.convolution("conv1", 4, 1, 5, 2);
  chain.plain("Relu", "relu1");
  chain.pooling("MaxPool", "pool1", 2, 2);
  chain.convolution("conv2", 8, 4, 5, 2);
  chain.plain("Relu", "relu2");
  chain.pooling("MaxPool", "pool2", 2, 2);
  set_attribute(chain.plain("Flatten", "flatten"), "axis", std::int64_t{1});
  chain.linear("fc1", 392, 256);
  chain.plain("Relu", "relu3");
  chain.linear("fc2", 256, 10);
  chain.finish({batch, 10});
}

struct Network {
  const char* name;
  void (*append)(onnx::GraphProto&, std::int64_t, std::uint32_t);
};

constexpr Network kNetworks[] = {
    {"alexnet", append_alexnet}, {"lenet", append_lenet}, {"mnist-cnn", append_mnist_cnn}};

}  // namespace

onnx::ModelProto make_linear_model(std::int64_t m, std::int64_t k, std::int64_t n, bool bias,
                                   std::uint32_t seed) {
  constexpr auto kMostValues = static_cast<std::int64_t>(kMostModelBytes / sizeof(float));
  if (n > kMostValues / k || n * k > kMostValues - n) {
    throw UsageError(fmt::format(
        "weights of {}x{} in float32 do not fit into one ONNX file, which holds {} values", n, k,
        kMostValues));
  }
  onnx::ModelProto model = empty_model("linear");
  Chain chain(*model.mutable_graph(), seed, {m, k});
  chain.linear("linear", k, n, bias);
  chain.finish({m, n});
  return model;
}

std::vector<std::string> known_onnx_networks() {
  std::vector<std::string> names;
  for (const Network& network : kNetworks) names.emplace_back(network.name);
  return names;
}

onnx::ModelProto make_network(const std::string& name, std::int64_t batch, std::uint32_t seed) {
  for (const Network& network : kNetworks) {
    if (name != network.name) continue;
    onnx::ModelProto model = empty_model(name);
    network.append(*model.mutable_graph(), batch, seed);
    return model;
  }
  throw UsageError(fmt::format("unknown network '{}'; known are: {}", name,
                               fmt::join(known_onnx_networks(), ", ")));
}

}  // namespace gemm64
