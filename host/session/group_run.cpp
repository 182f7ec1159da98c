// SPDX-License-Identifier: Apache-2.0
#include "host/session/group_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/execute/linear.hpp"
#include "host/execute/not_finite.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/run/float_gemm.hpp"
#include "host/runtime/program_run.hpp"
#include "host/session/device_products.hpp"
#include "host/session/device_schedule.hpp"
#include "host/session/kernel_oracle.hpp"
#include "host/session/wall_clock.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

/// The kernels of the host's.
struct Kernels {
  Kernels(const OnnxModel& model, const Executable& executable, JobRunner& runner)
      : executor(model), oracle(executor), products(executor, executable, runner) {}

  const Executor executor;
  KernelOracle oracle;
  DeviceProducts products;
};

class GroupRun {
 public:
  GroupRun(const OnnxModel& model, const Executable& executable, JobRunner& runner,
           const RunProgress& progress, const NodeObserver& after)
      : model_(model),
        executable_(executable),
        runner_(runner),
        progress_(progress),
        after_(after) {}

  NetworkRun run(const NamedTensors& inputs, RunReport report);

 private:
  void find_read();
  void run_items();
  void run_program(std::size_t number);
  void run_node(std::size_t index);
  bool run_view(std::size_t index);
  void run_product(const Step& step);
  std::string why_on_host(const Step& step, const Tensors& arguments);
  NamedTensors outputs();
  bool is_read(const onnx::NodeProto& node) const {
    return after_ ||
           std::any_of(node.output().begin(), node.output().end(),
                       [this](const std::string& name) { return read_.count(name) != 0; });
  }
  Kernels& kernels() {
    if (!kernels_) kernels_ = std::make_unique<Kernels>(model_, executable_, runner_);
    return *kernels_;
  }
  const Step& step(std::size_t node) { return kernels().executor.steps()[node]; }
  void note_host(std::size_t index, const std::string& reason);
  bool checks_layers() const { return runner_.options().check == CheckLevel::kLayers; }

  const OnnxModel& model_;
  const Executable& executable_;
  JobRunner& runner_;
  ProgressShare progress_;
  const NodeObserver& after_;
  NamedBuffers values_;
  std::set<std::string> read_;
  std::vector<LayerReport> layers_;
  HostWork host_;
  std::vector<HostLayer> host_layers_;
  std::unique_ptr<Kernels> kernels_;
  double device_seconds_ = 0;  // of programs
};

NetworkRun GroupRun::run(const NamedTensors& inputs, RunReport report) {
  const auto begin = WallClock::now();
  for (const auto& [name, tensor] : inputs) {
    values_[name] = tensor;
    const std::string note = nan_note(fmt::format("input '{}'", printable(name)), tensor);
    if (note.empty()) continue;
    report.warnings.push_back(note + "; results that depend on them are meaningless");
  }
  for (const DeviceProgram& program : executable_.plan.programs) {
    report.chained = report.chained || program.layers.size() > 1;
  }
  for (const SumsProgram& program : executable_.sums) {
    report.chained = report.chained || program.list.jobs.size() > 1;
  }
  NetworkRun made;
  try {
    run_items();
    made.outputs = outputs();
    if (runner_.options().check == CheckLevel::kOutputs) {
      const auto comparing = WallClock::now();
      compare_outputs(host_outputs(kernels().executor, executable_, inputs, runner_), made.outputs,
                      report.outputs);
      host_.reference_seconds += seconds_since(comparing);
    }
  } catch (const DeviceError& error) {
    report.error = error.what();
  }
  if (kernels_) device_seconds_ += kernels_->products.seconds();
  host_.seconds = seconds_since(begin) - device_seconds_ - host_.reference_seconds;
  report.layers = std::move(layers_);
  report.host = std::move(host_);
  report.host_layers = std::move(host_layers_);
  report.failure = runner_.failure();
  made.report = std::move(report);
  return made;
}

/// Finds the values that something reads which is not in its program: a layer reads others as they
/// are in memory, whatever nodes stand between.
void GroupRun::find_read() {
  for (const auto& output : model_.graph().output()) read_.insert(output.name());
  for (auto item = executable_.order.rbegin(); item != executable_.order.rend(); ++item) {
    if (item->kind == PassItem::Kind::kProgram) {
      for (const DeviceLayer& layer : executable_.plan.programs[item->index].layers) {
        if (!layer.source) read_.insert(layer.input_value);
        if (!layer.operand) read_.insert(layer.second);
        read_.insert(layer.weights_value);
      }
      continue;
    }
    const bool is_sums = item->kind == PassItem::Kind::kSums;
    for (const std::size_t node : is_sums ? item->nodes : std::vector{item->index}) {
      const onnx::NodeProto& proto = model_.graph().node(static_cast<int>(node));
      if (is_sums || is_read(proto)) read_.insert(proto.input().begin(), proto.input().end());
    }
  }
}

void GroupRun::run_items() {
  find_read();
  for (const PassItem& item : executable_.order) {
    progress_.next(1 / static_cast<double>(executable_.order.size()));
    if (item.kind == PassItem::Kind::kProgram) {
      run_program(item.index);
    } else if (item.kind == PassItem::Kind::kSums) {
      kernels().products.run_sums(item.index, values_, after_, progress_, layers_);
    } else {
      run_node(item.index);
    }
    for (const std::string& name : item.last_uses) values_.erase(name);
  }
  if (!runner_.options().one_program || runner_.options().finishes_later) return;
  const auto begin = WallClock::now();
  runner_.finish(layers_, progress_);
  device_seconds_ += seconds_since(begin);
}

