// SPDX-License-Identifier: Apache-2.0
#include "host/session/group_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/execute/linear.hpp"
#include "host/execute/not_finite.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/runtime/program_run.hpp"
#include "host/session/device_products.hpp"
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
           const RunProgress& progress)
      : model_(model), executable_(executable), runner_(runner), progress_(progress) {}

  NetworkRun run(const NamedTensors& inputs, RunReport report);

 private:
  void find_read();
  void run_items();
  void run_program(std::size_t number);
  void run_node(std::size_t index);
  bool run_view(const onnx::NodeProto& node);
  void run_product(const Step& step);
  NamedTensors outputs();
  bool is_read(const onnx::NodeProto& node) const {
    return std::any_of(node.output().begin(), node.output().end(),
                       [this](const std::string& name) { return read_.count(name) != 0; });
  }
  Kernels& kernels() {
    if (!kernels_) kernels_ = std::make_unique<Kernels>(model_, executable_, runner_);
    return *kernels_;
  }
  bool checks_layers() const { return runner_.options().check == CheckLevel::kLayers; }

  const OnnxModel& model_;
  const Executable& executable_;
  JobRunner& runner_;
  ProgressShare progress_;
  NamedBuffers values_;
  std::set<std::string> read_;
  std::vector<LayerReport> layers_;
  HostWork host_;
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
      compare_outputs(
          host_outputs(kernels().executor, executable_, 0, NetworkInputs::of(inputs), runner_),
          made.outputs, report.outputs);
      host_.reference_seconds += seconds_since(comparing);
    }
  } catch (const DeviceError& error) {
    report.error = error.what();
  }
  if (kernels_) device_seconds_ += kernels_->products.seconds();
  host_.seconds = seconds_since(begin) - device_seconds_ - host_.reference_seconds;
  report.layers = std::move(layers_);
  report.host = std::move(host_);
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
      kernels().products.run_sums(item.index, values_, nullptr, progress_, layers_);
    } else {
      run_node(item.index);
    }
    for (const std::string& name : item.last_uses) values_.erase(name);
  }
  if (!runner_.options().one_program) return;
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
  for (auto& [layer, value] : run.values(run.written(found.values, wanted))) {
    values_[run.result_name(layer)] = std::move(value);
  }
}

void GroupRun::run_node(std::size_t index) {
  const onnx::NodeProto& node = model_.graph().node(static_cast<int>(index));
  if (!is_read(node) || run_view(node)) return;
  run_product(kernels().executor.steps()[index]);
}

/// Runs a node that only gives a value another shape; returns whether it is one.
bool GroupRun::run_view(const onnx::NodeProto& node) {
  if (!is_view(node) || node.input_size() == 0 || node.output_size() != 1) return false;
  const auto value = values_.find(node.input(0));
  const auto type = model_.type(node.output(0));
  if (value == values_.end() || !type) return false;
  values_[node.output(0)] = value->second.reshaped(type->dims);
  ++host_.nodes;
  ++host_.operators[operator_name(node)];
  return true;
}

/// A node whose products are a program of their own. If the group was found for other sizes than
/// its inputs have, it may be one that the device cannot compute for these.
void GroupRun::run_product(const Step& step) {
  const Executor& executor = kernels().executor;
  ExecutorHooks hooks;
  hooks.instead = [&](const Step&, const Tensors& arguments) {
    if (!why_product_on_host(executor, executable_, runner_.options(), step, arguments).empty()) {
      ++host_.nodes;
      ++host_.operators[operator_name(*step.context.node)];
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
                     const NamedTensors& inputs, RunReport report, const RunProgress& progress) {
  return GroupRun(model, executable, runner, progress).run(inputs, std::move(report));
}

}  // namespace gemm64
