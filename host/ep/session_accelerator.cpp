// SPDX-License-Identifier: Apache-2.0
#include "host/ep/session_accelerator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "host/runtime/group_run.hpp"
#include "host/runtime/wall_clock.hpp"

namespace gemm64::ep {
namespace {

/// Thrown through a group whose results no longer count.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("stopped") {}
};

/// Of the pass that runs ahead on this thread; nullptr: none does.
thread_local SessionAccelerator::GroupRuns* runs_ahead = nullptr;

bool is_predictable(const Executable& executable) {
  return !executable.plan.programs.empty() && executable.sums.empty() &&
         executable.plan.sums.empty();
}

bool are_same(const NamedTensors& a, const NamedTensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& two) {
    const Tensor &first = one.second, &second = two.second;
    return one.first == two.first && first.type() == second.type() &&
           first.dims() == second.dims() &&
           (first.bytes() == 0 || std::memcmp(first.raw(), second.raw(), first.bytes()) == 0);
  });
}

/// What ONNX Runtime computes of a group; nothing if it cannot: then the device is waited for.
std::optional<NamedTensors> predicted(const HostNodes& nodes, const NamedTensors& inputs) {
  std::vector<std::string> names;
  for (const auto& output : nodes.model().graph().output()) names.push_back(output.name());
  try {
    return nodes.values(names, {inputs.begin(), inputs.end()});
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

bool has_failed(const RunReport& report) {
  return !report.error.empty() || (!report.layers.empty() && !report.held());
}

}  // namespace

void SessionAccelerator::compiled(const OnnxModel& model, const Executable& executable) {
  ++groups_;
  if (is_predictable(executable)) ++predictable_;
  for (int i = 0; i < model.graph().node_size(); ++i) {
    nodes_.emplace_back(&model.graph().node(i), node_label(model.graph().node(i), i));
  }
  if (!announces_) return;
  for (Job& job : jobs_of(model, session_.runner(), executable)) jobs_.push_back(std::move(job));
}

void SessionAccelerator::reset() {
  groups_ = predictable_ = 0;
  all_known_ = true;
  jobs_.clear();
  nodes_.clear();
}

void SessionAccelerator::begin(std::int64_t passes, const RunProgress& progress,
                               ActivationDump* dump) {
  progress_ = progress;
  joint_.emplace(progress);
  after_ = nullptr;
  at_next_group_ = nullptr;
  if (dump != nullptr) {
    after_ = [dump](const onnx::NodeProto& node, const Tensors& outputs) {
      dump->write(node, outputs);
    };
    after_.wants_inner = [dump](const onnx::NodeProto& node) { return dump->has(node); };
  }
  all_ = static_cast<double>(groups_ * static_cast<std::size_t>(passes));
  finished_ = 0;
  seconds_ = 0;
  error_ = nullptr;
  failed_ = false;
}

std::string SessionAccelerator::why_one_job(std::int64_t passes, bool dumps) const {
  if (session_.is_host_only()) return "only the host runs the network";
  if (dumps) return "with --dump-activations, programs run in their order";
  const RunOptions& options = session_.runner().options();
  if (options.one_program) return "with --one-program, there is one program";
  if (!all_known_) return "some sizes are known only when the network runs";
  if (groups_ == 0) return "the network has no program for the device";
  if (passes > 1) return "";
  if (options.check != CheckLevel::kLayers) {
    return fmt::format(
        "with --check {} a program takes what the device wrote before it, and nothing else is "
        "known",
        name(options.check));
  }
  if (predictable_ == 0) {
    return "of layers that are not from 8-bit values to 8-bit values, the host goes on with the "
           "device's results";
  }
  return groups_ == 1 ? "the network is one program, which runs once" : "";
}

void SessionAccelerator::begin_parallel() {
  parallel_ = true;
  stops_ = false;
}

void SessionAccelerator::end_parallel() {
  stops_ = true;
  parallel_ = false;
  replayed_.clear();
}

NetworkRun SessionAccelerator::run(const HostNodes& nodes, const Executable& compiled,
                                   NamedTensors inputs) {
  if (runs_ahead != nullptr) return run_in_pass_ahead(nodes, compiled, inputs);
  if (!parallel_) return run_now(nodes, compiled, std::move(inputs));
  if (std::optional<NetworkRun> made = replayed(nodes, inputs)) return *std::move(made);
  const auto begin = WallClock::now();
  NetworkRun made = start(nodes, compiled, std::move(inputs)).get();
  seconds_ += seconds_since(begin);
  return made;
}

NetworkRun SessionAccelerator::run_by(JobRunner& runner, const HostNodes& nodes,
                                      const Executable& compiled, NamedTensors inputs,
                                      const RunProgress& progress) const {
  NetworkRun made = run_group(nodes, compiled, runner, inputs,
                              runner.report(nodes.model().name(), 1), progress, after_);
  if (progress && !made.report.layers.empty()) progress(made.report.layers.back().name, 1);
  return made;
}

/// On the session's device.
NetworkRun SessionAccelerator::run_now(const HostNodes& nodes, const Executable& compiled,
                                       NamedTensors inputs) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (at_next_group_) std::exchange(at_next_group_, nullptr)();
  const auto begin = WallClock::now();
  const RunProgress progress = [this](const std::string& name, double done) {
    if (!progress_) return;
    // A body of a Loop runs more than once.
    progress_(name, std::min((static_cast<double>(finished_) + done) * share(), 1.0));
  };
  try {
    NetworkRun made = run_by(session_.runner(), nodes, compiled, std::move(inputs), progress);
    ++finished_;
    seconds_ += seconds_since(begin);
    return made;
  } catch (...) {
    error_ = std::current_exception();
    throw;
  }
}

