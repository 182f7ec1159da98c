// SPDX-License-Identifier: Apache-2.0
#include "host/check/element_watch.hpp"

#include <algorithm>

#include "host/device/registers.hpp"

namespace gemm64 {
namespace {

std::int64_t as_sum(std::uint32_t value) { return static_cast<std::int32_t>(value); }

/// Blocks of results take the accumulator's banks in turn, from the program's first one on.
unsigned bank_of(std::uint64_t block) { return static_cast<unsigned>(block % 2); }

}  // namespace

ElementWatch::ElementWatch(const Job& job, const Geometry& geometry, const MatrixI8& a,
                           const MatrixI8& w, std::uint64_t row, std::uint64_t column,
                           const JobProgram* list, std::size_t place)
    : operands_(job, a, w, row, column),
      row_(row),
      n_(geometry.n),
      stage_rows_(geometry.stage_rows),
      stages_(geometry.n / geometry.stage_rows),
      bank_rows_(geometry.accumulator_rows),
      tile_((job.plan.first_lane() + column) / geometry.n),
      array_column_(static_cast<unsigned>((job.plan.first_lane() + column) % geometry.n)),
      results_(job.plan.results()),
      place_(place),
      walk_(list != nullptr ? ProgramWalk(*list) : ProgramWalk(job)) {
  if (list != nullptr) beats_ = beats_of(*list, place);
}

std::deque<ElementWatch::Beats> ElementWatch::beats_of(const JobProgram& list, std::size_t place) {
  std::deque<Beats> beats;
  for (std::size_t i = 0; i < list.program.size(); ++i) {
    const std::size_t job = list.origins[i].job;
    const std::uint64_t count = result_beats(list, i);
    if (count != 0) beats.push_back({!is_snapshot(list.program[i]) && job == place, count});
  }
  return beats;
}

std::uint32_t ElementWatch::expected_sum(const Pass& pass, unsigned stage) const {
  std::uint32_t sum = 0;
  for (unsigned row = 0; row < (stage + 1) * stage_rows_; ++row) {
    const TileIndex& tile = pass.tile.tile;
    const int activation = operands_.activation(tile, row).value_or(0);
    sum += static_cast<std::uint32_t>(activation * operands_.weight(tile, row));
  }
  return sum;
}

Finding ElementWatch::at(const Pass& pass) const {
  Finding finding;
  finding.tile = pass.tile.tile;
  finding.tile_begin = pass.tile_begin;
  finding.tile_end = pass.tile_begin + pass.tile.rows + stages_ + n_ + 1;
  finding.before_begin = pass.before_begin;
  finding.clock = pass.clock + 2 + stages_ + array_column_;
  finding.wrong_clock = finding.clock;
  finding.bank = bank_of(pass.block);
  finding.column = array_column_;
  finding.window = operands_.place(pass.tile.tile);
  return finding;
}

void ElementWatch::found(Finding::Place place, const Pass& pass, std::uint64_t clock, unsigned row,
                         std::int64_t expected, std::int64_t found) {
  if (expected == found || finding_) return;
  finding_ = at(pass);
  finding_->place = place;
  finding_->wrong_clock = clock;
  finding_->row = row;
  finding_->expected = expected;
  finding_->found = found;
  if (finding_->window &&
      (place == Finding::Place::kWeight || place == Finding::Place::kActivation)) {
    finding_->channel = finding_->window->plane * n_ + row;
  }
}

void ElementWatch::check_operands(const Pass& pass, unsigned stage, std::uint64_t clock,
                                  const Probe& probe) {
  for (unsigned row = stage * stage_rows_; row < (stage + 1) * stage_rows_; ++row) {
    const TileIndex& tile = pass.tile.tile;
    found(Finding::Place::kWeight, pass, clock, row, operands_.weight(tile, row),
          probe.weight(row, array_column_));
    if (const auto activation = operands_.activation(tile, row)) {
      found(Finding::Place::kActivation, pass, clock, row, *activation,
            probe.activation(row, array_column_));
    }
  }
}

void ElementWatch::check_partial_sum(const Pass& pass, unsigned stage, std::uint64_t clock,
                                     const Probe& probe) {
  found(Finding::Place::kPartialSum, pass, clock, stage, as_sum(expected_sum(pass, stage)),
        probe.partial_sum(stage, array_column_));
}

void ElementWatch::check_sums(std::uint64_t clock, const Probe& probe) {
  // A row is read before its beats, at a cycle that no signal shows; but not after another sum has
  // taken its place.
  while (!sums_.empty() && clock >= sums_.front().until) sums_.pop_front();
  for (const Sum& sum : sums_) {
    const auto row = static_cast<unsigned>(sum.last.row);
    found(Finding::Place::kAccumulator, sum.last, clock, row, as_sum(sum.value),
          probe.accumulator(bank_of(sum.last.block), row, array_column_));
  }
  if (results_.takes_parameters()) return;
  // With the first beat of a row of sums the row has been read.
  const auto beats_before = [this](const Pass& pass) {
    return (pass.tile.stored_before + pass.row) * results_.beats_per_row();
  };
  while (!sums_.empty() && stored_beats_ > beats_before(sums_.front().last)) sums_.pop_front();
}

/// A row of a block takes the place of that of the block two before it, in the same bank. Without
/// `row` any row may.
void ElementWatch::end_sums(std::uint64_t block, std::optional<std::uint64_t> row,
                            std::uint64_t until) {
  for (Sum& sum : sums_) {
    const bool same = (!row || sum.last.row == *row) && sum.last.block + 2 <= block;
    if (same) sum.until = std::min(sum.until, until);
  }
}

/// Notes the row that is read in this cycle.
void ElementWatch::enter(std::uint64_t clock) {
  if (walk_.done()) return;
  const bool own = walk_.job() == place_;
  TileStep tile = walk_.tile();
  const std::uint64_t row = walk_.row(), bank_row = row % bank_rows_;
  const std::uint64_t block = walk_.block() + row / bank_rows_;
  if (walk_.first_row()) {
    before_begin_ = tile_begin_;
    tile_begin_ = clock;
  }
  walk_.next();
  if (!own) return end_sums(block, std::nullopt, clock);
  if (tile.begins_block) end_sums(block, bank_row, clock + 2 + array_column_ + stages_ + 1);
  if (tile.first_row + row != row_ || tile.tile.n != tile_) return;
  tile.stored_before += row - bank_row;
  passes_.push_back({tile, block, bank_row, clock, tile_begin_, before_begin_});
  last_ = passes_.back();
}

void ElementWatch::clock(std::uint64_t clock, const Probe& probe) {
  if (probe.counts(counter::kComputeCompute)) enter(clock);
  for (const Pass& pass : passes_) {
    const std::uint64_t age = clock - pass.clock;
    const std::uint64_t first = 2 + array_column_;  // in which stage 0 multiplies
    if (age >= first && age < first + stages_) {
      check_operands(pass, static_cast<unsigned>(age - first), clock, probe);
    }
    if (age > first && age <= first + stages_) {
      check_partial_sum(pass, static_cast<unsigned>(age - first - 1), clock, probe);
    }
    if (age == first + stages_ + 1) {
      if (pass.tile.begins_block) sums_.push_back({pass, 0, ~std::uint64_t{0}});
      sums_.back().last = pass;
      sums_.back().value += expected_sum(pass, stages_ - 1);
    }
  }
  while (!passes_.empty() && clock - passes_.front().clock > 2 + array_column_ + stages_) {
    passes_.pop_front();
  }
  check_sums(clock, probe);
  if (!probe.counts(counter::kResultsTransfer)) return;
  if (beats_.empty() || beats_.front().own) ++stored_beats_;
  if (!beats_.empty() && --beats_.front().left == 0) beats_.pop_front();
}

Finding ElementWatch::finding() const {
  if (finding_) return *finding_;
  if (!last_) return {};
  Finding finding = at(*last_);
  finding.place =
      results_.takes_parameters() ? Finding::Place::kRequantized : Finding::Place::kMemory;
  return finding;
}

}  // namespace gemm64
