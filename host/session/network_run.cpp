// SPDX-License-Identifier: Apache-2.0
#include "host/session/network_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "host/execute/linear.hpp"
#include "host/graph/onnx/linear_layer.hpp"
#include "host/graph/onnx/work.hpp"
#include "host/kernels/matmul_bits.hpp"
#include "host/run/float_gemm.hpp"
#include "host/session/device_schedule.hpp"
#include "host/session/float64_reference.hpp"
#include "host/session/network_pass.hpp"
#include "host/session/passes.hpp"

namespace gemm64 {
namespace {

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

void set_outputs(NetworkRun& run, const Executor& executor, NamedTensors outputs) {
  const auto& names = executor.model().graph().output();
  if (!names.empty()) run.first = outputs.at(names[0].name());
  run.outputs = std::move(outputs);
}

/// The first output of the float network, whose head takes a few images at a time.
Tensor exact_output(const Executor& executor, const NetworkInputs& inputs) {
  const auto& steps = executor.steps();
  const auto first = std::find_if(steps.begin(), steps.end(),
                                  [](const Step& step) { return is_float_product(step); });
  const auto head = static_cast<std::size_t>(first - steps.begin());
  Values values = run_head(executor, head, inputs, {});
  executor.run_steps(head, steps.size(), values, {});
  return executor.outputs(values).at(executor.model().graph().output(0).name());
}

/// A runner that runs nothing: all sums are the reference's.
JobRunner reference_runner(JobRunner& runner) {
  RunOptions options;
  options.precision = runner.options().precision;
  options.accumulate = runner.options().accumulate;
  options.memory = runner.options().memory;
  options.alone = OneJob{std::numeric_limits<std::size_t>::max(), 0, nullptr};
  return JobRunner(runner.device(), runner.driver(), options);
}

}  // namespace

NamedTensors host_outputs(const Executor& executor, const Executable& executable, std::size_t first,
                          const NetworkInputs& inputs, JobRunner& runner) {
  JobRunner reference = reference_runner(runner);
  ExecutorHooks hooks;
  const IntegerProduct exact = [&](const MatrixI8& a, const MatrixI8& w) {
    const auto size = [](Eigen::Index index) { return static_cast<std::uint64_t>(index); };
    MatrixI32 sums;
    const GemmShape shape{size(a.rows()), size(a.cols()), size(w.rows())};
    const Job job = reference.job("", shape);
    reference.run(job, a, w, sums, ProgressShare());
    return sums;
  };
  hooks.instead = [&](const Step& step, const Tensors& arguments) {
    if (adds_in_lanes(*step.context.node) &&
        executable.plan.sums.count(static_cast<int>(index_of(executor, step))) != 0) {
      NodeContext context = step.context;
      context.product = &exact;
      return compute(*step.info, context, arguments);
    }
    // The host's other products of integers are exact.
    if (!is_float_product(step) ||
        !why_product_on_host(executor, executable, runner.options(), step, arguments).empty()) {
      return Tensors{};
    }
    const auto product = [&](const MatrixF& a, const ConstMapF& weights) {
      MatrixF result;
      run_float(reference, runner.options().precision, step.context.label, a, weights, result,
                ProgressShare());
      return result;
    };
    return Tensors{run_linear(step.context, arguments, product)};
  };
  Values values = run_head(executor, first, inputs, hooks);
  executor.run_steps(first, executor.steps().size(), values, hooks);
  return executor.outputs(values);
}

void compare_outputs(const NamedTensors& expected, const NamedTensors& found, OutputCheck& check) {
  for (const auto& [name, tensor] : found) {
    const Tensor& wanted = expected.at(name);
    const std::size_t size = tensor.element_size();
    check.values += static_cast<std::uint64_t>(tensor.elements());
    const bool same = wanted.type() == tensor.type() && wanted.dims() == tensor.dims();
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
      const std::size_t at = static_cast<std::size_t>(i) * size;
      if (same && std::memcmp(wanted.raw() + at, tensor.raw() + at, size) == 0) continue;
      if (check.mismatches++ == 0) check.first = name;
    }
  }
}

