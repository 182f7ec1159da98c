// SPDX-License-Identifier: Apache-2.0
// What the runs of a session did on the device: reports, and events for a profile.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/ep/partition.hpp"
#include "host/runtime/run_report.hpp"

namespace gemm64::ep {

/// A program that ran, as a profile shows it.
struct ProfileEvent {
  std::string name;
  std::int64_t begin_us = 0;  // of the steady clock
  std::int64_t duration_us = 0;
  std::uint64_t cycles = 0, bytes = 0, layers = 0;
};

/// Runs may be concurrent. A run is on one thread, as ONNX Runtime's sequential executor has it;
/// what another thread does meanwhile counts as the run's that began last.
class RunLog {
 public:
  /// What every report has, without layers.
  void set_empty_report(RunReport report) { empty_ = std::move(report); }
  void set_model(std::string name) { empty_.model = std::move(name); }
  /// Adds the nodes that a graph of the session leaves to ONNX Runtime, and those of them for which
  /// programs wait.
  void add_not_claimed(std::vector<NotClaimed> nodes, std::vector<HostLayer> between);

  void begin_run();
  /// Adds a group's report, of the run on this thread.
  void add(RunReport report, ProfileEvent event);
  /// Ends the run on this thread, whose report is the last one from now on.
  void end_run();
  /// While one lives, the log ignores runs on this thread.
  class Pause {
   public:
    explicit Pause(RunLog& log) : log_(log) { log_.set_paused(true); }
    ~Pause() { log_.set_paused(false); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    RunLog& log_;
  };

  /// The last run's; absent before the first.
  std::optional<RunReport> last_run() const;
  /// The same as JSON, with the nodes that are not claimed; null before the first.
  nlohmann::ordered_json last_report() const;
  std::vector<NotClaimed> not_claimed() const;
  std::vector<HostLayer> between() const;
  void start_profile();
  std::vector<ProfileEvent> take_events();

 private:
  std::map<std::thread::id, RunReport>::iterator run_of_this_thread();
  void set_paused(bool paused);
  bool is_paused() const { return paused_.count(std::this_thread::get_id()) != 0; }

  mutable std::mutex mutex_;
  RunReport empty_;
  std::vector<NotClaimed> not_claimed_;
  std::vector<HostLayer> between_;
  std::set<std::pair<std::string, std::string>> known_;  // names and operators of these
  std::map<std::thread::id, RunReport> runs_;
  std::thread::id last_begun_;
  std::set<std::thread::id> paused_;
  std::optional<RunReport> last_;
  bool profiled_ = false;
  std::vector<ProfileEvent> events_;
};

/// Appends one report to another: its layers as programs of their own, which get other numbers if
/// they have those of others.
void join(RunReport& report, RunReport more);

}  // namespace gemm64::ep