NetworkRun SessionAccelerator::run_in_pass_ahead(const HostNodes& nodes, const Executable& compiled,
                                                 const NamedTensors& inputs) {
  // Nothing reads the last group's results before they are there.
  const bool is_last = runs_ahead->size() + 1 >= groups_;
  runs_ahead->push_back({&nodes, inputs, start(nodes, compiled, inputs)});
  const std::shared_future<NetworkRun> run = runs_ahead->back().run;
  if (!is_last && is_predictable(compiled) &&
      session_.runner().options().check == CheckLevel::kLayers) {
    if (std::optional<NamedTensors> outputs = predicted(nodes, inputs)) {
      NetworkRun made;
      made.outputs = *std::move(outputs);
      return made;
    }
  }
  return run.get();
}

/// Runs a group on another device as soon as one is free.
std::shared_future<NetworkRun> SessionAccelerator::start(const HostNodes& nodes,
                                                         const Executable& compiled,
                                                         NamedTensors inputs) {
  const auto work = [this, &nodes, &compiled, progress = joint_->part(share())](
                        std::unique_ptr<Worker> worker, NamedTensors given) {
    const RunProgress watched = [&](const std::string& name, double done) {
      if (stops_ || failed_) throw Stopped();
      if (progress) progress(name, done);
    };
    NetworkRun made;
    try {
      made = run_by(worker->runner, nodes, compiled, std::move(given), watched);
      if (has_failed(made.report)) failed_ = true;
    } catch (...) {
      if (!stops_) failed_ = true;
      put_back(std::move(worker));
      throw;
    }
    put_back(std::move(worker));
    return made;
  };
  std::unique_ptr<Worker> worker = take_worker();
  try {
    return std::async(std::launch::async, work, std::move(worker), std::move(inputs)).share();
  } catch (const std::system_error&) {  // no thread: one device needs none
    failed_ = true;
    put_back(nullptr);
    throw;
  }
}

std::optional<NetworkRun> SessionAccelerator::replayed(const HostNodes& nodes,
                                                       const NamedTensors& inputs) {
  if (replayed_.empty()) return std::nullopt;
  const GroupRun ahead = std::move(replayed_.front());
  replayed_.pop_front();
  if (ahead.nodes != &nodes || !are_same(ahead.inputs, inputs)) return std::nullopt;
  return ahead.run.get();
}

std::unique_ptr<SessionAccelerator::Worker> SessionAccelerator::take_worker() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    freed_.wait(lock, [this] { return !free_.empty() || workers_ < parallel_for_.jobs; });
    if (!free_.empty()) {
      std::unique_ptr<Worker> worker = std::move(free_.back());
      free_.pop_back();
      return worker;
    }
    ++workers_;
  }
  RunOptions options = session_.runner().options();
  options.observers.clear();
  options.investigate = nullptr;
  try {
    return std::make_unique<Worker>(parallel_for_, options);
  } catch (...) {
    failed_ = true;
    put_back(nullptr);
    throw;
  }
}

/// nullptr: the worker is lost.
void SessionAccelerator::put_back(std::unique_ptr<Worker> worker) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (worker != nullptr) {
      free_.push_back(std::move(worker));
    } else {
      --workers_;
    }
  }
  freed_.notify_one();
}

SessionAccelerator::GroupRuns SessionAccelerator::run_ahead(const std::function<void()>& pass) {
  GroupRuns runs;
  runs_ahead = &runs;
  try {
    pass();
  } catch (const std::exception&) {  // the pass that counts meets it again
  }
  runs_ahead = nullptr;
  for (const GroupRun& group : runs) group.run.wait();
  return runs;
}

}  // namespace gemm64::ep
