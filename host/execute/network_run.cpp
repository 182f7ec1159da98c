// SPDX-License-Identifier: Apache-2.0
#include "host/execute/network_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <unordered_map>

#include "host/execute/double_check.hpp"
#include "host/execute/layer_chains.hpp"
#include "host/execute/linear.hpp"
#include "host/execute/passes.hpp"
#include "host/onnx/work.hpp"
#include "host/run/float_gemm.hpp"

namespace gemm64 {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string layer_name(const Executor& executor, const Step& step) {
  return node_label(*step.context.node, static_cast<int>(&step - executor.steps().data()));
}

/// A node with MACs that ran on the host.
std::optional<HostLayer> host_layer(const Executor& executor, const Step& step, std::string reason,
                                    std::uint64_t passes) {
  const onnx::NodeProto& node = *step.context.node;
  const std::optional<Work> work = work_of(executor.model(), node);
  if (work && work->macs == 0) return std::nullopt;
  HostLayer layer{layer_name(executor, step), node.op_type(), 0, std::move(reason)};
  if (work) {
    layer.macs = work->macs * passes;
  } else {
    layer.reason += "; its MACs are not known";
  }
  return layer;
}

/// Is it a Linear layer of float32, rather than of integers?
bool is_float_product(const Step& step) {
  const std::string& type = step.context.node->op_type();
  return step.context.node->domain().empty() && (type == "Gemm" || type == "MatMul");
}

/// Linear layers whose jobs follow from the file alone, and the MACs of each step on the device.
struct Expected {
  std::vector<Job> jobs;
  std::unordered_map<const Step*, double> macs;
  double all_macs = 0;
  std::size_t first = 0;  // step that may be the first on the device
};

Expected expect_jobs(const Executor& executor, const JobRunner& runner) {
  Expected expected;
  expected.first = executor.steps().size();
  for (const Step& step : executor.steps()) {
    const std::optional<GemmShape> shape = linear_shape(executor.model(), step);
    if (!shape) continue;
    const std::size_t index = static_cast<std::size_t>(&step - executor.steps().data());
    expected.first = std::min(expected.first, index);
    if (is_float_product(step)) {
      for (Job& job : float_jobs(runner, layer_name(executor, step), *shape)) {
        expected.jobs.push_back(std::move(job));
      }
    } else if (runner.options().precision == Precision::kInt8) {
      expected.jobs.push_back(runner.job(layer_name(executor, step), *shape));
    } else {
      continue;
    }
    const auto macs = static_cast<double>(shape->macs());
    expected.macs[&step] = macs;
    expected.all_macs += macs;
  }
  return expected;
}

/// The part of the work that each step is: by its MACs, and a little for those without.
std::vector<double> step_shares(const Executor& executor, std::int64_t passes) {
  std::vector<double> shares;
  double all = 0;
  for (const Step& step : executor.steps()) {
    const std::optional<Work> work = work_of(executor.model(), *step.context.node);
    shares.push_back(1 + (work ? static_cast<double>(work->macs) : 0));
    all += shares.back();
  }
  for (double& share : shares) share /= all * static_cast<double>(passes);
  return shares;
}

/// The float32 values that differ from those that the device's layers led to.
class ExactValues {
 public:
  /// `arguments` of a node with the float32 network's values; nothing where they are the same.
  std::optional<Tensors> arguments(const Step& step, const Tensors& arguments) const {
    Tensors exact = arguments;
    bool differ = false;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const auto found = values_.find(step.context.node->input(static_cast<int>(i)));
      if (found == values_.end()) continue;
      exact[i] = found->second;
      differ = true;
    }
    if (!differ) return std::nullopt;
    return exact;
  }

  void store(const Step& step, const Tensors& outputs) {
    const onnx::NodeProto& node = *step.context.node;
    for (int i = 0; i < node.output_size(); ++i) {
      if (!node.output(i).empty()) {
        values_[node.output(i)] = outputs.at(static_cast<std::size_t>(i));
      }
    }
  }

  void forget(const Step& step) {
    for (const std::string& name : step.last_uses) values_.erase(name);
  }

