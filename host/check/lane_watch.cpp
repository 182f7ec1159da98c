// SPDX-License-Identifier: Apache-2.0
#include "host/check/lane_watch.hpp"

#include <utility>

namespace gemm64 {

LaneWatch::LaneWatch(const Job& job, std::uint64_t row, std::uint64_t column,
                     const JobProgram* list, std::size_t place)
    : beats_(job, row, column, list, place),
      lane_(static_cast<unsigned>(column % job.plan.array)) {}

LaneWatch::Values LaneWatch::look(const Probe& probe) const {
  Values values;
  values.shift = probe.lanes_shift();
  for (unsigned line = 0; line < kLaneLines; ++line) {
    for (unsigned column = 0; column < kLaneLineWords; ++column) {
      values.lines[line][column] = probe.lane_line(line, column, lane_);
    }
  }
  for (unsigned row = 0; row < kLaneWindow; ++row) {
    for (unsigned column = 0; column < kLaneWindow; ++column) {
      values.window[row][column] = probe.lane_value(row, column, lane_);
    }
  }
  return values;
}

void LaneWatch::found(Finding::Place place, std::uint64_t clock, unsigned bank, unsigned row,
                      Value expected, Value found) {
  if (expected == found) return;
  finding_ = Finding();
  finding_->place = place;
  finding_->wrong_clock = clock;
  finding_->bank = bank;
  finding_->row = row;
  finding_->expected = expected;
  finding_->found = found;
}

/// A line memory is read a cycle before its value moves on: into the window's row, and into the
/// memory of the row above. What comes into the first of each is new.
void LaneWatch::check(const Values& now, std::uint64_t clock) {
  const Probe::LanesShift& shift = last_->shift;
  const auto moves = [&shift](unsigned row) {
    return shift.shifts && (shift.rows >> row & 1U) != 0;
  };
  for (unsigned line = 0; line < kLaneLines; ++line) {
    for (unsigned column = 0; column < kLaneLineWords; ++column) {
      const bool written = moves(line + 1) && column == shift.column;
      if (written && line == 0) continue;
      found(Finding::Place::kLaneLine, clock, line, column,
            written ? before_last_->lines[line - 1][column] : last_->lines[line][column],
            now.lines[line][column]);
    }
  }
  for (unsigned row = 0; row < kLaneWindow; ++row) {
    for (unsigned column = 0; column < kLaneWindow; ++column) {
      Value expected = last_->window[row][column];
      // Rows without a line of their own may continue others.
      if (shift.shifts && !moves(row)) continue;
      if (moves(row)) {
        if (column == 0 && row == 0) continue;
        expected = column != 0 ? last_->window[row][column - 1]
                               : before_last_->lines[row - 1][shift.column];
      }
      found(Finding::Place::kLaneValue, clock, row, column, expected, now.window[row][column]);
    }
  }
}

void LaneWatch::clock(std::uint64_t clock, const Probe& probe) {
  if (beats_.finding().place != Finding::Place::kNone) return;
  beats_.clock(clock, probe);
  Values now = look(probe);
  if (before_last_) check(now, clock);
  before_last_ = std::exchange(last_, now);
}

Finding LaneWatch::finding() const {
  Finding finding = beats_.finding();
  if (finding.place == Finding::Place::kNone || !finding_) return finding;
  Finding wrong = *finding_;
  wrong.clock = finding.clock;
  wrong.column = finding.column;
  return wrong;
}

}  // namespace gemm64
