// SPDX-License-Identifier: Apache-2.0
#include "host/run/program_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

/// Thrown through a program that nobody waits for any more.
struct Stopped {};

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

}  // namespace

ProgramPool::ProgramPool(JobRunner& first, Finished finished)
    : first_(first),
      finished_(std::move(finished)),
      first_clock_(first.device().cycles()),
      last_(kNone) {}

/// One more device, on a thread of its own.
void ProgramPool::grow() {
  try {
    threads_.emplace_back([this, i = threads_.size()] { work(i); });
  } catch (const std::system_error& error) {
    if (!threads_.empty()) return;  // fewer devices give the same results
    throw UsageError(
        fmt::format("no thread can be started ({}); --jobs 1 needs none, or allow more (ulimit -u)",
                    error.what()));
  }
}

ProgramPool::~ProgramPool() { stop(); }

void ProgramPool::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ProgramPool::add(std::vector<ProgramLayer> layers, RunProgress callback) {
  if (threads_.size() < first_.options().parallel_for.jobs) grow();
  std::unique_lock<std::mutex> lock(mutex_);
  const std::size_t count = layers.size();
  waiting_.push_back({added_++, round_, jobs_, std::move(layers), std::move(callback)});
  jobs_ += count;
  changed_.notify_all();
  while (waiting_.size() >= threads_.size()) {
    take_finished(lock);
    changed_.wait(lock, [this] {
      return waiting_.size() < threads_.size() || results_.count(reported_) != 0;
    });
  }
  take_finished(lock);
}

std::size_t ProgramPool::running() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::min(threads_.size(), added_ - done_);
}

void ProgramPool::finish() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!end_ && reported_ != added_) {
    changed_.wait(lock, [this] { return results_.count(reported_) != 0; });
    take_finished(lock);
  }
}

void ProgramPool::take_finished(std::unique_lock<std::mutex>& lock) {
  for (auto next = results_.find(reported_); next != results_.end();
       next = results_.find(reported_)) {
    Result result = std::move(next->second);
    results_.erase(next);
    ++reported_;
    reported_jobs_ += result.found.layers.size();
    reported_cycles_ += result.cycles;
    lock.unlock();
    if (result.error) {
      stop();
      std::rethrow_exception(result.error);
    }
    if (result.failure) first_.adopt(std::move(*result.failure));
    const bool rest_counts = finished_(std::move(result.found));
    lock.lock();
    if (!rest_counts) forget_the_rest(lock);
  }
}

void ProgramPool::forget_the_rest(std::unique_lock<std::mutex>& lock) {
  ++round_;
  waiting_.clear();
  changed_.notify_all();
  changed_.wait(lock, [this] { return running_ == 0; });
  results_.clear();
  added_ = done_ = reported_;
  jobs_ = reported_jobs_;
  cycles_ = reported_cycles_;
  last_ = kNone;
}

void ProgramPool::work(std::size_t device) {
  std::unique_ptr<Device> own_device;
  std::unique_ptr<Driver> own_driver;
  const SideBySide& beside = first_.options().parallel_for;
  while (true) {
    Task task;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return end_ || !waiting_.empty(); });
      if (end_) return;
      task = std::move(waiting_.front());
      waiting_.pop_front();
      ++running_;
    }
    changed_.notify_all();
    Result result;
    try {
      if (device != 0 && !own_driver) {
        own_device = beside.make();
        own_driver = std::make_unique<Driver>(*own_device, beside.timeouts);
      }
      result = own_driver ? run(task, *own_device, *own_driver)
                          : run(task, first_.device(), first_.driver());
    } catch (const Stopped&) {
    } catch (...) {
      result.error = std::current_exception();
    }
    store(task, std::move(result));
  }
}

ProgramPool::Result ProgramPool::run(Task& task, Device& device, Driver& driver) {
  RunOptions options = first_.options();
  options.observers.clear();
  bool looked = false;
  if (options.investigate) {
    options.investigate = [&](const JobRun& run, Failure& failure) {
      look_again(run, failure, task, looked);
    };
  }
  JobRunner runner(device, driver, options);
  ProgressShare share([&](const std::string& name, double done) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (is_stopped(task)) throw Stopped();
    }
    if (task.callback) task.callback(name, done);
  });
  share.next(1);
  Result result;
  const std::uint64_t begin = device.cycles();
  result.found = runner.run_program(std::move(task.layers), share);
  result.cycles = device.cycles() - begin;
  if (looked) result.failure = runner.failure();
  if (task.callback) task.callback(result.found.layers.back().name, 1);
  return result;
}

/// The diagnosis belongs to the first failure of all, so it waits for the programs before.
void ProgramPool::look_again(const JobRun& run, Failure& failure, const Task& task, bool& looked) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return done_ == task.index || is_stopped(task); });
    if (is_stopped(task)) throw Stopped();
    if (failed_) return;
    failed_ = true;
    failure.first_clock = first_clock_ + cycles_;
  }
  failure.index += task.first_job;
  looked = true;
  first_.options().investigate(run, failure);
}

void ProgramPool::store(const Task& task, Result result) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    --running_;
    if (task.round == round_) {
      if (result.error) last_ = std::min(last_, task.index);
      results_.emplace(task.index, std::move(result));
    }
    for (auto next = results_.find(done_); next != results_.end(); next = results_.find(done_)) {
      cycles_ += next->second.cycles;
      ++done_;
    }
  }
  changed_.notify_all();
}

}  // namespace gemm64
