// SPDX-License-Identifier: Apache-2.0
#include "host/debug/tile_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <limits>

#include "host/device/registers.hpp"
#include "host/error.hpp"

namespace gemm64 {
namespace {

// Clocks after the last sum that a trace still shows.
constexpr std::uint64_t kAfter = 8;

bool parse_coordinates(const std::string& text, std::size_t from, Tile& tile) {
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
  if (!parse_coordinates(text, from, name.tile) || (colon != std::string::npos && colon == 0)) {
    throw UsageError(fmt::format(
        "--trace-tile {}: give LAYER:M,K,N, the tile's coordinates counted from 0", text));
  }
  return name;
}

void TileTrace::check(const std::string& product, const Plan& plan) const {
  const Tile counts = tile_counts(plan);
  const Tile& tile = name_->tile;
  if (tile.m < counts.m && tile.k < counts.k && tile.n < counts.n) return;
  throw UsageError(fmt::format("--trace-tile {0}:{1}: {0} has the tiles M,K,N = 0,0,0 to {2}",
                               product, to_string(tile),
                               to_string(Tile{counts.m - 1, counts.k - 1, counts.n - 1})));
}

void TileTrace::fail(const std::vector<std::string>& names) const {
  throw UsageError(fmt::format("--trace-tile: no layer is called '{}'; there {} {}", name_->layer,
                               names.size() == 1 ? "is" : "are", fmt::join(names, ", ")));
}

void TileTrace::announce(const std::vector<std::string>& names, const std::vector<Plan>& plans) {
  if (!name_) return;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_named(names[i])) return check(names[i], plans[i]);
  }
  fail(names);
}

void TileTrace::begin(const std::string& name, const Plan& plan, std::uint64_t clock) {
  seen_.push_back(name);
  if (clocks_) return;
  if (name_) {
    if (!is_named(name)) return;
    check(name, plan);
    if (name_->tile == Tile()) {
      trace_begin_ = clock;
      device_.trace(clock, std::numeric_limits<std::uint64_t>::max());
    }
  }
  walk_.emplace(plan);
}

void TileTrace::clock(std::uint64_t clock, const Probe& probe) {
  if (!walk_ || walk_->done() || !probe.counts(counter::kComputeCompute)) return;
  const TileRow row = walk_->row();
  walk_->next();
  if (row.row == 0) {
    if (name_ ? row.tile == name_->tile : clock >= window_begin_) {
      inside_ = true;
      clocks_ = TileClocks{row.tile, clock, 0};
    } else if (name_) {
      TileWalk after = *walk_;  // at the second row, or at the next tile where there is none
      if (row.rows > 1) after.skip_tile();
      if (!after.done() && after.row().tile == name_->tile) {
        trace_begin_ = clock;
        device_.trace(clock, std::numeric_limits<std::uint64_t>::max());
      }
    }
  }
  if (inside_ && row.row + 1 == row.rows) {
    clocks_->end = clock + geometry_.pipeline() + 1;
    if (name_) device_.trace(trace_begin_, clocks_->end + kAfter);
    walk_.reset();
  }
}

void TileTrace::end(std::uint64_t) { walk_.reset(); }

std::optional<TileClocks> TileTrace::clocks() const {
  if (name_ && !clocks_) fail(seen_);
  return clocks_;
}

}  // namespace gemm64
