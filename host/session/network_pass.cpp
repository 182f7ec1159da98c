// SPDX-License-Identifier: Apache-2.0
#include "host/session/network_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/execute/linear.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/onnx/work.hpp"
#include "host/kernels/host_threads.hpp"
#include "host/session/passes.hpp"

namespace gemm64 {

NetworkPass::NetworkPass(const Executor& executor, JobRunner& runner,
                         const DeviceSchedule& schedule, const NetworkInputs& inputs,
                         const NodeObserver& after, const RunProgress& progress, bool parallel_for)
    : KernelOracle(executor),
      executor_(executor),
      runner_(runner),
      schedule_(schedule),
      products_(executor, schedule.executable, runner),
      programs_(schedule.executable.programs.size()),
      inputs_(inputs),
      after_(after),
      progress_(progress),
      joint_(progress),
      share_(parallel_for ? joint_.part(1) : progress) {
  hooks_.instead = [this](const Step& step, const Tensors& arguments) {
    return instead(step, arguments);
  };
  hooks_.after = [this](const Step& step, const Tensors& outputs) {
    if (after_) after_(step, outputs);
    if (!at_.begun) at_.exact.forget(step.last_uses);
  };
  if (parallel_for) {
    pool_.emplace(runner_, [this](const ProgramResults& found) { return add_finished(found); });
  }
}

NetworkPass::~NetworkPass() {
  if (pool_) leave_processors(0);
}

void NetworkPass::run(const Listener& listener) {
  const auto passes = static_cast<std::size_t>(inputs_.passes());
  while (true) {
    if (at_.pass == passes) {
      wait();
      if (!back_) return;
    } else {
      try {
        if (!at_.begun) begin_pass();
        if (run_items()) {
          finish_pass();
          listener.ended(at_.pass, at_.values);
          Place next;
          next.pass = at_.pass + 1;
          next.host_steps = at_.host_steps;
          at_ = std::move(next);
        }
      } catch (const UsageError&) {
        wait();  // what failed before the host got there comes first
        if (!back_) throw;
      }
    }
    if (!back_) continue;
    at_ = std::move(*back_);
    back_.reset();
    forget_host_steps(at_.host_steps);
    listener.keep(at_.pass);
  }
}

void NetworkPass::begin_pass() {
  if (!pool_) collect_for(at_.pass);
  const NetworkInputs given = inputs_.pass(static_cast<std::int64_t>(at_.pass));
  at_.values = run_head(executor_, schedule_.first, given, hooks_);
  at_.item = schedule_.first;
  at_.begun = true;
}

/// Runs what is left of the pass; false where it must go on from elsewhere.
bool NetworkPass::run_items() {
  while (!back_ && at_.item < schedule_.executable.order.size()) {
    const PassItem& item = schedule_.executable.order[at_.item++];
    if (item.kind == PassItem::Kind::kProgram) {
      run_program(item);
    } else if (item.kind == PassItem::Kind::kSums) {
      run_sums(item);
      forget(item);
    } else {
      executor_.run_step(executor_.steps()[item.index], at_.values, hooks_);
      forget(item);
    }
  }
  return !back_;
}

void NetworkPass::forget(const PassItem& item) {
  for (const std::string& name : item.last_uses) at_.values.erase(name);
  at_.exact.forget(item.last_uses);
}

/// Program `number`, whose inputs and known constants are among the values now.
const ProgramRun& NetworkPass::program_run(std::size_t number) {
  std::unique_ptr<ProgramRun>& run = programs_[number];
  if (!run) {
    const DeviceProgram& plan = schedule_.executable.plan.programs[number];
    const CompiledProgram& compiled = schedule_.executable.programs[number];
    auto buffers = compiled.buffers;
    if (!buffers) {
      buffers = std::make_shared<const std::vector<LayerBuffers>>(
          layer_buffers(executor_.model(), plan, at_.values));
    }
    run = std::make_unique<ProgramRun>(plan, std::move(buffers), compiled.constants);
  }
  return *run;
}

/// The host's results of a layer, with which the host continues while the device runs; those of the
/// float32 network, where these differ, are stored.
Tensor NetworkPass::expected_ahead(const DeviceProgram& program, const DeviceLayer& layer,
                                   NamedBuffers given) {
  const auto begin = WallClock::now();
  const bool whole = !layer.strips && !layer.rows;
  if (layer.source && whole) {
    const Tensor* const exact = at_.exact.find(results_of(program.layers[*layer.source]));
    if (exact != nullptr) {
      at_.exact.store(layer.input_value,
                      channels_of(*exact, layer.view).reshaped(type_of(layer.input_value).dims));
    }
  }
  Tensor result = compute_layer(layer, std::move(given), whole ? &at_.exact : nullptr);
  reference_seconds_ += seconds_since(begin);
  return result;
}

/// Adds the values that a program's layers write, of those whose results are present.
void NetworkPass::store(const ProgramRun& run, const std::vector<Tensor>& results, Values& values) {
  for (const auto& [layer, value] : run.values(results)) {
    values[run.result_name(layer)] = value;
    if (after_) after_(step(run.program().layers[layer].gives()), {value});
  }
}

void NetworkPass::run_program(const PassItem& item) {
  const ProgramRun& run = program_run(item.index);
  std::vector<ProgramLayer> layers;
  std::vector<Tensor> wanted;  // by the host
  for (std::size_t i = 0; i < run.program().layers.size(); ++i) {
    const Step& step = this->step(run.program().layers[i].node);
    make_room();
    next(schedule_.on_host[index_of(executor_, step)]);
    share_.report(step.context.label, 0);
    layers.push_back(run.layer(i, at_.values, checks_layers() ? this : nullptr, wanted));
  }
  const auto begin = WallClock::now();
  const double cycles = schedule_.of_program[item.index];
  if (pool_) {
    store(run, wanted, at_.values);
    show_inner(run, wanted, at_.values, executor_, after_);
    forget(item);
    handed_out_.push_back({item.index, at_, std::move(wanted)});
    pool_->add(std::move(layers), joint_.part(share_of(cycles)));
  } else {
    next(cycles);
    ProgramResults found = runner_.run_program(std::move(layers), share_);
    add_layers(item.index, std::move(found.layers));
    share_.report(layers_.back().name, 1);
    const std::vector<Tensor> results = run.written(found.values, wanted);
    store(run, results, at_.values);
    show_inner(run, results, at_.values, executor_, after_);
    forget(item);
  }
  device_seconds_ += seconds_since(begin);
}

void NetworkPass::run_sums(const PassItem& item) {
  make_room();
  for (const std::size_t node : item.nodes) {
    const Step& step = executor_.steps()[node];
    const auto exact = at_.exact.arguments(step, executor_.arguments(step, at_.values));
    if (exact) at_.exact.store(step, executor_.compute_step(step, *exact));
  }
  next(schedule_.of_sums[item.index]);
  products_.run_sums(item.index, at_.values, hooks_.after, share_, layers_);
}

void NetworkPass::add_layers(std::size_t program, std::vector<LayerReport> reports) {
  describe_layers(executor_.model(), schedule_.executable, program, reports);
  std::move(reports.begin(), reports.end(), std::back_inserter(layers_));
}

/// Takes the results of the first program that was handed out; false where they are not those that
/// the host went on with.
bool NetworkPass::add_finished(const ProgramResults& found) {
  HandedOut program = std::move(handed_out_.front());
  handed_out_.pop_front();
  collect_for(program.behind.pass);
  add_layers(program.number, found.layers);
  if (!found.differ()) return true;
  Place& behind = program.behind;
  Values results;
  const ProgramRun& run = program_run(program.number);
  std::vector<Tensor> layers = run.written(found.values, program.wanted);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    // All parts of a value of which one differs.
    const DeviceLayer& layer = run.program().layers[i];
    if (found.values[i].size() == 0 && !layer.part && !layer.rows) layers[i] = Tensor();
  }
  store(run, layers, results);
  for (auto& [name, tensor] : results) {
    const auto value = behind.values.find(name);
    if (value != behind.values.end()) value->second = tensor;
  }
  handed_out_.clear();
  back_ = std::move(behind);
  return false;
}

