// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/networks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "host/graph/onnx/builder.hpp"
#include "host/graph/onnx/save.hpp"
#include "host/numerics/initialize.hpp"
#include "host/util/error.hpp"
#include "host/util/parallel_for.hpp"

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

/// A layer's weights and bias, to be drawn from its own generator.
struct Parameters {
  std::string layer;
  std::size_t fan_in;
  float* weights;
  std::size_t weight_count;
  float* bias;  // nullptr: none is wanted
  std::size_t bias_count;
};

void draw(const Parameters& parameters, std::uint32_t seed) {
  MersenneTwister generator = layer_generator(seed, parameters.layer);
  const float bound = initial_bound(parameters.fan_in);
  fill_uniform(generator, bound, parameters.weights, parameters.weight_count);
  if (parameters.bias != nullptr) {
    fill_uniform(generator, bound, parameters.bias, parameters.bias_count);
  }
}

/// Draws all layers on all cores, the largest first.
void draw_all(std::vector<Parameters> layers, std::uint32_t seed) {
  std::sort(layers.begin(), layers.end(), [](const Parameters& a, const Parameters& b) {
    return a.weight_count > b.weight_count;
  });
  parallel_for(layers.size(), std::thread::hardware_concurrency(),
               [&](std::size_t i) { draw(layers[i], seed); });
}

/// Appends layer after layer, each named as in PyTorch's state_dict.
class Chain {
 public:
  Chain(onnx::GraphProto& graph, std::optional<std::uint32_t> seed, const Dims& input)
      : graph_(graph), builder_(graph), seed_(seed) {
    declare(*graph.add_input(), value_, input);
  }

  void convolution(const std::string& name, std::int64_t out, std::int64_t in, std::int64_t kernel,
                   std::int64_t stride, std::int64_t padding) {
    onnx::NodeProto& node = layer("Conv", name, {out, in, kernel, kernel}, true);
    window(node, kernel, stride, padding);
    set_attribute(node, "dilations", Dims{1, 1});
    set_attribute(node, "group", std::int64_t{1});
  }

  void linear(const std::string& name, std::int64_t in, std::int64_t out, bool with_bias = true) {
    set_attribute(layer("Gemm", name, {out, in}, with_bias), "transB", std::int64_t{1});
  }

  void pooling(const std::string& op_type, const std::string& name, std::int64_t kernel,
               std::int64_t stride) {
    window(apply(op_type, name, {value_}), kernel, stride, 0);
  }

  onnx::NodeProto& plain(const std::string& op_type, const std::string& name) {
    return apply(op_type, name, {value_});
  }

  /// Names the last value "output", and draws all weights where there is a seed.
  void finish(const Dims& dims) {
    value_ = "output";
    graph_.mutable_node(graph_.node_size() - 1)->set_output(0, value_);
    declare(*graph_.add_output(), value_, dims);
    if (seed_) draw_all(std::move(parameters_), *seed_);
  }

 private:
  onnx::NodeProto& layer(const std::string& op_type, const std::string& name, const Dims& dims,
                         bool with_bias) {
    Parameters parameters{name, 1, nullptr, 0, nullptr, 0};
    for (std::size_t i = 1; i < dims.size(); ++i) {
      parameters.fan_in *= static_cast<std::size_t>(dims[i]);
    }
    parameters.bias_count = static_cast<std::size_t>(dims[0]);
    parameters.weight_count = parameters.fan_in * parameters.bias_count;
    std::vector<std::string> inputs{value_, name + ".weight"};
    parameters.weights = add_floats(inputs.back(), dims);
    if (with_bias) {
      inputs.push_back(name + ".bias");
      parameters.bias = add_floats(inputs.back(), {dims[0]});
    }
    parameters_.push_back(parameters);
    return apply(op_type, name, inputs);
  }

