// SPDX-License-Identifier: Apache-2.0
#include "host/cli/inspected_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "host/check/investigation.hpp"
#include "host/cli/failure_file.hpp"
#include "host/cli/failure_view.hpp"
#include "host/report/json.hpp"
#include "host/report/page/page.hpp"
#include "host/report/page/recording.hpp"
#include "host/report/run_table.hpp"
#include "host/report/verdict.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/escaped.hpp"
#include "host/util/lost_outputs.hpp"
#include "sim/models/devices.hpp"
#include "sim/waves/save_file.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

using ClockRange = std::pair<std::uint64_t, std::uint64_t>;

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
// Of a trace that is opened later, by DebugDevice::trace().
constexpr ClockRange kNotYet{kNever - 1, kNever};

void need_inspectable(const CommonOptions& options) {
  const DebugOptions& debug = options.debug;
  const std::pair<const char*, bool> given[] = {{"--trace", !debug.trace.empty()},
                                                {"--trace-mismatch", !debug.trace_mismatch.empty()},
                                                {"--timeline", !debug.timeline.empty()},
                                                {"--inject", !debug.inject.empty()}};
  for (const auto& [name, is_given] : given) {
    if (is_given) devices().find_inspectable(options.device, name);
  }
}

}  // namespace

InspectedDevice::InspectedDevice(const CommonOptions& options, std::string command,
                                 nlohmann::ordered_json own)
    : options_(options), command_(std::move(command)), own_(std::move(own)) {
  const DebugOptions& debug = options_.debug;
  check_columns(options_.view.columns);
  page_ = open_output(options_.page);
  ClockRange window{0, kNever};
  if (!debug.trace_window.empty()) window = parse_window(debug.trace_window);
  std::optional<TileName> tile;
  if (!debug.trace_tile.empty()) {
    tile = parse_tile(debug.trace_tile);
    window = kNotYet;
  }
  for (const std::string& text : debug.inject) faults_.push_back(parse_fault(text));
  const DeviceKind& kind = devices().find(options_.device, options_);
  need_inspectable(options_);
  if (!kind.is_inspectable()) {
    device_ = kind.make(options_);
    return;
  }
  if (!debug.view.empty()) view_file(debug.view);
  if (!debug.trace_mismatch.empty()) OutputFile can_be_written(debug.trace_mismatch);
  failure_file_ = failure_waveform(options_);
  if (!debug.timeline.empty()) timeline_ = std::make_unique<Timeline>(debug.timeline);
  window_begin_ = window.first;
  if (faults_.empty() && !timeline_ && debug.trace.empty()) {
    device_ = kind.make(options_);
    geometry_ = read_geometry(*device_);
    return;
  }
  std::unique_ptr<DebugDevice> device =
      kind.make_inspectable(options_, {debug.trace, window.first, window.second});
  inspected_ = device.get();
  device_ = std::move(device);
  geometry_ = read_geometry(*device_);
  clock_check_ = ClockCheck(geometry_, options_.memory);
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    check_fault(faults_[i], geometry_);
    inspected_->inject(faults_[i]);
    clock_check_.need("--inject " + debug.inject[i], faults_[i].clock);
  }
  if (!debug.trace_window.empty()) {
    clock_check_.need("--trace-window " + debug.trace_window, window_begin_);
  }
  if (tile) {
    tile_.emplace(*inspected_, geometry_, *tile);
  } else if (!debug.trace.empty()) {
    tile_.emplace(*inspected_, geometry_, window.first);
  }
  observe();
}

void InspectedDevice::observe() {
  if (tile_) inspected_->observe(*tile_);
  if (timeline_) inspected_->observe(*timeline_);
}

std::unique_ptr<DebugDevice> InspectedDevice::make_debug_device(bool traced) const {
  TraceOptions trace;
  if (traced) trace = {failure_file_.string(), kNotYet.first, kNotYet.second};
  std::unique_ptr<DebugDevice> device =
      devices().find(options_.device).make_inspectable(options_, trace);
  for (const Fault& fault : faults_) device->inject(fault);
  return device;
}

