// SPDX-License-Identifier: Apache-2.0
#include "host/check/engine_track.hpp"

#include <algorithm>

namespace gemm64 {
namespace {

using Json = TraceEvents::Json;

const char* category(std::size_t cause) {
  return std::string_view(kCounters[cause].cause) == "idle" ? "idle" : "wait";
}

/// Makes `run` part of `last` where it goes on with it.
bool join(CauseRun& last, const CauseRun& run) {
  if (last.cycles() == 0 || last.cause != run.cause || last.end != run.begin) return false;
  last.end = run.end;
  return true;
}

}  // namespace

void CauseSlices::add(const CauseRun& run) {
  if (join(run_, run)) return;
  flush();
  run_ = run;
}

void CauseSlices::flush() {
  if (run_.cycles() == 0) return;
  events_.slice(track_, run_.begin, run_.end, category(run_.cause), kCounters[run_.cause].cause);
  run_ = {};
}

EngineTrack::EngineTrack(TraceEvents& events, int track, const EngineCauses& causes)
    : events_(events), track_(track), causes_(causes), between_(events, track) {
  events_.name_track(track, causes.name);
}

void EngineTrack::spend(Events events, std::uint64_t begin, std::uint64_t end) {
  std::size_t cause = causes_.first;
  while (cause < causes_.end && (events >> cause & 1) == 0) ++cause;
  if (cause == causes_.end) return;
  while (begin != end) {  // transfers may go over from a tile or a command to the next
    if (!in_command_ && cause < causes_.outside && !waiting_.empty()) begin_command(begin);
    if (in_command_ && cause == causes_.first) {
      begin = transfer(begin, end);
    } else {
      wait({cause, begin, end});
      begin = end;
    }
  }
}

void EngineTrack::begin_command(std::uint64_t clock) {
  between_.flush();
  in_command_ = true;
  command_ = std::move(waiting_.front());
  waiting_.pop_front();
  command_cycles_ = {};
  tile_ = 0;
  events_.begin(track_, clock, "command", command_.title, command_.fields);
}

std::uint64_t EngineTrack::transfer(std::uint64_t begin, std::uint64_t end) {
  if (done_ == 0) {
    between_.flush();
    tile_begin_ = begin;
  }
  const std::uint64_t part = std::min(end - begin, command_.transfers - done_);
  done_ += part;
  tile_cycles_[0] += part;
  command_cycles_[0] += part;
  begin += part;
  if (done_ == command_.transfers) end_tile(begin);
  if (tile_ == command_.tiles) end_command(begin);
  return begin;
}

void EngineTrack::wait(const CauseRun& run) {
  const std::size_t cause = run.cause - causes_.first;
  if (in_command_) command_cycles_[cause] += run.cycles();
  if (done_ == 0) {
    between_.add(run);
    return;
  }
  tile_cycles_[cause] += run.cycles();
  if (tile_waits_.empty() || !join(tile_waits_.back(), run)) tile_waits_.push_back(run);
}

void EngineTrack::end_tile(std::uint64_t clock) {
  const TileSpan span = command_.span(tile_);
  Json args = Json::object();
  if (span.m >= 0) args["M"] = span.m;
  if (span.k >= 0) args["K"] = span.k;
  if (span.n >= 0) args["N"] = span.n;
  if (span.plane >= 0) args["plane"] = span.plane;
  add_cycles(tile_cycles_, args);
  events_.slice(track_, tile_begin_, clock, "tile", to_string(span), args);
  for (const CauseRun& wait : tile_waits_) {
    if (wait.cycles() < kLongWait) continue;
    events_.slice(track_, wait.begin, wait.end, "wait", kCounters[wait.cause].cause);
  }
  done_ = 0;
  tile_cycles_ = {};
  tile_waits_.clear();
  ++tile_;
}

void EngineTrack::end_command(std::uint64_t clock) {
  between_.flush();
  Json args = Json::object();
  add_cycles(command_cycles_, args);
  events_.end(track_, clock, args);
  in_command_ = false;
}

void EngineTrack::finish(std::uint64_t clock) {
  if (done_ != 0) end_tile(clock);
  if (in_command_) end_command(clock);
  between_.flush();
  waiting_.clear();
}

void EngineTrack::add_cycles(const Cycles& cycles, Json& args) const {
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    if (cycles[i] != 0) args[kCounters[causes_.first + i].cause] = cycles[i];
  }
}

}  // namespace gemm64