  /// Space for an initializer's values; nullptr where it has a shape only.
  float* add_floats(const std::string& name, const Dims& dims) {
    if (seed_) return builder_.add_floats(name, dims);
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.mutable_dims()->Add(dims.begin(), dims.end());
    return nullptr;
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
  const std::optional<std::uint32_t> seed_;
  std::string value_ = "input";
  std::vector<Parameters> parameters_;
};

/// torchvision's modules with their indices; its `avgpool` has nothing to average at this size, and
/// ONNX's Dropout is the identity unless training is asked for.
void append_alexnet(onnx::GraphProto& graph, std::int64_t batch,
                    std::optional<std::uint32_t> seed) {
  struct Convolution {
    std::int64_t out, in, kernel, stride, padding;
    bool pooled;
  };
  constexpr Convolution kConvolutions[] = {{64, 3, 11, 4, 2, true},
                                           {192, 64, 5, 1, 2, true},
                                           {384, 192, 3, 1, 1, false},
                                           {256, 384, 3, 1, 1, false},
                                           {256, 256, 3, 1, 1, true}};
  struct Linear {
    std::int64_t in, out;
    bool hidden;  // dropout before it, ReLU after it
  };
  constexpr Linear kLinears[] = {{9216, 4096, true}, {4096, 4096, true}, {4096, 1000, false}};

  Chain chain(graph, seed, {batch, 3, 224, 224});
  int index = 0;
  const auto feature = [&index] { return fmt::format("features.{}", index++); };
  for (const Convolution& layer : kConvolutions) {
    chain.convolution(feature(), layer.out, layer.in, layer.kernel, layer.stride, layer.padding);
    chain.plain("Relu", feature());
    if (layer.pooled) chain.pooling("MaxPool", feature(), 3, 2);
  }
  chain.pooling("AveragePool", "avgpool", 1, 1);
  set_attribute(chain.plain("Flatten", "flatten"), "axis", std::int64_t{1});
  index = 0;
  const auto classifier = [&index] { return fmt::format("classifier.{}", index++); };
  for (const Linear& layer : kLinears) {
    if (layer.hidden) chain.plain("Dropout", classifier());
    chain.linear(classifier(), layer.in, layer.out);
    if (layer.hidden) chain.plain("Relu", classifier());
  }
  chain.finish({batch, kLinears[2].out});
}

void append_lenet(onnx::GraphProto& graph, std::int64_t batch, std::optional<std::uint32_t> seed) {
  Chain chain(graph, seed, {batch, 1, 32, 32});
  chain.convolution("c1", 6, 1, 5, 1, 0);
  chain.plain("Tanh", "c1.tanh");
  chain.pooling("AveragePool", "s2", 2, 2);
  chain.convolution("c3", 16, 6, 5, 1, 0);
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

void append_mnist_cnn(onnx::GraphProto& graph, std::int64_t batch,
                      std::optional<std::uint32_t> seed) {
  Chain chain(graph, seed, {batch, 1, 28, 28});
  chain.convolution("conv1", 4, 1, 5, 1, 2);
  chain.plain("Relu", "relu1");
  chain.pooling("MaxPool", "pool1", 2, 2);
  chain.convolution("conv2", 8, 4, 5, 1, 2);
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
  void (*append)(onnx::GraphProto&, std::int64_t, std::optional<std::uint32_t>);
};

constexpr Network kNetworks[] = {
    {"alexnet", append_alexnet}, {"lenet", append_lenet}, {"mnist-cnn", append_mnist_cnn}};

}  // namespace

onnx::ModelProto make_linear_model(std::int64_t m, std::int64_t k, std::int64_t n, bool bias,
                                   std::uint32_t seed) {
  constexpr auto kMaxValues = static_cast<std::int64_t>(kMaxModelBytes / sizeof(float));
  if (n > kMaxValues / k || n * k > kMaxValues - n) {
    throw UsageError(fmt::format(
        "weights of {}x{} in float32 do not fit into one ONNX file, which holds {} values", n, k,
        kMaxValues));
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

onnx::ModelProto make_network(const std::string& name, std::int64_t batch,
                              std::optional<std::uint32_t> seed) {
  for (const Network& network : kNetworks) {
    if (name != network.name) continue;
    onnx::ModelProto model = empty_model(name);
    network.append(*model.mutable_graph(), batch, seed);
    return model;
  }
  throw UsageError(fmt::format("unknown network '{}'; use one of {}", name,
                               fmt::join(known_onnx_networks(), ", ")));
}

}  // namespace gemm64
