// SPDX-License-Identifier: Apache-2.0
#include "host/dut/network_run.hpp"

#include "host/dut/network_operands.hpp"
#include "host/util/error.hpp"

namespace gemm64::dut {
namespace {

/// Activations are drawn from other numbers than weights.
constexpr std::uint32_t kActivationSeed = 0x10000;

double macs_of(const NetworkProduct& product) {
  return static_cast<double>(product.shape.m) * static_cast<double>(product.shape.k) *
         static_cast<double>(product.shape.n) * static_cast<double>(product.count);
}

/// The constants among a node's inputs, all that is known without a run.
Tensors constants_of(const OnnxModel& model, const onnx::NodeProto& node) {
  Tensors inputs(static_cast<std::size_t>(node.input_size()));
  for (int i = 0; i < node.input_size(); ++i) {
    const onnx::TensorProto* const constant = model.constant(node.input(i));
    if (constant != nullptr && has_data(*constant)) {
      inputs[static_cast<std::size_t>(i)] = Tensor::from_proto(*constant);
    }
  }
  return inputs;
}

class NetworkRun {
 public:
  NetworkRun(VerilatedBench& bench, const Description& description, const NetworkWork& work,
             std::uint32_t seed, const std::function<void(const std::string&, double)>& progress)
      : bench_(bench), of_(description), work_(work), seed_(seed), progress_(progress) {
    for (const NetworkProduct& product : work.products) all_ += macs_of(product);
  }

  RunResult run() {
    if (const std::optional<Executor> executor = executor_of(); executor) {
      run_in_network(*executor);
      return std::move(result_);
    }
    for (const NetworkProduct& product : work_.products) {
      const NodeContext node{product.node, product.name, work_.model ? work_.model->opset() : 0};
      add(product, node,
          product.node == nullptr ? Tensors() : constants_of(*work_.model, *product.node));
    }
    return std::move(result_);
  }

 private:
  std::optional<Executor> executor_of() {
    if (!work_.inputs) return std::nullopt;
    try {
      return Executor(*work_.model);
    } catch (const UsageError& error) {
      result_.why_random = error.what();
      return std::nullopt;
    }
  }

  void run_in_network(const Executor& executor) {
    ExecutorHooks hooks;
    hooks.instead = [this](const Step& step, const Tensors& inputs) {
      for (const NetworkProduct& product : work_.products) {
        if (product.node == step.context.node) add(product, step.context, inputs);
      }
      return Tensors();
    };
    executor.run(*work_.inputs, hooks);
  }

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
