// SPDX-License-Identifier: Apache-2.0
#include "host/execute/network_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "host/execute/device_schedule.hpp"
#include "host/execute/double_check.hpp"
#include "host/execute/linear.hpp"
#include "host/execute/passes.hpp"
#include "host/execute/program_runs.hpp"
#include "host/onnx/linear_layer.hpp"
#include "host/onnx/supported.hpp"
#include "host/onnx/work.hpp"
#include "host/run/float_gemm.hpp"
#include "host/run/program_pool.hpp"

namespace gemm64 {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
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

/// Runs a network with a device, pass by pass.
class Pass {
 public:
  /// `side_by_side`: programs run on several devices, and the host goes on while they do.
  Pass(const Executor& executor, JobRunner& runner, const DeviceSchedule& schedule,
       std::int64_t passes, const NodeObserver& after, const RunProgress& progress,
       bool side_by_side)
      : executor_(executor),
        runner_(runner),
        schedule_(schedule),
        passes_(passes),
        after_(after),
        progress_(progress),
        joint_(progress),
        share_(side_by_side ? joint_.part(1) : progress) {
    if (side_by_side) {
      pool_.emplace(runner_, [this](std::size_t, std::vector<LayerReport> reports) {
        const HandedOut program = handed_out_.front();
        collect_for(program.pass);
        add_layers(*program.program, reports);
        handed_out_.pop_front();
      });
    }
  }

  ExecutorHooks hooks();
  void begin();
  /// Runs what waits for the end of a pass: all jobs, with --one-program.
  void finish();
  /// Waits for all that was handed out.
  void wait();
  /// The device failed: what the host did ahead of the program that failed is forgotten. Returns
  /// the pass that was under way, counted from 0.
  std::size_t give_up();
  /// What ran on the device, all passes joined.
  std::vector<LayerReport> take_layers();

  const ExactValues& exact() const { return exact_; }
  /// Is there a float32 value beside another one?
  bool any_exact() const { return any_exact_; }
  double device_seconds() const { return device_seconds_; }
  HostWork host_work() const { return host_; }
  std::vector<HostLayer> take_host_layers() { return std::exchange(host_layers_, {}); }

 private:
  Tensors instead(const Step& step, const Tensors& arguments);
  Tensors on_device(const Step& step, const Tensors& arguments);
  Tensors sums_on_device(const Step& step, const Tensors& arguments);
  void add_host_step(const Step& step, const std::string& reason);
  /// What comes now is of this pass.
  void collect_for(std::size_t pass);
  void add_layers(const DeviceProgram& program, const std::vector<LayerReport>& reports);
  void hand_out(const DeviceProgram& program, std::vector<ProgramLayer> layers);
  void run_program(const DeviceProgram& program, std::vector<ProgramLayer> layers);
  std::string why_host(const Step& step, const Tensors& arguments) const;
  double share_of(double clocks) const {
    const double all = schedule_.all * static_cast<double>(passes_);
    return all == 0 ? 0 : clocks / all;
  }
  /// The part of the whole that begins now.
  void next(double clocks) { share_.next(share_of(clocks)); }
  double device_clocks(const Step& step) const {
    return schedule_.on_device[index_of(executor_, step)];
  }

  const Executor& executor_;
  JobRunner& runner_;
  const DeviceSchedule& schedule_;
  const std::int64_t passes_;
  const NodeObserver& after_;
  const RunProgress& progress_;
  const JointProgress joint_;
  ProgressShare share_;
  double next_program_ = 0;              // the part of the whole that it is, side by side
  std::size_t begun_ = 0;                // passes
  std::optional<ProgramRuns> programs_;  // of the pass
  ExactValues exact_;
  std::vector<LayerReport> joined_;   // of the passes before
  std::vector<LayerReport> layers_;   // of pass_
  std::size_t pass_ = 0;              // whose layers come in
  std::set<const Step*> host_steps_;  // a step may run once for each group of images
  std::vector<HostLayer> host_layers_;
  HostWork host_;
  double device_seconds_ = 0;  // of products there, and their preparation
  bool any_exact_ = false;