void InspectedDevice::investigate(const JobRun& run, Failure& failure) {
  failed_ = true;
  // An error ends the run; what led to it is worth seeing.
  if (timeline_ && !failure.error.empty()) timeline_->finish();
  bool looked = true;
  try {
    gemm64::investigate(
        run, [this](bool traced) { return make_debug_device(traced); }, timeouts(), failure);
  } catch (const UsageError& error) {
    looked = false;
    failure.note = fmt::format("no second look: {}", error.what());
  }
  try {
    if (looked && failure.finding.place != Finding::Place::kNone &&
        !is_lost(failure_file_.string())) {
      failure.trace_file = failure_file_.string();
      failure.save_file = save_file_of(failure_file_).string();
      if (!keep_going([&] { write_failure_view(failure, geometry_, options_.debug.view); })) {
        failure.save_file.clear();
      }
    }
    if (options_.replay) return;  // its own input holds all that such a file would
    const fs::path replay = replay_file_of(failure_file_);
    if (fs::exists(replay) && failure.note.empty()) {
      failure.note = replay.string() + " of an earlier run was replaced";
    }
    if (keep_going([&] { write_failure(replay, command_, options_, own_, failure); })) {
      failure.replay_file = replay.string();
    }
  } catch (const UsageError& error) {
    // The failure itself is worth more than its files.
    failure.replay_file.clear();
    failure.note = error.what();
  }
}

RunOptions InspectedDevice::run_options() {
  RunOptions run = options_.applied_to({});
  run.memory = options_.memory;
  const DeviceKind kind = devices().find(options_.device);
  run.memory.is_modelled = !kind.is_board;
  if (!kind.is_inspectable()) return run;
  run.investigate = [this](const JobRun& job_run, Failure& failure) {
    investigate(job_run, failure);
  };
  if (options_.replay) {
    run.only = OneJob{
        options_.replay->job, options_.replay->first_clock, [this](std::uint64_t clock) {
          if (clock < device_->cycles()) {
            throw UsageError(fmt::format("first_clock is {}; no job can begin before cycle {}",
                                         clock, device_->cycles()));
          }
          device_->reset_at(clock);
        }};
  } else {
    run.observers.push_back(&clock_check_);
  }
  if (tile_) run.observers.push_back(&*tile_);
  if (timeline_) run.observers.push_back(timeline_.get());
  return run;
}

std::string InspectedDevice::why_one_job() const {
  const DebugOptions& debug = options_.debug;
  if (options_.replay) return "a replay runs one product";
  if (timeline_) return "--timeline shows one device";
  if (!debug.trace.empty()) return "--trace records one device";
  if (!debug.inject.empty()) return "--inject counts the cycles of one device";
  if (devices().find(options_.device).is_board) return "there is one board";
  return "";
}

SideBySide InspectedDevice::parallel_for(unsigned jobs) const {
  SideBySide parallel;
  parallel.jobs = why_one_job().empty() ? jobs : 1;
  parallel.make = [this] { return make_device(options_); };
  parallel.timeouts = timeouts();
  return parallel;
}

std::vector<std::string> InspectedDevice::find_problems(std::uint64_t cycles) const {
  std::vector<std::string> problems;
  for (const Fault& fault : faults_) {
    if (fault.clock < cycles) continue;
    problems.push_back(
        fmt::format("--inject {}: the run ended at cycle {}, so the fault was never injected",
                    to_string(fault), cycles));
  }
  if (tile_ && options_.debug.trace_tile.empty() && window_begin_ >= cycles) {
    problems.push_back(
        fmt::format("--trace-window {}: the run ended at cycle {}, so nothing was traced",
                    options_.debug.trace_window, cycles));
  }
  if (tile_ && !options_.debug.trace_tile.empty() && !tile_->cycles()) {
    problems.push_back(
        fmt::format("--trace-tile {}: the tile was never reached, so nothing was traced",
                    options_.debug.trace_tile));
  }
  return problems;
}

