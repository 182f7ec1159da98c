// SPDX-License-Identifier: Apache-2.0
// Programs that do not depend on each other, side by side: each on one of several devices.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "host/run/job_runner.hpp"

namespace gemm64 {

/// What comes out is what one device gives that runs all programs in the order of add(): reports,
/// errors, and the failure that is looked at again, with its clock. Each program begins with a
/// reset, so its cycles do not depend on where it runs. Only the thread that made a pool may call
/// it.
class ProgramPool {
 public:
  /// Told what each program gave, in the order of add(), by add() and finish(). Says whether the
  /// programs added behind it still count; where they do not, they are forgotten, as if they had
  /// never been added.
  using Finished = std::function<bool(ProgramResults results)>;

  /// `first`, with its device, is not owned and runs nothing else as long as the pool lives; the
  /// other devices are its options' (RunOptions::parallel_for), made when they are needed.
  ProgramPool(JobRunner& first, Finished finished);
  /// Stops what is under way.
  ~ProgramPool();
  ProgramPool(const ProgramPool&) = delete;
  ProgramPool& operator=(const ProgramPool&) = delete;

  /// Hands a program out; returns when fewer programs wait than there are devices, so that memory
  /// grows with the devices alone. `callback` hears of its progress, on another thread. Throws what
  /// JobRunner::run_program throws, of the first program that failed; all behind it are stopped.
  void add(std::vector<ProgramLayer> layers, RunProgress callback);

  /// Programs that run now, or are about to: so many devices are busy.
  std::size_t running();

  /// Returns when all programs have run. Throws as add() does.
  void finish();

 private:
  struct Task {
    std::size_t index = 0;
    std::size_t round = 0;
    std::size_t first_job = 0;
    std::vector<ProgramLayer> layers;
    RunProgress callback;
  };
  struct Result {
    ProgramResults found;
    std::optional<Failure> failure;
    std::exception_ptr error;
    std::uint64_t cycles = 0;  // that the program took, register accesses included
  };

  void grow();
  void work(std::size_t device);
  Result run(Task& task, Device& device, Driver& driver);
  void look_again(const JobRun& run, Failure& failure, const Task& task, bool& looked);
  void store(const Task& task, Result result);
  bool is_stopped(const Task& task) const {
    return end_ || task.round != round_ || task.index > last_;
  }
  void take_finished(std::unique_lock<std::mutex>& lock);
  void forget_the_rest(std::unique_lock<std::mutex>& lock);
  void stop();

  JobRunner& first_;
  const Finished finished_;
  const std::uint64_t first_clock_;  // in which one device would have begun
  std::vector<std::thread> threads_;

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  std::map<std::size_t, Result> results_;  // those that are not reported yet
  std::size_t round_ = 0;                  // one more each time programs are forgotten
  std::size_t running_ = 0;                // programs
  std::size_t added_ = 0, jobs_ = 0;       // programs, and their layers
  std::size_t done_ = 0;                   // programs before the first that has not ended
  // Programs that `finished` was called for, their layers, and what they took.
  std::size_t reported_ = 0, reported_jobs_ = 0;
  std::uint64_t reported_cycles_ = 0;
  std::size_t last_;          // program that may run: the first with an error
  std::uint64_t cycles_ = 0;  // of the programs before done_
  bool failed_ = false;       // one of these: the first alone is diagnosed
  bool end_ = false;
};

}  // namespace gemm64
