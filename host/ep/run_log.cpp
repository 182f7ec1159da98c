// SPDX-License-Identifier: Apache-2.0
#include "host/ep/run_log.hpp"

#include <algorithm>

#include "host/report/json.hpp"

namespace gemm64::ep {

void join(RunReport& report, RunReport more) {
  if (report.layers.empty() && !report.host) {
    const std::string model = std::move(report.model);
    report = std::move(more);
    report.model = model;
    return;
  }
  // Programs that run once more, and those of other graphs, have the numbers of others.
  std::set<std::size_t> programs;
  for (const LayerReport& layer : report.layers) programs.insert(layer.program);
  const bool is_taken =
      std::any_of(more.layers.begin(), more.layers.end(), [&programs](const LayerReport& layer) {
        return layer.program != 0 && programs.count(layer.program) != 0;
      });
  for (LayerReport& layer : more.layers) {
    if (layer.program != 0 && is_taken) layer.program += *programs.rbegin();
    report.layers.push_back(std::move(layer));
  }
  report.chained = report.chained || more.chained;
  add(report.outputs, more.outputs);
  for (HostLayer& layer : more.host_layers) report.host_layers.push_back(std::move(layer));
  if (more.host) {
    if (!report.host) report.host.emplace();
    report.host->nodes += more.host->nodes;
    report.host->seconds += more.host->seconds;
    report.host->reference_seconds += more.host->reference_seconds;
    for (const auto& [name, count] : more.host->operators) report.host->operators[name] += count;
  }
  if (report.error.empty()) report.error = std::move(more.error);
  if (!report.failure) report.failure = std::move(more.failure);
}

void RunLog::add_not_claimed(std::vector<NotClaimed> nodes, std::vector<HostLayer> between) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // ONNX Runtime may ask for the same graph twice.
  for (NotClaimed& node : nodes) {
    if (known_.emplace(node.name, node.op_type).second) not_claimed_.push_back(std::move(node));
  }
  for (HostLayer& node : between) {
    const bool is_known =
        std::any_of(between_.begin(), between_.end(),
                    [&node](const HostLayer& known) { return known.name == node.name; });
    if (!is_known) between_.push_back(std::move(node));
  }
}

void RunLog::begin_run() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_paused()) return;
  last_begun_ = std::this_thread::get_id();
  runs_[last_begun_] = empty_;
}

std::map<std::thread::id, RunReport>::iterator RunLog::run_of_this_thread() {
  const auto own = runs_.find(std::this_thread::get_id());
  return own != runs_.end() ? own : runs_.find(last_begun_);
}

void RunLog::add(RunReport report, ProfileEvent event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_paused()) return;
  if (profiled_) events_.push_back(std::move(event));
  const auto run = run_of_this_thread();
  if (run != runs_.end()) join(run->second, std::move(report));
}

void RunLog::end_run() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_paused()) return;
  const auto run = run_of_this_thread();
  if (run == runs_.end()) return;
  last_ = std::move(run->second);
  runs_.erase(run);
}

void RunLog::set_paused(bool paused) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (paused) {
    paused_.insert(std::this_thread::get_id());
  } else {
    paused_.erase(std::this_thread::get_id());
  }
}

std::optional<RunReport> RunLog::last_run() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return last_;
}

std::vector<NotClaimed> RunLog::not_claimed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return not_claimed_;
}

std::vector<HostLayer> RunLog::between() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return between_;
}

nlohmann::ordered_json RunLog::last_report() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!last_) return nullptr;
  nlohmann::ordered_json json = to_json(*last_);
  nlohmann::ordered_json& left = json["not_claimed"] = nlohmann::ordered_json::array();
  for (const NotClaimed& node : not_claimed_) {
    left.push_back({{"name", node.name}, {"op_type", node.op_type}, {"reason", node.reason}});
  }
  return json;
}

void RunLog::start_profile() {
  const std::lock_guard<std::mutex> lock(mutex_);
  profiled_ = true;
  events_.clear();
}

std::vector<ProfileEvent> RunLog::take_events() {
  const std::lock_guard<std::mutex> lock(mutex_);
  profiled_ = false;
  return std::exchange(events_, {});
}

}  // namespace gemm64::ep