  const Tensor* find(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  Values values_;
};

void set_outputs(NetworkRun& run, const Executor& executor, NamedTensors outputs) {
  const auto& names = executor.model().graph().output();
  if (!names.empty()) run.first = outputs.at(names[0].name());
  run.outputs = std::move(outputs);
}

/// How images went through the network.
void describe(const NetworkInputs& inputs, RunReport& report) {
  report.why_in_turn = inputs.why_in_turn;
  report.images_at_once = static_cast<std::uint64_t>(inputs.at_once);
}

/// The first output of the float network, whose head takes a few images at a time.
Tensor exact_output(const Executor& executor, const NetworkInputs& inputs) {
  const auto& steps = executor.steps();
  const auto first = std::find_if(steps.begin(), steps.end(), is_float_product);
  const auto head = static_cast<std::size_t>(first - steps.begin());
  Values values = run_head(executor, head, inputs, {});
  executor.run_steps(head, steps.size(), values);
  return executor.outputs(values).at(executor.model().graph().output(0).name());
}

}  // namespace

void check_jobs(const OnnxModel& model, const JobRunner& runner) {
  const Executor executor(model);
  expect_jobs(executor, runner);
}

NetworkRun run_network(const Executor& executor, const NetworkInputs& inputs, JobRunner& runner,
                       RunReport report, const NodeObserver& after, const RunProgress& progress,
                       const Executor* exact_network) {
  const Expected expected = expect_jobs(executor, runner);
  std::vector<Job> jobs;
  for (std::int64_t pass = 0; pass < inputs.passes(); ++pass) {
    jobs.insert(jobs.end(), expected.jobs.begin(), expected.jobs.end());
  }
  runner.announce(jobs);
  const double all_macs = expected.all_macs * static_cast<double>(inputs.passes());
  ProgressShare share(progress);
  ExactValues exact;
  std::vector<LayerReport> layers;   // of a pass
  double seconds = 0;                // of products, the device's and their preparation
  std::set<const Step*> host_steps;  // a step may run once for each group of images
  const auto add_host_layer = [&](const Step& step, const std::string& reason) {
    if (!host_steps.insert(&step).second) return;
    const auto passes = static_cast<std::uint64_t>(inputs.passes());
    if (auto layer = host_layer(executor, step, reason, passes)) {
      report.host_layers.push_back(std::move(*layer));
    }
  };
  ExecutorHooks hooks;
  const auto on_device = [&](const Step& step, const Tensors& arguments) {
    const auto macs = expected.macs.find(&step);
    share.next(macs == expected.macs.end() ? 0 : macs->second / all_macs);
    const auto begin = Clock::now();
    const Tensor output =
        run_linear(step.context, arguments, [&](const MatrixF& a, const ConstMapF& weights) {
          MatrixF product;
          layers.push_back(
              run_float(runner, layer_name(executor, step), a, weights, product, share));
          return product;
        });
    seconds += seconds_since(begin);
    return Tensors{output};
  };
  // Layers of 8-bit values: the host computes them too, so that chains can run as one program.
  const bool chains_wanted = runner.options().results == ResultCode::kInt8 &&
                             runner.options().accumulate == Accumulate::kDevice &&
                             !runner.options().one_program;
  LayerChains chains([&](std::vector<QuantizedLayer> chain) {
    double macs = 0;
    for (const QuantizedLayer& layer : chain) {
      macs += static_cast<double>(layer.a.size()) * static_cast<double>(layer.w.rows());
    }
    share.next(all_macs == 0 ? 0 : macs / all_macs);
    const auto begin = Clock::now();
    report.chained = report.chained || chain.size() > 1;
    for (LayerReport& layer : run_chain(runner, std::move(chain), share)) {
      layers.push_back(std::move(layer));
    }
    seconds += seconds_since(begin);
  });
  const auto integers_on_device = [&](const Step& step, const Tensors& arguments) {
    std::string why;
    if (chains_wanted) {
      if (auto layer = quantized_layer(executor, step, arguments, why)) {
        const Tensors results = compute(*step.info, step.context, arguments);
        layer->results = results[0];
        chains.add(std::move(*layer));
        return results;
      }
    }
    chains.finish();
    const auto macs = expected.macs.find(&step);
    share.next(macs == expected.macs.end() ? 0 : macs->second / all_macs);
    const IntegerProduct product = [&](const MatrixI8& a, const MatrixI8& w) {
      const auto begin = Clock::now();
      const auto size = [](Eigen::Index index) { return static_cast<std::uint64_t>(index); };
      MatrixI32 sums;
      layers.push_back(runner.run(
          runner.job(layer_name(executor, step), {size(a.rows()), size(a.cols()), size(w.rows())}),
          a, w, sums, share));
      layers.back().why_sums = why;
      seconds += seconds_since(begin);
      return sums;
    };
    NodeContext context = step.context;
    context.product = &product;
    return compute(*step.info, context, arguments);
  };
  bool any_exact = exact_network != nullptr;  // is there a float32 value beside the other?
  hooks.instead = [&](const Step& step, const Tensors& arguments) {
    const std::optional<Tensors> exact_arguments = exact.arguments(step, arguments);
    std::string reason = why_on_host(step, arguments);
    const bool integers = !is_float_product(step);
    if (reason.empty() && integers && report.precision == Precision::kFloat32) {
      reason = "with --precision float32, the device computes products of float32 alone";
    }
    if (!reason.empty()) {
      add_host_layer(step, reason);
      share.report(step.context.label, 1);
      if (exact_arguments) exact.store(step, compute(*step.info, step.context, *exact_arguments));
      return Tensors{};
    }
    if (integers) {
      if (exact_arguments) exact.store(step, compute(*step.info, step.context, *exact_arguments));
      return integers_on_device(step, arguments);
    }
    chains.finish();
    any_exact = true;
    share.report("float32: " + step.context.label, 1);
    const Tensors wanted =
        compute(*step.info, step.context, exact_arguments ? *exact_arguments : arguments);
    exact.store(step, wanted);
    Tensors found = on_device(step, arguments);
    if (report.precision == Precision::kInt8) {
      layers.back().max_abs_error = max_abs_error(as_rows(wanted[0]), as_rows(found[0]));
    }
    return found;
  };
  hooks.after = [&](const Step& step, const Tensors& outputs) {
    if (after) after(step, outputs);
    exact.forget(step);
  };
  const auto begin = Clock::now();
  NetworkRun run;
  Passes passes;
  try {
    for (std::int64_t pass = 0; pass < inputs.passes(); ++pass) {
      exact = ExactValues();
      const NetworkInputs given = inputs.pass(pass);
      Values values = run_head(executor, expected.first, given, hooks);
      executor.run_steps(expected.first, executor.steps().size(), values, hooks);
      chains.finish();
      if (runner.options().one_program) {
        ProgressShare all(progress);
        all.next(1);
        const auto begin_program = Clock::now();
        runner.finish(layers, all);
        seconds += seconds_since(begin_program);
      }
      const auto& graph = executor.model().graph();
      Tensor beside;
      if (exact_network != nullptr) beside = exact_output(*exact_network, given);
      const Tensor* wanted = exact_network != nullptr   ? &beside
                             : graph.output_size() == 0 ? nullptr
                                                        : exact.find(graph.output(0).name());
      passes.add(executor, executor.outputs(values), wanted, inputs.images_of(pass),
                 inputs.at_once);
      join(report.layers, std::move(layers));
      layers.clear();
    }
    set_outputs(run, executor, passes.outputs());
  } catch (const DeviceError& error) {
    report.error = error.what();
    join(report.layers, std::move(layers));
  }
  report.host = HostWork{host_steps.size(), seconds_since(begin) - seconds};
  describe(inputs, report);
  // Where nothing was quantized, float32 would agree with itself.
  if (any_exact) {
    report.quality = passes.quality();
    run.exact = passes.exact();
  }
  run.report = std::move(report);
  return run;
}

