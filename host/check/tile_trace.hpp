// SPDX-License-Identifier: Apache-2.0
// Traces one tile, and returns the cycles of the tile that a trace shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/check/job_observer.hpp"
#include "host/device/geometry.hpp"
#include "host/tiling/program_walk.hpp"

namespace gemm64 {

/// A tile of one of a run's products, as "LAYER:M,K,N"; without LAYER the first product's.
struct TileName {
  std::string layer;
  TileIndex tile;
};

/// Throws UsageError if `text` is no such name.
TileName parse_tile(const std::string& text);

/// Where a trace should have its markers: a tile's first row is read in cycle `begin`, its last sum
/// is in the accumulator before cycle `end`.
struct TileCycles {
  TileIndex tile;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Switches the device's trace on for one tile: from the beginning of the tile before it, or of the
/// product, to its last sum. Without a name it only notes the first tile of the trace's window.
class TileTrace : public JobObserver {
 public:
  /// The device is not owned. `window_begin`: of the device's trace, where no name is given.
  TileTrace(DebugDevice& device, const Geometry& geometry, std::uint64_t window_begin)
      : device_(device), geometry_(geometry), window_begin_(window_begin) {}
  TileTrace(DebugDevice& device, const Geometry& geometry, TileName name)
      : device_(device), geometry_(geometry), name_(std::move(name)) {}

  void announce(const std::vector<Job>& jobs) override;
  void begin(const Job& job, std::uint64_t clock) override {
    begin_jobs({&job}, ProgramWalk(job), clock);
  }
  void begin(const JobProgram& list, std::uint64_t clock) override;
  void clock(std::uint64_t clock, const Probe& probe) override;
  void end(std::uint64_t clock) override;

  /// The tile's cycles, where it has been.
  const std::optional<TileCycles>& cycles() const { return cycles_; }

 private:
  /// Throws UsageError if the named job has no such tile.
  void check(const Job& job) const;
  bool is_named(const Job& job) const { return name_->layer.empty() || name_->layer == job.name; }
  [[noreturn]] void fail(const std::vector<std::string>& names) const;

  void begin_jobs(std::vector<const Job*> jobs, ProgramWalk walk, std::uint64_t clock);
  bool is_chosen(const ProgramWalk& walk) const;

  DebugDevice& device_;
  const Geometry geometry_;
  const std::optional<TileName> name_;
  const std::uint64_t window_begin_ = 0;
  std::vector<const Job*> jobs_;     // of the program
  std::optional<ProgramWalk> walk_;  // at the next row, while the tile is to come
  std::uint64_t trace_begin_ = 0;
  bool inside_ = false;  // the tile's rows are being read
  std::optional<TileCycles> cycles_;
};

}  // namespace gemm64
