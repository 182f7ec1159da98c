// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/group_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "host/graph/onnx/linear_layer.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/runtime/device_schedule.hpp"
#include "host/runtime/float_gemm.hpp"
#include "host/runtime/host_oracle.hpp"
#include "host/runtime/node_products.hpp"
#include "host/runtime/not_finite.hpp"
#include "host/runtime/program_run.hpp"
#include "host/runtime/wall_clock.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

/// A runner that runs nothing: all sums are the reference's.
JobRunner reference_runner(JobRunner& runner) {
  RunOptions options;
  options.precision = runner.options().precision;
  options.accumulate = runner.options().accumulate;
  options.memory = runner.options().memory;
  options.only = OneJob{std::numeric_limits<std::size_t>::max(), 0, nullptr};
  return JobRunner(runner.device(), runner.driver(), options);
}

class GroupRun {
 public:
  GroupRun(const HostNodes& nodes, const Executable& executable, JobRunner& runner,
           const RunProgress& progress, const NodeObserver& after)
      : nodes_(nodes),
        model_(nodes.model()),
        oracle_(nodes),
        executable_(executable),
        runner_(runner),
        products_(nodes, executable, runner),
        progress_(progress),
        after_(after) {}

  NetworkRun run(const NamedTensors& inputs, RunReport report);

 private:
  void find_read();
  void show(int node) const;
  void run_items();
  void run_program(std::size_t number);
  void run_node(std::size_t index);
  bool run_view(std::size_t index);
  void run_product(int node);
  std::string why_on_host(int node, const Tensors& arguments) const;
  NamedTensors expected_outputs(const NamedTensors& inputs);
  NamedTensors outputs();
  bool is_read(const onnx::NodeProto& node) const {
    return after_ ||
           std::any_of(node.output().begin(), node.output().end(),
                       [this](const std::string& name) { return read_.count(name) != 0; });
  }
  void note_host(std::size_t index, const std::string& reason);
  bool checks_layers() const { return runner_.options().check == CheckLevel::kLayers; }

  const HostNodes& nodes_;
  const OnnxModel& model_;
  HostOracle oracle_;
  const Executable& executable_;
  JobRunner& runner_;
  NodeProducts products_;
  ProgressShare progress_;
  const NodeObserver& after_;
  NamedBuffers values_;
  std::set<std::string> read_;
  std::vector<LayerReport> layers_;
  HostWork host_;
  std::vector<HostLayer> host_layers_;
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
      compare_outputs(expected_outputs(inputs), made.outputs, report.outputs);
      host_.reference_seconds += seconds_since(comparing);
    }
  } catch (const DeviceError& error) {
    report.error = error.what();
  }
  device_seconds_ += products_.seconds();
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
      products_.run_sums(item.index, values_, progress_, layers_);
      for (const std::size_t node : item.nodes) show(static_cast<int>(node));
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
  std::vector<ProgramLayer> layers;
  for (std::size_t i = 0; i < run.program().layers.size(); ++i) {
    progress_.report(run.program().layers[i].job.name, 0);
    layers.push_back(run.layer(i, values_));
  }
  std::vector<Tensor> wanted;
  const Expectations expectations = [&] {
    oracle_.begin(run.program(), values_);
    return run.expected(values_, oracle_, wanted);
  };
  const auto begin = WallClock::now();
  ProgramResults found =
      runner_.run_program(std::move(layers), progress_, checks_layers() ? expectations : nullptr);
  device_seconds_ += seconds_since(begin) - found.waited;
  host_.reference_seconds += found.waited;
  describe_layers(model_, executable_, number, found.layers);
  std::move(found.layers.begin(), found.layers.end(), std::back_inserter(layers_));
  const std::vector<Tensor> results = run.written(found.values, wanted);
  for (const auto& [layer, value] : run.values(results)) {
    values_[run.result_name(layer)] = value;
    const int node = run.program().layers[layer].gives();
    if (after_) after_(model_.graph().node(node), {value});
  }
  if (after_) show_inner(run, results, values_, nodes_, after_);
}

