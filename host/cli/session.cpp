// SPDX-License-Identifier: Apache-2.0
#include "host/cli/session.hpp"

#include <fmt/format.h>

#include <limits>

#include "host/cli/failure_file.hpp"
#include "host/cli/failure_view.hpp"
#include "host/debug/investigation.hpp"
#include "host/error.hpp"
#include "host/files/lost_outputs.hpp"
#include "sim/rtl_device.hpp"
#include "sim/save_file.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

using Window = std::pair<std::uint64_t, std::uint64_t>;

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
// Of a trace that is opened later, by DebugDevice::trace().
constexpr Window kNotYet{kNever - 1, kNever};

/// The save file beside a waveform.
fs::path save_file_of(const fs::path& trace) { return fs::path(trace).replace_extension(".gtkw"); }

void check_names(const DebugOptions& options) {
  if (!options.view.empty()) view_file(options.view);
  for (const std::string& trace : {options.trace, options.trace_mismatch}) {
    const std::string extension = fs::path(trace).extension().string();
    if (extension == ".gtkw" || extension == ".json") {
      throw UsageError(
          fmt::format("{}: name the waveform itself, as FILE.fst; files ending in .gtkw and .json "
                      "come beside it",
                      trace));
    }
  }
  if (!options.trace_mismatch.empty()) OutputFile can_be_written(options.trace_mismatch);
}

void need_rtl(const CommonOptions& options) {
  const DebugOptions& debug = options.debug;
  const std::pair<const char*, bool> given[] = {{"--trace", !debug.trace.empty()},
                                                {"--trace-mismatch", !debug.trace_mismatch.empty()},
                                                {"--timeline", !debug.timeline.empty()},
                                                {"--inject", !debug.inject.empty()}};
  for (const auto& [name, is_given] : given) {
    if (is_given) {
      throw UsageError(
          fmt::format("{} needs --device rtl; the reference has no clocks and no signals", name));
    }
  }
}

}  // namespace

Session::Session(const CommonOptions& options, std::string command, nlohmann::ordered_json own)
    : options_(options), command_(std::move(command)), own_(std::move(own)) {
  const DebugOptions& debug = options_.debug;
  Window window{0, kNever};
  if (!debug.trace_window.empty()) window = parse_window(debug.trace_window);
  std::optional<TileName> tile;
  if (!debug.trace_tile.empty()) {
    tile = parse_tile(debug.trace_tile);
    window = kNotYet;
  }
  for (const std::string& text : debug.inject) faults_.push_back(parse_fault(text));
  if (options_.device == "reference") {
    need_rtl(options_);
    device_ = make_device(options_);
    return;
  }
  check_names(debug);
  failure_file_ = debug.trace_mismatch.empty() ? "failure.fst" : debug.trace_mismatch;
  if (fs::path(debug.trace).lexically_normal() == failure_file_.lexically_normal()) {
    throw UsageError(
        fmt::format("--trace {}: the waveform of a failure would go there too; name another file",
                    debug.trace));
  }
  if (!debug.timeline.empty()) timeline_ = std::make_unique<Timeline>(debug.timeline);
  RtlOptions rtl = rtl_options(options_);
  rtl.debug = !debug.inject.empty() || timeline_ != nullptr;
  rtl.trace_file = debug.trace;
  window_begin_ = window.first;
  rtl.trace_begin = window.first;
  rtl.trace_end = window.second;
  std::unique_ptr<RtlDevice> device = make_rtl_device(rtl);
  geometry_ = read_geometry(*device);
  for (const Fault& fault : faults_) {
    check_fault(fault, geometry_);
    device->inject(fault);
  }
  debug_ = device.get();
  device_ = std::move(device);
  if (tile) {
    tile_.emplace(*debug_, geometry_, *tile);
  } else if (!debug.trace.empty()) {
    tile_.emplace(*debug_, geometry_, window.first);
  }
  if (tile_) debug_->observe(*tile_);
  if (timeline_) debug_->observe(*timeline_);
}