void GroupRun::run_program(std::size_t number) {
  const CompiledProgram& compiled = executable_.programs[number];
  const ProgramRun run(executable_.plan.programs[number], compiled.buffers, compiled.constants);
  LayerOracle* const oracle = checks_layers() ? &kernels().oracle : nullptr;
  std::vector<ProgramLayer> layers;
  std::vector<Tensor> wanted;
  const auto preparing = WallClock::now();
  for (std::size_t i = 0; i < run.program().layers.size(); ++i) {
    progress_.report(run.program().layers[i].job.name, 0);
    layers.push_back(run.layer(i, values_, oracle, wanted));
  }
  if (oracle != nullptr) host_.reference_seconds += seconds_since(preparing);
  const auto begin = WallClock::now();
  ProgramResults found = runner_.run_program(std::move(layers), progress_);
  device_seconds_ += seconds_since(begin);
  describe_layers(model_, executable_, number, found.layers);
  std::move(found.layers.begin(), found.layers.end(), std::back_inserter(layers_));
  const std::vector<Tensor> results = run.written(found.values, wanted);
  for (const auto& [layer, value] : run.values(results)) {
    values_[run.result_name(layer)] = value;
    const int node = run.program().layers[layer].gives();
    if (after_) after_(step(static_cast<std::size_t>(node)), {value});
  }
  if (after_) show_inner(run, results, values_, kernels().executor, after_);
}

void GroupRun::run_node(std::size_t index) {
  if (!is_read(model_.graph().node(static_cast<int>(index))) || run_view(index)) return;
  run_product(step(index));
}

void GroupRun::note_host(std::size_t index, const std::string& reason) {
  ++host_.nodes;
  ++host_.operators[operator_name(model_.graph().node(static_cast<int>(index)))];
  std::optional<HostLayer> layer = host_layer(model_, static_cast<int>(index), reason);
  if (layer) host_layers_.push_back(*std::move(layer));
}

/// Runs a node that only gives a value another shape; returns whether it is one.
bool GroupRun::run_view(std::size_t index) {
  const onnx::NodeProto& node = model_.graph().node(static_cast<int>(index));
  if (!is_view(node) || node.input_size() == 0 || node.output_size() != 1) return false;
  const auto value = values_.find(node.input(0));
  const auto type = model_.type(node.output(0));
  if (value == values_.end() || !type) return false;
  const Tensor view = value->second.reshaped(type->dims);
  values_[node.output(0)] = view;
  note_host(index, "");
  if (after_) after_(step(index), {view});
  return true;
}

/// Runs a node whose products are a program of their own. If the group was found for other sizes
/// than its inputs have, it may be one that the device cannot compute for these.
void GroupRun::run_product(const Step& step) {
  const Executor& executor = kernels().executor;
  ExecutorHooks hooks;
  hooks.after = after_;
  hooks.instead = [&](const Step&, const Tensors& arguments) {
    const std::string reason = why_on_host(step, arguments);
    if (!reason.empty()) {
      note_host(index_of(executor, step), reason);
      return Tensors{};
    }
    Tensors found = kernels().products.run(step, arguments, progress_, layers_);
    if (checks_layers() && is_float_product(step) &&
        runner_.options().precision == Precision::kInt8) {
      const auto begin = WallClock::now();
      const Tensors wanted = compute(*step.info, step.context, arguments);
      layers_.back().max_abs_error = max_abs_error(as_rows(wanted[0]), as_rows(found[0]));
      host_.reference_seconds += seconds_since(begin);
    }
    return found;
  };
  executor.run_step(step, values_, hooks);
}

/// Why the host computes a node for these arguments; empty if the device does.
std::string GroupRun::why_on_host(const Step& step, const Tensors& arguments) {
  const Executor& executor = kernels().executor;
  const Precision precision = runner_.options().precision;
  std::string reason =
      why_product_on_host(executor, executable_, runner_.options(), step, arguments);
  const std::vector<GemmShape> shapes = linear_shapes(model_, step);
  if (!reason.empty() || precision != Precision::kFile || !is_float_product(step) ||
      shapes.empty()) {
    return reason;
  }
  try {
    float_jobs(runner_, precision, layer_name(executor, step), shapes[0]);
    return "";
  } catch (const UsageError& error) {  // the device has no space for it
    return error.what();
  }
}

NamedTensors GroupRun::outputs() {
  NamedTensors outputs;
  for (const onnx::ValueInfoProto& output : model_.graph().output()) {
    const auto found = values_.find(output.name());
    if (found != values_.end()) {
      outputs[output.name()] = found->second;
    } else if (const onnx::TensorProto* const constant = model_.constant(output.name())) {
      outputs[output.name()] = Tensor::from_proto(*constant);
    } else {
      throw UsageError(
          fmt::format("{}: its output '{}' has no value", model_.name(), printable(output.name())));
    }
  }
  return outputs;
}

}  // namespace

NetworkRun run_group(const OnnxModel& model, const Executable& executable, JobRunner& runner,
                     const NamedTensors& inputs, RunReport report, const RunProgress& progress,
                     const NodeObserver& after) {
  return GroupRun(model, executable, runner, progress, after).run(inputs, std::move(report));
}

}  // namespace gemm64