  /// A program on its way, and what the host had done when it was handed out.
  struct HandedOut {
    const DeviceProgram* program;
    std::size_t pass;
    HostWork host;
    std::size_t host_layers;
  };
  std::deque<HandedOut> handed_out_;
  std::optional<ProgramPool> pool_;  // the last, so that its threads end first
};

void Pass::collect_for(std::size_t pass) {
  if (pass == pass_) return;
  join(joined_, std::exchange(layers_, {}));
  pass_ = pass;
}

std::vector<LayerReport> Pass::take_layers() {
  join(joined_, std::exchange(layers_, {}));
  return std::exchange(joined_, {});
}

void Pass::wait() {
  if (!pool_) return;
  const auto begin = Clock::now();
  pool_->finish();
  device_seconds_ += seconds_since(begin);
  next(0);
  if (!layers_.empty()) share_.report(layers_.back().name, 1);
}

std::size_t Pass::give_up() {
  if (handed_out_.empty()) return begun_ - 1;
  const HandedOut& failed = handed_out_.front();
  host_.nodes = failed.host.nodes;
  host_.operators = failed.host.operators;
  host_layers_.erase(host_layers_.begin() + static_cast<std::ptrdiff_t>(failed.host_layers),
                     host_layers_.end());
  return failed.pass;
}

void Pass::begin() {
  ++begun_;
  if (!pool_) collect_for(begun_ - 1);
  exact_ = ExactValues();
  programs_.emplace(executor_, schedule_.plan,
                    [this](const DeviceProgram& program, std::vector<ProgramLayer> layers) {
                      run_program(program, std::move(layers));
                    });
}

void Pass::add_host_step(const Step& step, const std::string& reason) {
  if (!host_steps_.insert(&step).second) return;
  ++host_.nodes;
  ++host_.operators[operator_name(*step.context.node)];
  if (auto layer = host_layer(executor_, step, reason, static_cast<std::uint64_t>(passes_))) {
    host_layers_.push_back(std::move(*layer));
  }
}

/// Why a step that is in no program runs on the host; empty where the device has its sums.
std::string Pass::why_host(const Step& step, const Tensors& arguments) const {
  std::string reason = why_on_host(step, arguments);
  const auto planned = schedule_.plan.on_host.find(static_cast<int>(index_of(executor_, step)));
  if (!reason.empty() && planned != schedule_.plan.on_host.end()) reason = planned->second;
  if (reason.empty() && !is_float_product(step) &&
      runner_.options().precision == Precision::kFloat32) {
    reason = "with --precision float32, the device computes products of float32 alone";
  }
  return reason;
}

void Pass::hand_out(const DeviceProgram& program, std::vector<ProgramLayer> layers) {
  handed_out_.push_back({&program, begun_ - 1, host_, host_layers_.size()});
  pool_->add(std::move(layers), joint_.part(std::exchange(next_program_, 0)));
}

void Pass::run_program(const DeviceProgram& program, std::vector<ProgramLayer> layers) {
  const auto begin = Clock::now();
  if (pool_) {
    hand_out(program, std::move(layers));
  } else {
    add_layers(program, runner_.run_program(std::move(layers), share_));
    share_.report(layers_.back().name, 1);
  }
  device_seconds_ += seconds_since(begin);
}

void Pass::add_layers(const DeviceProgram& program, const std::vector<LayerReport>& reports) {
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const DeviceLayer& layer = program.layers[i];
    LayerReport report = reports[i];
    report.program = 1 + static_cast<std::size_t>(&program - schedule_.plan.programs.data());
    report.convolution = layer.convolution;
    report.packed = layer.packed;
    report.packed_bytes = packed_bytes(layer);
    layers_.push_back(std::move(report));
  }
}