void describe(const NetworkInputs& inputs, RunReport& report) {
  report.why_in_turn = inputs.why_in_turn;
  report.images_at_once = static_cast<std::uint64_t>(inputs.at_once);
}

void check_jobs(const OnnxModel& model, const JobRunner& runner) {
  const Executor executor(model);
  make_schedule(executor, runner);
}

NetworkRun run_network(const Executor& executor, const NetworkInputs& inputs, JobRunner& runner,
                       RunReport report, const NodeObserver& after, const RunProgress& progress,
                       const Executor* exact_network, const Executable* compiled) {
  const DeviceSchedule schedule = make_schedule(executor, runner, compiled);
  std::vector<Job> jobs;
  for (std::int64_t i = 0; i < inputs.passes(); ++i) {
    jobs.insert(jobs.end(), schedule.jobs.begin(), schedule.jobs.end());
  }
  runner.announce(jobs);
  for (const DeviceProgram& program : schedule.executable.plan.programs) {
    report.chained = report.chained || program.layers.size() > 1;
  }
  for (const SumsProgram& program : schedule.executable.sums) {
    report.chained = report.chained || program.list.jobs.size() > 1;
  }
  NetworkRun run;
  NetworkPass pass(executor, runner, schedule, inputs, after, progress);
  const CheckLevel check = runner.options().check;
  const auto begin = WallClock::now();
  double compare_seconds = 0;
  Passes passes;
  const auto ended = [&](std::int64_t i, const Values& values) {
    const NetworkInputs given = inputs.pass(i);
    const auto& graph = executor.model().graph();
    Tensor beside_it;
    if (exact_network != nullptr && check != CheckLevel::kNone) {
      beside_it = exact_output(*exact_network, given);
    }
    const Tensor* wanted = exact_network != nullptr   ? &beside_it
                           : graph.output_size() == 0 ? nullptr
                                                      : pass.exact().find(graph.output(0).name());
    NamedTensors outputs = executor.outputs(values);
    if (check == CheckLevel::kOutputs) {
      const auto comparing = WallClock::now();
      compare_outputs(host_outputs(executor, schedule.executable, schedule.first, given, runner),
                      outputs, report.outputs);
      compare_seconds += seconds_since(comparing);
    }
    if (wanted != nullptr && !wanted->present()) wanted = nullptr;
    passes.add(graph, std::move(outputs), wanted, inputs.images_of(i), inputs.at_once);
  };
  try {
    pass.run(ended);
    set_outputs(run, executor, passes.outputs());
  } catch (const DeviceError& error) {
    report.error = error.what();
  }
  report.layers = pass.take_layers();
  report.host_layers = pass.host_layers();
  report.host = pass.host_work();
  report.host->reference_seconds += compare_seconds;
  report.host->seconds =
      seconds_since(begin) - pass.device_seconds() - report.host->reference_seconds;
  describe(inputs, report);
  // Where nothing was quantized, float32 would agree with itself.
  if ((exact_network != nullptr && check != CheckLevel::kNone) || pass.any_exact()) {
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
    if (report.check == CheckLevel::kNone) return Tensors{};
    const Tensors found = compute(*step.info, step.context, arguments);
    const auto begin = WallClock::now();
    layers.push_back(compare_with_double(step, arguments, found[0]));
    layers.back().name = layer_name(executor, step);
    seconds += seconds_since(begin);
    return found;
  };
  const auto begin = WallClock::now();
  NetworkRun run;
  Passes passes;
  for (std::int64_t pass = 0; pass < inputs.passes(); ++pass) {
    const NetworkInputs one = inputs.pass(pass);
    passes.add(executor.model().graph(), executor.run(one.take(0, one.images), hooks), nullptr,
               inputs.images_of(pass), inputs.at_once);
    join(report.layers, std::move(layers));
    layers.clear();
  }
  set_outputs(run, executor, passes.outputs());
  report.host.emplace();
  report.host->nodes = executor.steps().size();
  report.host->seconds = seconds_since(begin) - seconds;
  describe(inputs, report);
  run.report = std::move(report);
  return run;
}

}  // namespace gemm64