void NetworkPass::collect_for(std::size_t pass) {
  if (pass == pass_) return;
  join(joined_, std::exchange(layers_, {}));
  pass_ = pass;
}

std::vector<LayerReport> NetworkPass::take_layers() {
  join(joined_, std::exchange(layers_, {}));
  return std::exchange(joined_, {});
}

void NetworkPass::make_room() {
  if (pool_) leave_processors(pool_->running());
}

void NetworkPass::wait() {
  if (!pool_) return;
  const auto begin = WallClock::now();
  pool_->finish();
  make_room();
  device_seconds_ += seconds_since(begin);
  if (back_) return;
  next(0);
  if (!layers_.empty()) share_.report(layers_.back().name, 1);
}

std::size_t NetworkPass::give_up() {
  if (handed_out_.empty()) return at_.pass;
  const Place& failed = handed_out_.front().behind;
  forget_host_steps(failed.host_steps);
  return failed.pass;
}

void NetworkPass::add_host_step(const Step& step, const std::string& reason) {
  host_steps_.insert({&step, {host_steps_.size(), reason}});
  at_.host_steps = host_steps_.size();
}

/// All but the first `behind` steps that ran on the host.
void NetworkPass::forget_host_steps(std::size_t behind) {
  for (auto one = host_steps_.begin(); one != host_steps_.end();) {
    one = one->second.before < behind ? std::next(one) : host_steps_.erase(one);
  }
}

HostWork NetworkPass::host_work() const {
  HostWork work;
  work.nodes = host_steps_.size();
  for (const auto& [step, how] : host_steps_) {
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
  for (const auto& [step, how] : host_steps_) {
    auto layer =
        host_layer(executor_.model(), static_cast<int>(index_of(executor_, *step)), how.reason);
    if (layer) layer->macs *= static_cast<std::uint64_t>(inputs_.passes());
    if (layer) layers.push_back(std::move(*layer));
  }
  return layers;
}

Tensors NetworkPass::instead(const Step& step, const Tensors& arguments) {
  make_room();
  next(schedule_.on_host[index_of(executor_, step)]);
  share_.report(step.context.label, 0);
  const std::optional<Tensors> exact_arguments = at_.exact.arguments(step, arguments);
  const auto store_exact = [&] {
    if (exact_arguments) at_.exact.store(step, compute(*step.info, step.context, *exact_arguments));
  };
  const std::string reason =
      why_product_on_host(executor_, schedule_.executable, runner_.options(), step, arguments);
  if (!reason.empty()) {
    add_host_step(step, reason);
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
  at_.exact.store(step, wanted);
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