void GroupRun::run_node(std::size_t index) {
  if (!is_read(model_.graph().node(static_cast<int>(index))) || run_view(index)) return;
  run_product(static_cast<int>(index));
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
  if (after_) after_(node, {view});
  return true;
}

/// Runs a node whose products are a program of their own. If the group was found for other sizes
/// than its inputs have, it may be one that the device cannot compute for these.
void GroupRun::run_product(int node) {
  const Tensors arguments = products_.arguments(node, values_);
  const std::string reason = why_on_host(node, arguments);
  if (!reason.empty()) {
    note_host(static_cast<std::size_t>(node), reason);
    products_.store(node, products_.on_host(node, arguments), values_);
    show(node);
    return;
  }
  const Tensors found = products_.run(node, arguments, progress_, layers_);
  if (checks_layers() && is_float_product(model_.graph().node(node)) &&
      runner_.options().precision == Precision::kInt8) {
    const auto begin = WallClock::now();
    const Tensors wanted = products_.on_host(node, arguments);
    layers_.back().max_abs_error = max_abs_error(as_rows(wanted[0]), as_rows(found[0]));
    host_.reference_seconds += seconds_since(begin);
  }
  products_.store(node, found, values_);
  show(node);
}

/// Shows the observer a node's outputs.
void GroupRun::show(int node) const {
  if (!after_) return;
  Tensors outputs;
  for (const std::string& name : model_.graph().node(node).output()) {
    outputs.push_back(name.empty() ? Tensor() : values_.at(name));
  }
  after_(model_.graph().node(node), outputs);
}

/// Why the host computes a node for these arguments; empty if the device does.
std::string GroupRun::why_on_host(int node, const Tensors& arguments) const {
  const onnx::NodeProto& proto = model_.graph().node(node);
  const Precision precision = runner_.options().precision;
  std::string reason = why_product_on_host(model_, executable_, runner_.options(), node, arguments);
  const std::optional<Products> products = linear_product(model_, proto);
  if (!reason.empty() || precision != Precision::kFile || !is_float_product(proto) || !products) {
    return reason;
  }
  const ProductSizes& one = products->shape;
  try {
    float_jobs(runner_, precision, node_label(proto, node), {one.m, one.k, one.n});
    return "";
  } catch (const UsageError& error) {  // the device has no space for it
    return error.what();
  }
}

/// The outputs by ONNX Runtime, but for products that the device computes in another arithmetic:
/// those by the reference of its own.
NamedTensors GroupRun::expected_outputs(const NamedTensors& inputs) {
  JobRunner reference = reference_runner(runner_);
  NodeProducts products(nodes_, executable_, reference);
  NamedBuffers values(inputs.begin(), inputs.end());
  std::vector<LayerReport> layers;
  for (int node = 0; node < model_.graph().node_size(); ++node) {
    const onnx::NodeProto& proto = model_.graph().node(node);
    const bool in_blocks = operator_name(proto) == "com.microsoft.MatMulNBits";
    if (!in_blocks && !is_float_product(proto)) continue;
    const Tensors arguments = products.arguments(node, values);
    if (!why_on_host(node, arguments).empty()) continue;
    products.store(node, products.run(node, arguments, ProgressShare(), layers), values);
  }
  std::vector<std::string> names;
  for (const auto& output : model_.graph().output()) names.push_back(output.name());
  return nodes_.values(names, values);
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

NetworkRun run_group(const HostNodes& nodes, const Executable& executable, JobRunner& runner,
                     const NamedTensors& inputs, RunReport report, const RunProgress& progress,
                     const NodeObserver& after) {
  return GroupRun(nodes, executable, runner, progress, after).run(inputs, std::move(report));
}

}  // namespace gemm64