/// A Linear layer of float32.
Tensors Pass::on_device(const Step& step, const Tensors& arguments) {
  next(device_clocks(step));
  const auto begin = Clock::now();
  const Tensor output =
      run_linear(step.context, arguments, [&](const MatrixF& a, const ConstMapF& weights) {
        MatrixF product;
        layers_.push_back(
            run_float(runner_, layer_name(executor_, step), a, weights, product, share_));
        return product;
      });
  device_seconds_ += seconds_since(begin);
  return {output};
}

/// A Linear layer of integers whose sums alone the device gives.
Tensors Pass::sums_on_device(const Step& step, const Tensors& arguments) {
  next(device_clocks(step));
  const IntegerProduct product = [&](const MatrixI8& a, const MatrixI8& w) {
    const auto begin = Clock::now();
    const auto size = [](Eigen::Index index) { return static_cast<std::uint64_t>(index); };
    MatrixI32 sums;
    const GemmShape shape{size(a.rows()), size(a.cols()), size(w.rows())};
    layers_.push_back(
        runner_.run(runner_.job(layer_name(executor_, step), shape), a, w, sums, share_));
    const auto why = schedule_.plan.sums.find(static_cast<int>(index_of(executor_, step)));
    layers_.back().why_sums = why == schedule_.plan.sums.end()
                                  ? "its shape was not known before the network ran"
                                  : why->second;
    device_seconds_ += seconds_since(begin);
    return sums;
  };
  NodeContext context = step.context;
  context.product = &product;
  return compute(*step.info, context, arguments);
}

Tensors Pass::instead(const Step& step, const Tensors& arguments) {
  const std::size_t index = index_of(executor_, step);
  next(schedule_.on_host[index]);
  share_.report(step.context.label, 0);
  const std::optional<Tensors> exact_arguments = exact_.arguments(step, arguments);
  if (schedule_.plan.has(static_cast<int>(index))) {
    const auto begin = Clock::now();
    if (exact_arguments) exact_.store(step, compute(*step.info, step.context, *exact_arguments));
    const Tensors results = compute(*step.info, step.context, arguments);
    host_.reference_seconds += seconds_since(begin);
    if (pool_) {
      next_program_ = share_of(device_clocks(step));
    } else {
      next(device_clocks(step));
    }
    programs_->add(step, arguments, results[0]);
    return results;
  }
  const std::string reason = why_host(step, arguments);
  if (!reason.empty()) {
    add_host_step(step, reason);
    if (exact_arguments) exact_.store(step, compute(*step.info, step.context, *exact_arguments));
    return {};
  }
  if (!is_float_product(step)) {
    if (exact_arguments) exact_.store(step, compute(*step.info, step.context, *exact_arguments));
    return sums_on_device(step, arguments);
  }
  any_exact_ = true;
  share_.report("float32: " + step.context.label, 1);
  const Tensors wanted =
      compute(*step.info, step.context, exact_arguments ? *exact_arguments : arguments);
  exact_.store(step, wanted);
  Tensors found = on_device(step, arguments);
  if (runner_.options().precision == Precision::kInt8) {
    layers_.back().max_abs_error = max_abs_error(as_rows(wanted[0]), as_rows(found[0]));
  }
  return found;
}

ExecutorHooks Pass::hooks() {
  ExecutorHooks hooks;
  hooks.instead = [this](const Step& step, const Tensors& arguments) {
    return instead(step, arguments);
  };
  hooks.after = [this](const Step& step, const Tensors& outputs) {
    programs_->advance(step);
    if (after_) after_(step, outputs);
    exact_.forget(step);
  };
  return hooks;
}

void Pass::finish() {
  if (!runner_.options().one_program) return;
  ProgressShare all(progress_);
  all.next(1);
  const auto begin = Clock::now();
  runner_.finish(layers_, all);
  device_seconds_ += seconds_since(begin);
}

