// SPDX-License-Identifier: Apache-2.0
#include "host/check/tile_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <limits>
#include <utility>

#include "host/device/registers.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

// Cycles after the last sum that a trace still shows.
constexpr std::uint64_t kAfter = 8;

bool parse_coordinates(const std::string& text, std::size_t from, TileIndex& tile) {
  const char* at = text.data() + from;
  const char* const end = text.data() + text.size();
  for (std::uint64_t* value : {&tile.m, &tile.k, &tile.n}) {
    const auto [next, error] = std::from_chars(at, end, *value);
    if (error != std::errc()) return false;
    if (value == &tile.n) return next == end;
    if (next == end || *next != ',') return false;
    at = next + 1;
  }
  return false;
}

}  // namespace

TileName parse_tile(const std::string& text) {
  TileName name;
  const std::size_t colon = text.rfind(':');
  const std::size_t from = colon == std::string::npos ? 0 : colon + 1;
  if (colon != std::string::npos) name.layer = text.substr(0, colon);
  if (!parse_coordinates(text, from, name.tile) || colon == 0) {
    throw UsageError(fmt::format(
        "--trace-tile {}: give LAYER:M,K,N, the tile's coordinates counted from 0", text));
  }
  return name;
}

void TileTrace::check(const Job& job) const {
  const TileIndex counts = tile_counts(job);
  const TileIndex& tile = name_->tile;
  if (tile.m < counts.m && tile.k < counts.k && tile.n < counts.n) return;
  throw UsageError(fmt::format("--trace-tile {0}:{1}: {0} has the tiles M,K,N = 0,0,0 to {2}",
                               job.name, to_string(tile),
                               to_string(TileIndex{counts.m - 1, counts.k - 1, counts.n - 1})));
}

void TileTrace::fail(const std::vector<std::string>& names) const {
  throw UsageError(fmt::format("--trace-tile: no layer is called '{}'; the layers are: {}",
                               name_->layer, fmt::join(names, ", ")));
}

void TileTrace::announce(const std::vector<Job>& jobs) {
  if (!name_) return;
  std::vector<std::string> names;
  for (const Job& job : jobs) {
    if (is_named(job)) return check(job);
    names.push_back(job.name);
  }
  fail(names);
}

void TileTrace::begin(const JobProgram& list, std::uint64_t clock) {
  std::vector<const Job*> jobs;
  for (const Job& job : list.jobs) jobs.push_back(&job);
  begin_jobs(std::move(jobs), ProgramWalk(list), clock);
}

void TileTrace::begin_jobs(std::vector<const Job*> jobs, ProgramWalk walk, std::uint64_t clock) {
  if (cycles_) return;
  jobs_ = std::move(jobs);
  walk_.emplace(std::move(walk));
  if (!name_) return;
  bool any = false;
  for (const Job* job : jobs_) {
    if (!is_named(*job)) continue;
    check(*job);
    any = true;
  }
  if (!any) {
    walk_.reset();
  } else if (is_chosen(*walk_)) {
    trace_begin_ = clock;
    device_.trace(clock, std::numeric_limits<std::uint64_t>::max());
  }
}

bool TileTrace::is_chosen(const ProgramWalk& walk) const {
  return is_named(*jobs_[walk.job()]) && walk.tile().tile == name_->tile;
}

void TileTrace::clock(std::uint64_t clock, const Probe& probe) {
  if (!walk_ || !probe.counts(counter::kComputeCompute)) return;
  const TileIndex tile = walk_->tile().tile;
  const bool last_row = walk_->last_row();
  if (walk_->first_row()) {
    if (name_ ? is_chosen(*walk_) : clock >= window_begin_) {
      inside_ = true;
      cycles_ = TileCycles{tile, clock, 0};
    } else if (name_) {
      ProgramWalk after = *walk_;
      after.skip_tile();
      if (!after.done() && is_chosen(after)) {
        trace_begin_ = clock;
        device_.trace(clock, std::numeric_limits<std::uint64_t>::max());
      }
    }
  }
  walk_->next();
  if (inside_ && last_row) {
    cycles_->end = clock + geometry_.pipeline() + 1;
    if (name_) device_.trace(trace_begin_, cycles_->end + kAfter);
    walk_.reset();
  } else if (walk_->done()) {
    walk_.reset();
  }
}

void TileTrace::end(std::uint64_t) { walk_.reset(); }

}  // namespace gemm64
