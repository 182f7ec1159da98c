// SPDX-License-Identifier: Apache-2.0
#include "host/dut/network_run.hpp"

#include <set>

#include "host/dut/network_operands.hpp"
#include "host/graph/onnx/host_session.hpp"
#include "host/ort/api.hpp"
#include "host/util/error.hpp"

namespace gemm64::dut {
namespace {

/// Activations are drawn from other numbers than weights.
constexpr std::uint32_t kActivationSeed = 0x10000;

double macs_of(const NetworkProduct& product) {
  return static_cast<double>(product.shape.m) * static_cast<double>(product.shape.k) *
         static_cast<double>(product.shape.n) * static_cast<double>(product.count);
}

/// A node's inputs as far as they are known: constants, and `values` by name.
Tensors inputs_of(const OnnxModel& model, const onnx::NodeProto& node, const NamedTensors& values) {
  Tensors inputs(static_cast<std::size_t>(node.input_size()));
  for (int i = 0; i < node.input_size(); ++i) {
    const std::string& name = node.input(i);
    const auto value = values.find(name);
    const onnx::TensorProto* const constant = model.constant(name);
    Tensor& input = inputs[static_cast<std::size_t>(i)];
    if (value != values.end()) {
      input = value->second;
    } else if (constant != nullptr && has_data(*constant)) {
      input = Tensor::from_proto(*constant);
    }
  }
  return inputs;
}

/// The values of the network that its products read, by ONNX Runtime.
NamedTensors values_of(const NetworkWork& work) {
  const OnnxModel& model = *work.model;
  HostModel own = host_model(model, false, model.proto());
  onnx::GraphProto& graph = *own.proto.mutable_graph();
  std::set<std::string> names;
  for (const auto& output : graph.output()) names.insert(output.name());
  for (const NetworkProduct& product : work.products) {
    for (const std::string& name : product.node->input()) {
      if (model.is_graph_input(name) || model.constant(name) != nullptr) continue;
      if (name.empty() || !names.insert(name).second) continue;
      onnx::ValueInfoProto& output = *graph.add_output();
      output.set_name(name);
      if (const std::optional<TensorType> type = model.type(name)) {
        output.mutable_type()->mutable_tensor_type()->set_elem_type(type->data_type);
      }
    }
  }
  const ort::Environment environment(ort::own_library());
  NamedTensors values = host_session(environment, own).run(*work.inputs);
  values.insert(work.inputs->begin(), work.inputs->end());
  return values;
}

class NetworkRun {
 public:
  NetworkRun(VerilatedBench& bench, const Description& description, const NetworkWork& work,
             std::uint32_t seed, const std::function<void(const std::string&, double)>& progress)
      : bench_(bench), of_(description), work_(work), seed_(seed), progress_(progress) {
    for (const NetworkProduct& product : work.products) all_ += macs_of(product);
  }

  RunResult run() {
    NamedTensors values;
    if (work_.inputs) {
      try {
        values = values_of(work_);
      } catch (const ort::Error& error) {
        result_.why_random = onnxruntime_error(work_.name, error).what();
      }
    }
    for (const NetworkProduct& product : work_.products) {
      const NodeContext node{product.node, product.name, work_.model ? work_.model->opset() : 0};
      add(product, node,
          product.node == nullptr ? Tensors() : inputs_of(*work_.model, *product.node, values));
    }
    return std::move(result_);
  }

 private:
  void add(const NetworkProduct& product, const NodeContext& node, const Tensors& inputs) {
    // A design that stopped would stop again.
    if (stopped_) return;
    std::optional<ProductRun> sum;
    const double share = macs_of(product) / static_cast<double>(product.count) / all_;
    for (std::uint64_t i = 0; i < product.count && (!sum || sum->error.empty()); ++i) {
      const std::uint32_t own = seed_ + static_cast<std::uint32_t>(i);
      const auto [m, k, n] = product.shape;
      std::optional<Operands> weights = weights_of(product, inputs, i, of_.weights);
      std::optional<Operands> activations =
          activations_of(product, node, inputs, i, of_.activations);
      const bool random_weights = !weights;
      const bool random_activations = !activations;
      if (!weights) weights = random_operands(n, k, of_.weights, own);
      if (!activations) activations = random_operands(m, k, of_.activations, own + kActivationSeed);
      ProductRun one = run_product(bench_, of_, *activations, *weights, [&](double part) {
        progress_(product.name, done_ + part * share);
      });
      done_ += share;
      one.random_weights = random_weights;
      one.random_activations = random_activations;
      if (sum) {
        sum->add(one);
      } else {
        one.name = product.name;
        one.operation = product.operation;
        sum = one;
      }
    }
    stopped_ = !sum->error.empty();
    result_.products.push_back(*sum);
  }

  VerilatedBench& bench_;
  const Description& of_;
  const NetworkWork& work_;
  std::uint32_t seed_;
  const std::function<void(const std::string&, double)>& progress_;
  double all_ = 0, done_ = 0;
  bool stopped_ = false;
  RunResult result_;
};

}  // namespace

RunResult run_network(VerilatedBench& bench, const Description& description,
                      const NetworkWork& work, std::uint32_t seed,
                      const std::function<void(const std::string&, double)>& progress) {
  return NetworkRun(bench, description, work, seed, progress).run();
}

}  // namespace gemm64::dut
