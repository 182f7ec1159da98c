// SPDX-License-Identifier: Apache-2.0
#include "host/execute/device_schedule.hpp"

#include <algorithm>
#include <utility>

#include "host/cycles/cycle_model.hpp"
#include "host/execute/linear.hpp"
#include "host/onnx/work.hpp"
#include "host/run/float_gemm.hpp"

namespace gemm64 {
namespace {

/// Why the options leave the device nothing but sums of Linear layers; empty where they do not.
std::string why_sums(const RunOptions& options) {
  if (options.precision == Precision::kFloat32) {
    return "with --precision float32, the device computes products of float32 alone";
  }
  constexpr const char* kAlone = "the device computes Linear layers alone";
  if (options.one_program) return std::string("with --one-program, ") + kAlone;
  if (options.accumulate == Accumulate::kHost) {
    return std::string("with --accumulate host, ") + kAlone;
  }
  return options.results == ResultCode::kInt32 ? std::string("with --results int32, ") + kAlone
                                               : "";
}

/// The jobs of a Linear layer by itself.
std::vector<Job> jobs_alone(const Executor& executor, const JobRunner& runner, const Step& step) {
  const std::optional<GemmShape> shape = linear_shape(executor.model(), step);
  if (!shape) return {};
  if (is_float_product(step)) return float_jobs(runner, layer_name(executor, step), *shape);
  if (runner.options().precision == Precision::kFloat32) return {};
  return {runner.job(layer_name(executor, step), *shape)};
}

}  // namespace

std::size_t index_of(const Executor& executor, const Step& step) {
  return static_cast<std::size_t>(&step - executor.steps().data());
}

std::string layer_name(const Executor& executor, const Step& step) {
  return node_label(*step.context.node, static_cast<int>(index_of(executor, step)));
}

bool is_float_product(const Step& step) {
  const std::string& type = step.context.node->op_type();
  return step.context.node->domain().empty() && (type == "Gemm" || type == "MatMul");
}

CompileOptions compile_options(const RunOptions& options) {
  CompileOptions result;
  result.convolutions = options.convolutions;
  result.why_sums = why_sums(options);
  return result;
}

DeviceSchedule make_schedule(const Executor& executor, const JobRunner& runner,
                             const Executable* compiled) {
  DeviceSchedule schedule;
  const CompileOptions options = compile_options(runner.options());
  if (compiled != nullptr) {
    require_same(*compiled, runner.geometry(), options, executor.model().name());
    schedule.executable = *compiled;
  } else {
    schedule.executable = compile(executor.model(), runner.geometry(), options);
  }
  const DevicePlan& plan = schedule.executable.plan;
  const std::size_t steps = executor.steps().size();
  schedule.on_host.assign(steps, 0);
  schedule.on_device.assign(steps, 0);
  const auto macs_per_clock = static_cast<double>(runner.geometry().macs_per_clock());
  std::vector<bool> is_host(steps, true);  // are a step's products the host's?
  schedule.first = steps;
  for (const PassItem& item : schedule.executable.order) {
    if (item.is_program) {
      const JobProgram& made = schedule.executable.programs[item.index].list;
      runner.check_fits(made);
      double clocks = 0;
      for (const Counters& layer :
           predict_layers(made, runner.geometry(), runner.options().memory)) {
        clocks += static_cast<double>(layer[counter::kTotalClocks]);
      }
      schedule.of_program.push_back(clocks);
      schedule.all += clocks;
      schedule.jobs.insert(schedule.jobs.end(), made.jobs.begin(), made.jobs.end());
      for (const DeviceLayer& layer : plan.programs[item.index].layers) {
        schedule.first = std::min(schedule.first, static_cast<std::size_t>(layer.node));
      }
      continue;
    }
    const std::size_t i = item.index;
    for (Job& job : jobs_alone(executor, runner, executor.steps()[i])) {
      is_host[i] = false;
      schedule.first = std::min(schedule.first, i);
      schedule.on_device[i] += static_cast<double>(job.plan.shape.macs()) / macs_per_clock;
      schedule.jobs.push_back(std::move(job));
    }
  }
  for (std::size_t i = 0; i < steps; ++i) {
    const std::optional<Work> work = work_of(executor.model(), *executor.steps()[i].context.node);
    // Steps before the first one may run in groups of images.
    if (work && is_host[i] && i >= schedule.first) {
      schedule.on_host[i] = static_cast<double>(work->macs) / macs_per_clock;
    }
    schedule.all += schedule.on_host[i] + schedule.on_device[i];
  }
  return schedule;
}

}  // namespace gemm64
