// SPDX-License-Identifier: Apache-2.0
#include "host/session/device_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/compile/device_layer.hpp"
#include "host/cycles/cycle_model.hpp"
#include "host/execute/linear.hpp"
#include "host/graph/onnx/linear_layer.hpp"
#include "host/graph/onnx/work.hpp"
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

/// The jobs of a Linear layer by itself. Where the file's own arithmetic is asked for, a layer of
/// float32 for which the device has no room is noted as the host's.
std::vector<Job> jobs_alone(const Executor& executor, const JobRunner& runner, const Step& step,
                            DevicePlan& plan) {
  const std::vector<GemmShape> shapes = linear_shapes(executor.model(), step);
  const auto index = static_cast<int>(index_of(executor, step));
  if (shapes.empty() || plan.on_host.count(index) != 0) return {};
  if (is_float_product(step)) {
    const Precision precision = runner.options().precision;
    try {
      return float_jobs(runner, precision, layer_name(executor, step), shapes[0]);
    } catch (const UsageError& error) {
      if (precision != Precision::kFile) throw;
      plan.on_host[index] = error.what();
      return {};
    }
  }
  if (runner.options().precision == Precision::kFloat32) return {};
  std::vector<Job> jobs;
  for (const GemmShape& shape : shapes) {
    jobs.push_back(runner.job(job_name(executor, step, jobs.size()), shape));
  }
  return jobs;
}

}  // namespace

std::size_t index_of(const Executor& executor, const Step& step) {
  return static_cast<std::size_t>(&step - executor.steps().data());
}

std::string layer_name(const Executor& executor, const Step& step) {
  return node_label(*step.context.node, static_cast<int>(index_of(executor, step)));
}

std::string job_name(const Executor& executor, const Step& step, std::size_t block) {
  std::string name = layer_name(executor, step);
  return blocks_of_k(*step.context.node) == 1 ? name : fmt::format("{}/{}", name, block);
}

bool is_float_product(const Step& step) { return is_float_product(*step.context.node); }

CompileOptions compile_options(const RunOptions& options) {
  CompileOptions result;
  result.convolutions = options.convolutions;
  result.lanes = options.lanes;
  result.rate = rate_of(options.memory);
  result.memory = options.memory;
  result.tensor_memory.reset();
  result.why_sums = why_sums(options);
  if (options.precision != Precision::kFile) {
    result.floats = CompileOptions::Floats::kOnDevice;
  } else if (options.one_program) {
    result.why_no_floats =
        "they are float32 in the file, and with --one-program the device computes integers alone; "
        "--precision int8 quantizes them on the way";
  }
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
  DevicePlan& plan = schedule.executable.plan;
  const std::size_t steps = executor.steps().size();
  schedule.on_host.assign(steps, 0);
  schedule.on_device.assign(steps, 0);
  const auto macs_per_clock = static_cast<double>(runner.geometry().macs_per_clock());
  std::vector<bool> is_host(steps, true);  // are a step's products the host's?
  schedule.first = steps;
  const auto add = [&](const JobProgram& made, std::vector<double>& to) {
    runner.check_fits(made);
    double cycles = 0;
    for (const Counters& layer : predict_layers(made, runner.geometry(), runner.options().memory)) {
      cycles += static_cast<double>(layer[counter::kTotalClocks]);
    }
    to.push_back(cycles);
    schedule.all += cycles;
    schedule.jobs.insert(schedule.jobs.end(), made.jobs.begin(), made.jobs.end());
  };
  for (const PassItem& item : schedule.executable.order) {
    if (item.kind == PassItem::Kind::kSums) {
      add(schedule.executable.sums[item.index].list, schedule.of_sums);
      for (const std::size_t node : item.nodes) {
        is_host[node] = false;
        schedule.first = std::min(schedule.first, node);
      }
      continue;
    }
    if (item.kind == PassItem::Kind::kProgram) {
      add(schedule.executable.programs[item.index].list, schedule.of_program);
      for (const DeviceLayer& layer : plan.programs[item.index].layers) {
        schedule.first = std::min(schedule.first, static_cast<std::size_t>(layer.node));
      }
      continue;
    }
    const std::size_t i = item.index;
    for (Job& job : jobs_alone(executor, runner, executor.steps()[i], plan)) {
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

std::string why_product_on_host(const Executor& executor, const Executable& executable,
                                const RunOptions& options, const Step& step,
                                const Tensors& arguments) {
  const auto& on_host = executable.plan.on_host;
  const auto planned = on_host.find(static_cast<int>(index_of(executor, step)));
  const std::string reason = why_on_host(step, arguments);
  if (!is_float_product(step)) {
    if (planned != on_host.end()) return planned->second;
    return reason.empty() && options.precision == Precision::kFloat32
               ? "with --precision float32, the device computes products of float32 alone"
               : reason;
  }
  if (!reason.empty()) return reason;
  if (planned != on_host.end()) return planned->second;
  const auto is_finite = [](const Tensor& tensor) {
    const float* const values = tensor.values<float>();
    return std::all_of(values, values + tensor.elements(),
                       [](float value) { return std::isfinite(value); });
  };
  if (options.precision == Precision::kFile &&
      !(is_finite(arguments[0]) && is_finite(arguments[1]))) {
    return "an operand is not finite, and has no slices";
  }
  return "";
}

std::optional<HostLayer> host_layer(const OnnxModel& model, int node, std::string reason) {
  const onnx::NodeProto& proto = model.graph().node(node);
  const std::optional<Work> work = work_of(model, proto);
  if (work && work->macs == 0) return std::nullopt;
  if (!work) reason += "; its MACs are not known";
  return HostLayer{node_label(proto, node), proto.op_type(), work ? work->macs : 0,
                   std::move(reason)};
}

void describe_layers(const OnnxModel& model, const Executable& executable, std::size_t program,
                     std::vector<LayerReport>& reports) {
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const DeviceLayer& layer = executable.plan.programs[program].layers[i];
    reports[i].program = program + 1;
    describe_layer(layer, reports[i]);
    for (const int node : layer.nodes()) {
      if (node == layer.node) continue;
      reports[i].vector_nodes.push_back(node_label(model.graph().node(node), node));
    }
  }
}

}  // namespace gemm64