std::unique_ptr<DebugDevice> Session::make_debug_device(bool traced) const {
  RtlOptions rtl = rtl_options(options_);
  rtl.debug = true;
  if (traced) {
    rtl.trace_file = failure_file_.string();
    rtl.trace_begin = kNotYet.first;
    rtl.trace_end = kNotYet.second;
  }
  std::unique_ptr<RtlDevice> device = make_rtl_device(rtl);
  for (const Fault& fault : faults_) device->inject(fault);
  return device;
}

void Session::investigate(const ProductRun& product, Failure& failure) {
  failed_ = true;
  // An error ends the run; what led to it is worth seeing.
  if (timeline_ && !failure.error.empty()) timeline_->finish();
  try {
    gemm64::investigate(
        product, [this](bool traced) { return make_debug_device(traced); }, failure);
    if (failure.finding.place != Finding::Place::kNone && !is_lost(failure_file_.string())) {
      failure.trace_file = failure_file_.string();
      failure.save_file = save_file_of(failure_file_).string();
      write_failure_view(failure, geometry_, options_.debug.view);
    }
    // A replay has that file already: it is its input.
    if (!options_.replay) {
      fs::path replay = failure_file_;
      replay.replace_extension(".json");
      failure.replay_file = replay.string();
      write_failure(replay, command_, options_, own_, failure);
    }
  } catch (const UsageError& error) {
    // The failure itself is worth more than its files.
    failure.replay_file.clear();
    failure.note = error.what();
  }
}

RunOptions Session::run_options() {
  RunOptions run = options_.run_options();
  if (debug_ == nullptr) return run;
  run.investigate = [this](const ProductRun& product, Failure& failure) {
    investigate(product, failure);
  };
  if (options_.replay) {
    run.alone = OneProduct{
        options_.replay->product, options_.replay->first_clock, [this](std::uint64_t clock) {
          if (clock < debug_->clocks()) {
            throw UsageError(fmt::format("first_clock is {}; no product can begin before clock {}",
                                         clock, debug_->clocks()));
          }
          debug_->reset_at(clock);
        }};
  }
  if (tile_) run.observers.push_back(&*tile_);
  if (timeline_) run.observers.push_back(timeline_.get());
  return run;
}

void Session::finish() {
  const std::uint64_t clocks = device_->clocks();
  debug_ = nullptr;
  device_.reset();  // closes the waveform
  if (timeline_) timeline_->finish();
  for (const Fault& fault : faults_) {
    if (fault.clock >= clocks) {
      throw UsageError(
          fmt::format("--inject {}: the run ended at clock {}, so the fault never came",
                      to_string(fault), clocks));
    }
    fmt::print("Injected in clock {}: {}{}.\n", fault.clock, in_words(fault),
               failed_ ? "" : "; no result changed");
  }
  const std::string& trace = options_.debug.trace;
  if (trace.empty() || is_lost(trace)) return;
  const std::optional<TileClocks> tile = tile_->clocks();
  if (options_.debug.trace_tile.empty() && window_begin_ >= clocks) {
    throw UsageError(
        fmt::format("--trace-window {}: the run ended at clock {}, so nothing was traced",
                    options_.debug.trace_window, clocks));
  }
  SaveFileOptions save;
  std::string markers;
  if (tile) {
    // Of a whole run, views show their own moments.
    if (!options_.debug.trace_tile.empty()) save.first_clock = tile->begin;
    save.markers = {{'A', tile->begin, "tile " + to_string(tile->tile) + " begins"},
                    {'B', tile->end, "its last sum is in the accumulator"}};
    markers =
        fmt::format("; tile {} from clock {} to {}", to_string(tile->tile), tile->begin, tile->end);
  }
  const fs::path beside = save_file_of(trace);
  gemm64::write_save_file(view_file(options_.debug.view.empty() ? "overview" : options_.debug.view),
                          trace, beside.string(), save);
  fmt::print("Waveform: {}{}. To see it: gtkwave {}\n", trace, markers, beside.string());
}

}  // namespace gemm64
