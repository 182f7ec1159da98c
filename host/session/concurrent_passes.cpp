// SPDX-License-Identifier: Apache-2.0
#include "host/session/concurrent_passes.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "host/kernels/host_threads.hpp"
#include "host/session/network_parts.hpp"
#include "host/util/parallel_for.hpp"

namespace gemm64 {
namespace {

class SideBySidePasses {
 public:
  SideBySidePasses(const Executor& executor, const NetworkInputs& inputs, JobRunner& runner,
                   const RunReport& report, const RunProgress& progress, const Executor* exact,
                   const Executable* compiled)
      : executor_(executor),
        inputs_(inputs),
        runner_(runner),
        report_(report),
        progress_(progress),
        exact_(exact),
        compiled_(compiled),
        join_(executor, inputs, report),
        left_(inputs.passes()) {}

  NetworkRun run();

 private:
  void work(bool on_first);
  void run_passes(Device& device, Driver& driver);

  const Executor& executor_;
  const NetworkInputs& inputs_;
  JobRunner& runner_;
  const RunReport& report_;
  const JointProgress progress_;
  const Executor* exact_;
  const Executable* compiled_;
  std::size_t devices_ = 1;

  std::mutex mutex_;  // of all below, and of the inputs
  PartJoin join_;
  std::map<std::int64_t, NetworkRun> parts_;  // behind one that is missing
  std::int64_t next_ = 0, joined_ = 0, left_;
  std::exception_ptr failure_;
};

NetworkRun SideBySidePasses::run() {
  devices_ = std::min(static_cast<std::size_t>(runner_.options().parallel_for.jobs),
                      static_cast<std::size_t>(inputs_.passes()));
  on_threads(devices_, [this](std::size_t thread) { work(thread == 0); });
  leave_processors(0);
  if (failure_) std::rethrow_exception(failure_);
  return join_.finish();
}

void SideBySidePasses::work(bool on_first) {
  leave_processors(devices_ - 1);
  try {
    if (on_first) {
      run_passes(runner_.device(), runner_.driver());
    } else {
      const SideBySide& beside = runner_.options().parallel_for;
      const std::unique_ptr<Device> device = beside.make();
      Driver driver(*device, beside.timeouts);
      run_passes(*device, driver);
    }
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    left_ = next_;
    if (!failure_) failure_ = std::current_exception();
  }
}

void SideBySidePasses::run_passes(Device& device, Driver& driver) {
  RunOptions options = runner_.options();
  options.parallel_for = {};
  options.investigate = nullptr;
  JobRunner runner(device, driver, options);
  while (true) {
    std::int64_t pass = 0;
    NetworkInputs given;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (next_ >= left_) return;
      pass = next_++;
      const NetworkInputs one = inputs_.pass(pass);
      given = NetworkInputs::of(one.take(0, one.images));
    }
    NetworkRun part =
        run_network(executor_, given, runner, report_, nullptr,
                    progress_.part(1 / static_cast<double>(inputs_.passes())), exact_, compiled_);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!part.report.error.empty()) left_ = next_;  // nothing behind it counts
    parts_.emplace(pass, std::move(part));
    for (auto found = parts_.find(joined_); found != parts_.end(); found = parts_.find(joined_)) {
      join_.add(std::move(found->second));
      parts_.erase(found);
      ++joined_;
    }
  }
}

}  // namespace

NetworkRun run_side_by_side(const Executor& executor, const NetworkInputs& inputs,
                            JobRunner& runner, const RunReport& report, const RunProgress& progress,
                            const Executor* exact, const Executable* compiled) {
  return SideBySidePasses(executor, inputs, runner, report, progress, exact, compiled).run();
}

}  // namespace gemm64