NetworkRun run_on_host(const Executor& executor, const NetworkInputs& inputs, RunReport report,
                       const NodeObserver& after, const RunProgress& progress) {
  report.host_only = true;
  const std::vector<double> parts = step_shares(executor, inputs.passes());
  ProgressShare share(progress);
  std::vector<LayerReport> layers;  // of a pass
  double seconds = 0;               // of comparing
  ExecutorHooks hooks;
  hooks.after = after;
  hooks.instead = [&](const Step& step, const Tensors& arguments) {
    share.next(parts[static_cast<std::size_t>(&step - executor.steps().data())]);
    share.report(step.context.label, 0);
    if (!is_float_product(step) || !why_on_host(step, arguments).empty()) return Tensors{};
    const Tensors found = compute(*step.info, step.context, arguments);
    const auto begin = Clock::now();
    layers.push_back(compare_with_double(step, arguments, found[0]));
    layers.back().name = layer_name(executor, step);
    seconds += seconds_since(begin);
    return found;
  };
  const auto begin = Clock::now();
  NetworkRun run;
  Passes passes;
  for (std::int64_t pass = 0; pass < inputs.passes(); ++pass) {
    const NetworkInputs one = inputs.pass(pass);
    passes.add(executor, executor.run(one.take(0, one.images), hooks), nullptr,
               inputs.images_of(pass), inputs.at_once);
    join(report.layers, std::move(layers));
    layers.clear();
  }
  set_outputs(run, executor, passes.outputs());
  report.host = HostWork{executor.steps().size(), seconds_since(begin) - seconds};
  describe(inputs, report);
  run.report = std::move(report);
  return run;
}

}  // namespace gemm64
