// SPDX-License-Identifier: Apache-2.0
#include "host/cli/failure_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/waves/save_file.hpp"
#include "sim/waves/signals.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kBefore = 6;   // cycles shown before the first that matters
constexpr std::uint64_t kAround = 16;  // cycles shown besides those between the two moments

/// The view that shows best where a value went wrong.
const char* best_view(Finding::Place place) {
  switch (place) {
    case Finding::Place::kWeight:
    case Finding::Place::kActivation:
    case Finding::Place::kPartialSum:
      return "array";
    case Finding::Place::kAccumulator:
      return "accumulator";
    case Finding::Place::kRequantized:
    case Finding::Place::kMemory:
      return "axi";
    default:
      return "overview";
  }
}

/// The element's operands and sums around one stage.
void add_stage(std::vector<WaveTrace>& traces, const Finding& finding, const Geometry& geometry) {
  const bool is_sum = finding.place == Finding::Place::kPartialSum;
  const std::uint64_t c = finding.column;
  const std::uint64_t stage = is_sum ? finding.row : finding.row / geometry.stage_rows;
  const std::uint64_t first = is_sum ? stage * geometry.stage_rows : finding.row;
  const std::uint64_t last = is_sum ? first + geometry.stage_rows - 1 : finding.row;
  const int lane = static_cast<int>(32 * c);
  const auto scope = [](std::uint64_t g) { return signals::stage(static_cast<unsigned>(g)); };
  for (std::uint64_t k = first; k <= last; ++k) {
    const std::uint64_t row = k % geometry.stage_rows;
    traces.push_back({fmt::format("activation k{} at n{}", k, c),
                      signals::in(scope(stage), signals::kActivations, row * (geometry.n + 1) + c),
                      0, 8});
    traces.push_back({fmt::format("weight k{} n{}", k, c),
                      signals::in(scope(stage), signals::kWeights, c), static_cast<int>(8 * row),
                      8});
  }
  if (stage != 0) {
    traces.push_back({fmt::format("n{} before stage {}", c, stage),
                      signals::in(scope(stage - 1), signals::kSums), lane, 32});
  }
  traces.push_back({fmt::format("n{} after stage {}", c, stage),
                    signals::in(scope(stage), signals::kSums), lane, 32});
  const std::uint64_t stages = geometry.n / geometry.stage_rows;
  traces.push_back({fmt::format("n{} leaves the array", c),
                    signals::in(scope(stages - 1), signals::kSums), lane, 32});
}

/// The element's sum as it enters the accumulator.
void add_accumulator(std::vector<WaveTrace>& traces, const Failure& failure, std::uint64_t row) {
  const Finding& finding = failure.finding;
  const std::string column = signals::accumulator_column(static_cast<unsigned>(finding.column));
  if (finding.place == Finding::Place::kAccumulator) {
    traces.push_back({fmt::format("n{} old sum", finding.column),
                      signals::in(column, signals::kOldSums[finding.bank]), 0, 32});
    traces.push_back({fmt::format("n{} is added", finding.column),
                      signals::in(column, signals::kAddedSum), 0, 32});
  }
  traces.push_back({fmt::format("bank {} row {} n{}", finding.bank, row, finding.column),
                    signals::in(column, signals::kStoredSums[finding.bank], row), 0, 32});
}

std::vector<WaveTrace> traces_of(const Failure& failure, const Geometry& geometry) {
  const Finding& finding = failure.finding;
  std::vector<WaveTrace> traces;
  switch (finding.place) {
    case Finding::Place::kWeight:
    case Finding::Place::kActivation:
    case Finding::Place::kPartialSum:
      add_stage(traces, finding, geometry);
      break;
    case Finding::Place::kAccumulator:
      add_accumulator(traces, failure, finding.row);
      break;
    default:
      break;
  }
  return traces;
}

}  // namespace

void write_failure_view(const Failure& failure, const Geometry& geometry, const std::string& view) {
  const Finding& finding = failure.finding;
  const bool still =
      finding.place == Finding::Place::kStandstill || finding.place == Finding::Place::kStopped;
  const bool has_value = !still && finding.place != Finding::Place::kMemory &&
                         finding.place != Finding::Place::kRequantized &&
                         finding.place != Finding::Place::kLanes &&
                         finding.place != Finding::Place::kAbsent;
  SaveFileOptions save;
  save.title = "the first wrong value";
  save.traces = traces_of(failure, geometry);
  // The sum may have left the array long before it went wrong, and then stands outside.
  const bool left_inside = finding.clock >= failure.trace_begin;
  save.markers.push_back({'A', left_inside ? finding.clock : finding.wrong_clock,
                          still                                      ? "last move"
                          : finding.place == Finding::Place::kAbsent ? "the program has ended"
                          : on_lanes(finding.place)                  ? "result leaves the chip"
                          : left_inside                              ? "sum left the array"
                                                                     : "first wrong"});
  if (has_value && left_inside) save.markers.push_back({'B', finding.wrong_clock, "first wrong"});
  if (finding.tile_begin >= failure.trace_begin && finding.tile_begin != 0) {
    save.markers.push_back({'C', finding.tile_begin, "its tile begins"});
  }
  const std::uint64_t first =
      left_inside ? std::min(finding.clock, finding.wrong_clock) : finding.wrong_clock;
  const std::uint64_t last = std::max(finding.clock, finding.wrong_clock);
  save.left_clock = std::max(first - std::min(first, kBefore), failure.trace_begin);
  save.cycles = last - first + kAround;
  write_save_file(view_file(view.empty() ? best_view(finding.place) : view), failure.trace_file,
                  failure.save_file, save);
}

}  // namespace gemm64