/// Why the programs of a network must run in their order, on one device; empty where they need not.
std::string why_one_job(const Executor& executor, const DeviceSchedule& schedule) {
  constexpr const char* kAlone =
      "of layers that are not from 8-bit values to 8-bit values, the host goes on with the "
      "device's results";
  if (schedule.plan.programs.empty() || !schedule.plan.sums.empty()) return kAlone;
  const OnnxModel& model = executor.model();
  for (std::size_t i = 0; i < executor.steps().size(); ++i) {
    const Step& step = executor.steps()[i];
    const onnx::NodeProto& node = *step.context.node;
    if (schedule.plan.has(static_cast<int>(i)) || !step.constant_weights) continue;
    if (linear_product(model, node) && is_float_product(step)) return kAlone;
    if (!model.type(node.input(0))) return kAlone;  // perhaps
  }
  return "";
}

}  // namespace

void check_jobs(const OnnxModel& model, const JobRunner& runner) {
  const Executor executor(model);
  make_schedule(executor, runner);
}

NetworkRun run_network(const Executor& executor, const NetworkInputs& inputs, JobRunner& runner,
                       RunReport report, const NodeObserver& after, const RunProgress& progress,
                       const Executor* exact_network) {
  const DeviceSchedule schedule = make_schedule(executor, runner);
  std::vector<Job> jobs;
  for (std::int64_t i = 0; i < inputs.passes(); ++i) {
    jobs.insert(jobs.end(), schedule.jobs.begin(), schedule.jobs.end());
  }
  runner.announce(jobs);
  for (const DeviceProgram& program : schedule.plan.programs) {
    report.chained = report.chained || program.layers.size() > 1;
  }
  NetworkRun run;
  const SideBySide& beside = runner.options().side_by_side;
  if (beside.jobs > 1) run.why_one_job = why_one_job(executor, schedule);
  Pass pass(executor, runner, schedule, inputs.passes(), after, progress,
            beside.jobs > 1 && run.why_one_job.empty());
  const ExecutorHooks hooks = pass.hooks();
  const auto begin = Clock::now();
  Passes passes;
  const auto run_pass = [&](std::int64_t i) {
    pass.begin();
    const NetworkInputs given = inputs.pass(i);
    Values values = run_head(executor, schedule.first, given, hooks);
    executor.run_steps(schedule.first, executor.steps().size(), values, hooks);
    pass.finish();
    const auto& graph = executor.model().graph();
    Tensor beside;
    if (exact_network != nullptr) beside = exact_output(*exact_network, given);
    const Tensor* wanted = exact_network != nullptr   ? &beside
                           : graph.output_size() == 0 ? nullptr
                                                      : pass.exact().find(graph.output(0).name());
    passes.add(executor, executor.outputs(values), wanted, inputs.images_of(i), inputs.at_once);
  };
  try {
    try {
      for (std::int64_t i = 0; i < inputs.passes(); ++i) run_pass(i);
    } catch (const UsageError&) {
      pass.wait();  // what failed before the host got there comes first
      throw;
    }
    pass.wait();
    set_outputs(run, executor, passes.outputs());
  } catch (const DeviceError& error) {
    report.error = error.what();
    passes.keep(pass.give_up());
  }
  report.layers = pass.take_layers();
  report.host_layers = pass.take_host_layers();
  report.host = pass.host_work();
  report.host->seconds =
      seconds_since(begin) - pass.device_seconds() - report.host->reference_seconds;
  describe(inputs, report);
  // Where nothing was quantized, float32 would agree with itself.
  if (exact_network != nullptr || pass.any_exact()) {
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
  report.host.emplace();
  report.host->nodes = executor.steps().size();
  report.host->seconds = seconds_since(begin) - seconds;
  describe(inputs, report);
  run.report = std::move(report);
  return run;
}

}  // namespace gemm64
