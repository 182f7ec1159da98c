// SPDX-License-Identifier: Apache-2.0
#include "host/execute/network_pass.hpp"

#include "host/execute/host_threads.hpp"
#include "host/execute/linear.hpp"
#include "host/execute/passes.hpp"
#include "host/onnx/supported.hpp"
#include "host/onnx/work.hpp"
#include "host/run/float_gemm.hpp"

namespace gemm64 {
namespace {

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

}  // namespace

NetworkPass::NetworkPass(const Executor& executor, JobRunner& runner,
                         const DeviceSchedule& schedule, std::int64_t passes,
                         const NodeObserver& after, const RunProgress& progress, bool side_by_side)
    : executor_(executor),
      runner_(runner),
      schedule_(schedule),
      passes_(passes),
      after_(after),
      progress_(progress),
      joint_(progress),
      share_(side_by_side ? joint_.part(1) : progress) {
  if (side_by_side) {
    pool_.emplace(runner_, [this](std::size_t, const std::vector<LayerReport>& reports) {
      const HandedOut program = handed_out_.front();
      collect_for(program.pass);
      add_layers(*program.program, reports);
      handed_out_.pop_front();
    });
  }
}

NetworkPass::~NetworkPass() {
  if (pool_) leave_processors(0);
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
  next(0);
  if (!layers_.empty()) share_.report(layers_.back().name, 1);
}

std::size_t NetworkPass::give_up() {
  if (handed_out_.empty()) return begun_ - 1;
  const HandedOut& failed = handed_out_.front();
  host_.nodes = failed.host.nodes;
  host_.operators = failed.host.operators;
  host_layers_.erase(host_layers_.begin() + static_cast<std::ptrdiff_t>(failed.host_layers),
                     host_layers_.end());
  return failed.pass;
}

void NetworkPass::begin() {
  ++begun_;
  if (!pool_) collect_for(begun_ - 1);
  exact_ = ExactValues();
  programs_.emplace(executor_, schedule_.plan,
                    [this](const DeviceProgram& program, std::vector<ProgramLayer> layers) {
                      run_program(program, std::move(layers));
                    });
}

void NetworkPass::add_host_step(const Step& step, const std::string& reason) {
  if (!host_steps_.insert(&step).second) return;
  ++host_.nodes;
  ++host_.operators[operator_name(*step.context.node)];
  if (auto layer = host_layer(executor_, step, reason, static_cast<std::uint64_t>(passes_))) {
    host_layers_.push_back(std::move(*layer));
  }
}

/// Why a step that is in no program runs on the host; empty where the device has its sums.
std::string NetworkPass::why_host(const Step& step, const Tensors& arguments) const {
  std::string reason = why_on_host(step, arguments);
  const auto planned = schedule_.plan.on_host.find(static_cast<int>(index_of(executor_, step)));
  if (!reason.empty() && planned != schedule_.plan.on_host.end()) reason = planned->second;
  if (reason.empty() && !is_float_product(step) &&
      runner_.options().precision == Precision::kFloat32) {
    reason = "with --precision float32, the device computes products of float32 alone";
  }
  return reason;
}

void NetworkPass::hand_out(const DeviceProgram& program, std::vector<ProgramLayer> layers) {
  handed_out_.push_back({&program, begun_ - 1, host_, host_layers_.size()});
  pool_->add(std::move(layers), joint_.part(std::exchange(next_program_, 0)));
}

void NetworkPass::run_program(const DeviceProgram& program, std::vector<ProgramLayer> layers) {
  const auto begin = WallClock::now();
  if (pool_) {
    hand_out(program, std::move(layers));
  } else {
    add_layers(program, runner_.run_program(std::move(layers), share_));
    share_.report(layers_.back().name, 1);
  }
  device_seconds_ += seconds_since(begin);
}

void NetworkPass::add_layers(const DeviceProgram& program,
                             const std::vector<LayerReport>& reports) {
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
Tensors NetworkPass::on_device(const Step& step, const Tensors& arguments) {
  next(device_clocks(step));
  const auto begin = WallClock::now();
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
Tensors NetworkPass::sums_on_device(const Step& step, const Tensors& arguments) {
  next(device_clocks(step));
  const IntegerProduct product = [&](const MatrixI8& a, const MatrixI8& w) {
    const auto begin = WallClock::now();
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

Tensors NetworkPass::instead(const Step& step, const Tensors& arguments) {
  make_room();
  const std::size_t index = index_of(executor_, step);
  next(schedule_.on_host[index]);
  share_.report(step.context.label, 0);
  const std::optional<Tensors> exact_arguments = exact_.arguments(step, arguments);
  if (schedule_.plan.has(static_cast<int>(index))) {
    const auto begin = WallClock::now();
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

ExecutorHooks NetworkPass::hooks() {
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

void NetworkPass::finish() {
  if (!runner_.options().one_program) return;
  ProgressShare all(progress_);
  all.next(1);
  const auto begin = WallClock::now();
  runner_.finish(layers_, all);
  device_seconds_ += seconds_since(begin);
}

}  // namespace gemm64
