// SPDX-License-Identifier: Apache-2.0
#include "host/execute/network_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "host/execute/gemm.hpp"
#include "host/execute/linear.hpp"

namespace gemm64 {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

GemmShape shape_of(const MatrixF& a, const ConstMapF& weights) {
  return {static_cast<std::uint64_t>(a.rows()), static_cast<std::uint64_t>(a.cols()),
          static_cast<std::uint64_t>(weights.rows())};
}

/// A tensor of float32 as rows: one for each index of its first axis.
MatrixF as_rows(const Tensor& tensor) {
  const std::int64_t rows = tensor.rank() < 2 ? 1 : tensor.dim(0);
  return Eigen::Map<const MatrixF>(tensor.values<float>(), rows, tensor.elements() / rows);
}

/// The network's first output in order of the file, if it is one that quality can be told of.
const Tensor* first_output(const Executor& executor, const NamedTensors& outputs) {
  if (outputs.empty()) return nullptr;
  const auto found = outputs.find(executor.model().graph().output(0).name());
  const Tensor& tensor = found->second;
  if (tensor.type() != onnx::TensorProto::FLOAT || tensor.elements() == 0) return nullptr;
  return &tensor;
}

/// What the float path leaves for the run on the device to be compared with.
struct FloatRun {
  struct Layer {
    Tensor output;
    double macs = 0;
  };
  std::map<const Step*, Layer> layers;
  NamedTensors outputs;
  double macs = 0;
};

FloatRun float_run(const Executor& executor, const NamedTensors& inputs,
                   const RunProgress& progress) {
  FloatRun run;
  ExecutorHooks hooks;
  hooks.instead = [&](const Step& step, const Tensors& arguments) {
    if (progress) progress("float32: " + step.context.label, 0);
    if (!is_linear_layer(step, arguments)) return Tensors{};
    const auto k = static_cast<double>(linear_depth(step.context, arguments));
    const double macs = static_cast<double>(arguments[0].elements()) *
                        static_cast<double>(arguments[1].elements()) / k;
    run.layers[&step].macs = macs;
    run.macs += macs;
    return Tensors{};
  };
  hooks.after = [&](const Step& step, const Tensors& outputs) {
    const auto layer = run.layers.find(&step);
    if (layer != run.layers.end()) layer->second.output = outputs[0];
  };
  run.outputs = executor.run(inputs, hooks);
  return run;
}

/// Products in double, rounded once, and how far sums in float32 may be from them.
class ExactProduct {
 public:
  MatrixF operator()(const MatrixF& a, const ConstMapF& weights) {
    shape = shape_of(a, weights);
    const Matrix<double> exact_a = a.cast<double>();
    MatrixF result(a.rows(), weights.rows());
    constexpr Eigen::Index kRows = 256;  // of the weights at a time: bounds the memory for doubles
    double longest_weights = 0;
    for (Eigen::Index first = 0; first < weights.rows(); first += kRows) {
      const Eigen::Index count = std::min(kRows, weights.rows() - first);
      const Matrix<double> part = weights.middleRows(first, count).cast<double>();
      longest_weights = std::max(longest_weights, part.rowwise().norm().maxCoeff());
      result.middleCols(first, count) = (exact_a * part.transpose()).cast<float>();
    }
    // Sums of K products in any order are within K + 2 roundings of the sum of magnitudes, which
    // is at most the product of the norms.
    bound = static_cast<double>(a.cols() + 2) * 0x1p-24 * exact_a.rowwise().norm().maxCoeff() *
            longest_weights;
    return result;
  }

  GemmShape shape;
  double bound = 0;
};

LayerReport compared_with_double(const Step& step, const Tensors& inputs, const Tensor& found) {
  ExactProduct product;
  const Tensor exact = run_linear(step.context, inputs, std::ref(product));
  const bool is_gemm = step.context.node->op_type() == "Gemm";
  const double alpha = is_gemm ? static_cast<double>(gemm_form(step.context).alpha) : 1.0;
  const MatrixF expected = as_rows(exact);
  LayerReport layer;
  layer.shape = product.shape;
  layer.max_abs_error = max_abs_error(expected, as_rows(found));
  // alpha, beta and the bias round three times more.
  layer.error_bound = std::abs(alpha) * product.bound +
                      3 * 0x1p-23 * static_cast<double>(expected.cwiseAbs().maxCoeff());
  return layer;
}

std::string layer_name(const Executor& executor, const Step& step) {
  return node_label(*step.context.node, static_cast<int>(&step - executor.steps().data()));
}

}  // namespace

bool is_linear_layer(const Step& step, const Tensors& inputs) {
  return step.constant_weights && is_linear(step.context, inputs);
}

NetworkRun run_network(const Executor& executor, const NamedTensors& inputs, Runner& runner,
                       RunReport report, const NodeObserver& after, const RunProgress& progress) {
  const FloatRun exact = float_run(executor, inputs, progress);
  NetworkRun run;
  double done = 0;
  double seconds = 0;  // of products, the device's and their preparation
  ExecutorHooks hooks;
  hooks.after = after;
  hooks.instead = [&](const Step& step, const Tensors& arguments) {
    const auto layer = exact.layers.find(&step);
    if (layer == exact.layers.end()) return Tensors{};
    const double share = layer->second.macs / exact.macs;
    runner.set_progress(done, share);
    done += share;
    const auto begin = Clock::now();
    const Tensor output =
        run_linear(step.context, arguments, [&](const MatrixF& a, const ConstMapF& weights) {
          MatrixF product;
          report.layers.push_back(runner.linear(layer_name(executor, step), a, weights, product));
          return product;
        });
    seconds += seconds_since(begin);
    if (report.precision == Precision::kInt8) {
      report.layers.back().max_abs_error =
          max_abs_error(as_rows(layer->second.output), as_rows(output));
    }
    return Tensors{output};
  };
  const auto begin = Clock::now();
  run.outputs = executor.run(inputs, hooks);
  report.host =
      HostWork{executor.steps().size() - report.layers.size(), seconds_since(begin) - seconds};
  const Tensor* expected = first_output(executor, exact.outputs);
  if (expected != nullptr) {
    report.quality =
        network_quality(as_rows(*expected), as_rows(*first_output(executor, run.outputs)));
  }
  run.report = std::move(report);
  return run;
}

NetworkRun run_on_host(const Executor& executor, const NamedTensors& inputs, RunReport report,
                       const NodeObserver& after, const RunProgress& progress) {
  report.host_only = true;
  NetworkRun run;
  double seconds = 0;  // of comparing
  ExecutorHooks hooks;
  hooks.after = after;
  hooks.instead = [&](const Step& step, const Tensors& arguments) {
    if (progress) progress(step.context.label, 0);
    if (!is_linear_layer(step, arguments)) return Tensors{};
    const Tensors found = compute(*step.info, step.context, arguments);
    const auto begin = Clock::now();
    report.layers.push_back(compared_with_double(step, arguments, found[0]));
    report.layers.back().name = layer_name(executor, step);
    seconds += seconds_since(begin);
    return found;
  };
  const auto begin = Clock::now();
  run.outputs = executor.run(inputs, hooks);
  report.host = HostWork{executor.steps().size(), seconds_since(begin) - seconds};
  run.report = std::move(report);
  return run;
}

}  // namespace gemm64