void InspectedDevice::print_faults(const RunReport& report, std::uint64_t cycles) const {
  const bool unchanged = report.error.empty() && !failed_ && report.check == CheckLevel::kLayers &&
                         report.total().faults.empty();  // the device had found it
  for (const Fault& fault : faults_) {
    if (fault.clock >= cycles) continue;
    print_report("Injected in cycle {}: {}{}.\n", fault.clock, in_words(fault),
                 unchanged ? "; no result changed" : "");
  }
}

void InspectedDevice::write_trace_view() const {
  const std::string& trace = options_.debug.trace;
  if (trace.empty() || is_lost(trace)) return;
  const std::optional<TileCycles> tile = tile_->cycles();
  SaveFileOptions save;
  std::string markers;
  if (tile) {
    // Of a whole run, views show their own moments.
    if (!options_.debug.trace_tile.empty()) save.first_clock = tile->begin;
    save.markers = {{'A', tile->begin, "tile " + to_string(tile->tile) + " begins"},
                    {'B', tile->end, "its last sum is in the accumulator"}};
    markers =
        fmt::format("; tile {} from cycle {} to {}", to_string(tile->tile), tile->begin, tile->end);
  }
  const fs::path save_path = save_file_of(trace);
  const std::string view = options_.debug.view.empty() ? "overview" : options_.debug.view;
  keep_going([&] {
    try {
      write_save_file(view_file(view), trace, save_path.string(), save);
    } catch (const UsageError& error) {  // there was room for it when the run began
      throw OutputError(save_path.string(), fmt::format("{}: the save file is lost: {}",
                                                        save_path.string(), error.what()));
    }
  });
  print_report("Waveform: {}{}. To see it: gtkwave {}\n", escaped(trace), markers,
               escaped(save_path.string()));
}

void InspectedDevice::write_page(const nlohmann::ordered_json& report) const {
  const std::string& timeline = options_.debug.timeline;
  PageContent content{{{options_.json, report}}, {}, nullptr};
  // What cannot be read again, such as a pipe, is not shown.
  if (timeline_ && !is_lost(timeline) && std::filesystem::is_regular_file(timeline)) {
    content.recording = page_recording(timeline, kPageSlices);
  }
  if (keep_going([&] { page_->write(page(content)); })) {
    print_report("Report: {}\n", escaped(options_.page));
  }
}

int InspectedDevice::finish(RunReport report, OutputFile* json, bool allow_host_only) {
  // Where one job ran separately, the others have nothing to tell.
  auto& layers = report.layers;
  layers.erase(std::remove_if(layers.begin(), layers.end(),
                              [](const LayerReport& layer) { return layer.skipped; }),
               layers.end());
  if (options_.replay && layers.empty() && report.error.empty()) {
    throw UsageError(fmt::format("the run has no job {}, counted from 0", options_.replay->job));
  }
  const std::uint64_t cycles = device_->cycles();
  inspected_ = nullptr;
  device_.reset();  // closes the waveform
  if (timeline_) keep_going([&] { timeline_->finish(); });
  report.problems = find_problems(cycles);

  ReportView view = options_.view;
  view.width = terminal_width();
  view.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  if (report.error.empty()) {
    print_report(run_details(report, view));
    if (options_.engines && report.timed())
      print_report("\n{}\n", engine_table(report, view.width));
  }
  const nlohmann::ordered_json in_json = to_json(report);
  if (json != nullptr) {
    const std::string text =
        in_json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    keep_going([&] { json->write(text + "\n"); });
  }
  if (page_) write_page(in_json);
  if (!report.error.empty()) {
    print_error_lines(report.error);
    print_faults(report, cycles);
    return 1;
  }
  if (report.problems.empty()) {
    print_faults(report, cycles);
    write_trace_view();
  }
  const std::string name = fmt::format("{}, batch {}: ", escaped(report.model), report.batch);
  print_report((view.quiet ? name : "") + summary_line(report, view.seconds));
  if (!report.problems.empty()) return 2;
  const bool none = report.check == CheckLevel::kNone;
  if (report.host_only && none) return kNotChecked;
  if (report.layers.empty()) return allow_host_only ? 0 : 1;
  if (!report.held()) return 1;
  return none ? kNotChecked : 0;
}

}  // namespace gemm64
