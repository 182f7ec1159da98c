// SPDX-License-Identifier: Apache-2.0
#include "host/session/network_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/execute/linear.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/onnx/work.hpp"
#include "host/session/passes.hpp"

namespace gemm64 {

NetworkPass::NetworkPass(const Executor& executor, JobRunner& runner,
                         const DeviceSchedule& schedule, const NetworkInputs& inputs,
                         const NodeObserver& after, const RunProgress& progress)
    : KernelOracle(executor),
      executor_(executor),
      runner_(runner),
      schedule_(schedule),
      products_(executor, schedule.executable, runner),
      programs_(schedule.executable.programs.size()),
      inputs_(inputs),
      after_(after),
      progress_(progress),
      share_(progress) {
  hooks_.instead = [this](const Step& step, const Tensors& arguments) {
    return instead(step, arguments);
  };
  hooks_.after = [this](const Step& step, const Tensors& outputs) {
    if (after_) after_(step, outputs);
    if (in_head_) exact_.forget(step.last_uses);
  };
}

void NetworkPass::run(const Ended& ended) {
  for (std::int64_t pass = 0; pass < inputs_.passes(); ++pass) {
    join(joined_, std::exchange(layers_, {}));
    exact_ = {};
    in_head_ = true;
    values_ = run_head(executor_, schedule_.first, inputs_.pass(pass), hooks_);
    in_head_ = false;
    for (std::size_t i = schedule_.first; i < schedule_.executable.order.size(); ++i) {
      const PassItem& item = schedule_.executable.order[i];
      if (item.kind == PassItem::Kind::kProgram) {
        run_program(item.index);
      } else if (item.kind == PassItem::Kind::kSums) {
        run_sums(item);
      } else {
        executor_.run_step(executor_.steps()[item.index], values_, hooks_);
      }
      for (const std::string& name : item.last_uses) values_.erase(name);
      exact_.forget(item.last_uses);
    }
    finish_pass();
    ended(pass, values_);
  }
}

const ProgramRun& NetworkPass::program_run(std::size_t number) {
  std::unique_ptr<ProgramRun>& run = programs_[number];
  if (!run) {
    const DeviceProgram& plan = schedule_.executable.plan.programs[number];
    const CompiledProgram& compiled = schedule_.executable.programs[number];
    auto buffers = compiled.buffers;
    if (!buffers) {
      buffers =
          std::make_shared<const std::vector<LayerBuffers>>(layer_buffers(executor_.model(), plan));
    }
    run = std::make_unique<ProgramRun>(plan, std::move(buffers), compiled.constants);
  }
  return *run;
}

/// Adds what the nodes of a layer make of the float32 network's values, if these differ.
Tensor NetworkPass::expected_ahead(const DeviceProgram& program, const DeviceLayer& layer,
                                   NamedBuffers given) {
  const auto begin = WallClock::now();
  const bool whole = !layer.strips && !layer.rows;
  if (layer.source && whole) {
    const Tensor* const exact = exact_.find(results_of(program.layers[*layer.source]));
    if (exact != nullptr) {
      exact_.store(layer.input_value,
                   channels_of(*exact, layer.view).reshaped(type_of(layer.input_value).dims));
    }
  }
  Tensor result = compute_layer(layer, std::move(given), whole ? &exact_ : nullptr);
  reference_seconds_ += seconds_since(begin);
  return result;
}

void NetworkPass::run_program(std::size_t number) {
  const ProgramRun& run = program_run(number);
  std::vector<ProgramLayer> layers;
  std::vector<Tensor> wanted;  // by the host
  for (std::size_t i = 0; i < run.program().layers.size(); ++i) {
    const Step& step = this->step(run.program().layers[i].node);
    next(schedule_.on_host[index_of(executor_, step)]);
    share_.report(step.context.label, 0);
    layers.push_back(run.layer(i, values_, checks_layers() ? this : nullptr, wanted));
  }
  const auto begin = WallClock::now();
  next(schedule_.of_program[number]);
  ProgramResults found = runner_.run_program(std::move(layers), share_);
  describe_layers(executor_.model(), schedule_.executable, number, found.layers);
  std::move(found.layers.begin(), found.layers.end(), std::back_inserter(layers_));
  share_.report(layers_.back().name, 1);
  const std::vector<Tensor> results = run.written(found.values, wanted);
  for (const auto& [layer, value] : run.values(results)) {
    values_[run.result_name(layer)] = value;
    if (after_) after_(step(run.program().layers[layer].gives()), {value});
  }
  show_inner(run, results, values_, executor_, after_);
  device_seconds_ += seconds_since(begin);
}

void NetworkPass::run_sums(const PassItem& item) {
  for (const std::size_t node : item.nodes) {
    const Step& step = executor_.steps()[node];
    const auto exact = exact_.arguments(step, executor_.arguments(step, values_));
    if (exact) exact_.store(step, executor_.compute_step(step, *exact));
  }
  next(schedule_.of_sums[item.index]);
  products_.run_sums(item.index, values_, hooks_.after, share_, layers_);
}

std::vector<LayerReport> NetworkPass::take_layers() {
  join(joined_, std::exchange(layers_, {}));
  return std::exchange(joined_, {});
}

HostWork NetworkPass::host_work() const {
  HostWork work;
  work.nodes = host_steps_.size();
  for (const auto& [step, reason] : host_steps_) {
    const std::string name = operator_name(*step->context.node);
    ++work.operators[name];
    const DevicePlan& plan = schedule_.executable.plan;
    const auto why = plan.between.find(static_cast<int>(index_of(executor_, *step)));
    if (why != plan.between.end()) {
      work.between.push_back({step->context.label, name, 0, why->second,
                              values_of(executor_.model(), *step->context.node) *
                                  static_cast<std::uint64_t>(inputs_.passes()),
                              plan.programs_after(why->first)});
    }
  }
  work.reference_seconds = reference_seconds_;
  return work;
}

std::vector<HostLayer> NetworkPass::host_layers() const {
  std::vector<HostLayer> layers;
  for (const auto& [step, reason] : host_steps_) {
    auto layer =
        host_layer(executor_.model(), static_cast<int>(index_of(executor_, *step)), reason);
    if (layer) layer->macs *= static_cast<std::uint64_t>(inputs_.passes());
    if (layer) layers.push_back(std::move(*layer));
  }
  return layers;
}

Tensors NetworkPass::instead(const Step& step, const Tensors& arguments) {
  next(schedule_.on_host[index_of(executor_, step)]);
  share_.report(step.context.label, 0);
  const std::optional<Tensors> exact_arguments = exact_.arguments(step, arguments);
  const auto store_exact = [&] {
    if (exact_arguments) exact_.store(step, compute(*step.info, step.context, *exact_arguments));
  };
  const std::string reason =
      why_product_on_host(executor_, schedule_.executable, runner_.options(), step, arguments);
  if (!reason.empty()) {
    host_steps_.emplace(&step, reason);
    store_exact();
    return {};
  }
  const auto on_device = [&] {
    next(schedule_.on_device[index_of(executor_, step)]);
    return products_.run(step, arguments, share_, layers_);
  };
  if (!is_float_product(step)) {
    store_exact();
    return on_device();
  }
  // In the file's own arithmetic there is no second value beside it.
  if (!checks_layers() || runner_.options().precision == Precision::kFile) return on_device();
  any_exact_ = true;
  share_.report("float32: " + step.context.label, 1);
  const Tensors wanted =
      compute(*step.info, step.context, exact_arguments ? *exact_arguments : arguments);
  exact_.store(step, wanted);
  Tensors found = on_device();
  if (runner_.options().precision == Precision::kInt8) {
    layers_.back().max_abs_error = max_abs_error(as_rows(wanted[0]), as_rows(found[0]));
  }
  return found;
}

void NetworkPass::finish_pass() {
  if (!runner_.options().one_program || runner_.options().finishes_later) return;
  ProgressShare all(progress_);
  all.next(1);
  const auto begin = WallClock::now();
  runner_.finish(layers_, all);
  device_seconds_ += seconds_since(begin);
}

}  // namespace gemm64
