// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/results.hpp"

#include "host/device/commands.hpp"
#include "host/device/result_format.hpp"

namespace gemm64::cycles {
namespace {

constexpr Cycle kNone = -1;  // no row is left, and that has been noted

}  // namespace

bool Results::advance() {
  if (!walk_.done() || !has_order()) return false;
  const Command& command = *order().command;
  const CommandFact& fact = *fact_of(command.opcode);
  // Only rows of one kind are in flight, and settings change while there are none.
  const bool vector = is_vector(command);
  const bool follows =
      !fact.of_format || (vector ? vector_.used() && command.keep != 0 : !vector_.used());
  const bool tensor = fact.of_format && geometry_.in_tensor_memory(command.address());
  const bool changes = tensor != tensor_;  // to the other memory, when this one has answered
  if ((!follows || changes) && sending_ != 0) return false;
  snapshot_ = !fact.of_format;
  requantizes_ = false;
  if (!snapshot_) {
    const ResultFormat format = ResultFormat::of(command.format).value();
    requantizes_ = format.takes_parameters();
    beats_per_row_ = format.beats_per_row();
    rows_ = command.rows;
  }
  walk_ = BurstWalk(walk_of(command, geometry_.n), geometry_.n, geometry_.burst_beats);
  store_ = order().index;
  seen_ = order().seen;
  Cycle taken = std::max(seen_, listed_);
  if (changes) taken = std::max(taken, answered_);
  tensor_ = tensor;
  if (!snapshot_) {
    if (!follows) taken = std::max(taken, free_);
    vector_.begin(StoreCommand(command));
    requantizer_.set_vector(vector);
    table_due_ = vector_.table_words(geometry_.n) != 0;
  }
  leave_queue(taken);
  listed_ = taken + 1;
  return true;
}

/// Without a STORE the engine waits for answers, then idles.
void Results::wait_for_work(Cycle until) {
  ledger_.spend(counter::kResultsWaitResponse, std::min(until, answered_));
  ledger_.spend(counter::kResultsIdle, until);
}

/// First cycle in which the sums that the next burst sends are there.
Cycle Results::complete() const {
  return begins_block() ? std::max(listed_, banks_.complete()) : listed_;
}

/// First cycle in which its parameters are there, too.
Cycle Results::set_here() const {
  if (!requantizes_ || !begins_block()) return complete();
  return std::max(complete(), parameters_.holds(parameter_words_ + kParameterSetWords));
}

/// Words of operands that the next block takes.
Cycle Results::operands() const {
  return Cycle{vector_.tile_words()} + (table_due_ ? Cycle{vector_.table_words(geometry_.n)} : 0);
}

/// First cycle in which all that the next burst sends is there.
Cycle Results::here() const {
  if (!begins_block() || operands() == 0) return set_here();
  return std::max(set_here(), operands_.holds(operand_words_ + operands()));
}

Cycle Results::next_request() {
  return walk_.done() ? kUnknown : std::max({here(), data_.room(), answers_.room()});
}

void Results::ask(Cycle at) {
  // Rows are read while others are sent or enter the requantizer, a block's first in the block
  // before where its burst has been asked for.
  wait_for_work(seen_);
  ledger_.spend(counter::kResultsWaitCompute, complete());
  ledger_.spend(counter::kResultsWaitParameters, set_here());
  ledger_.spend(counter::kResultsWaitOperands, here());
  ledger_.spend(counter::kResultsWaitMemory, at);
  const bool begins = begins_block();
  Cycle valid = std::max(at + 1, free_);
  Cycle ready = at + 1;  // first cycle in which its first row can pass on
  if (begins) {
    ready = std::max(at + 1, done_) + 1;  // snapshots do not delay its read
    banks_.store(ready, rows_, beats_per_row_, requantizes_);
    valid = std::max(ready, free_);
    if (!snapshot_) ready = std::max(ready, take_operands(at + 1));
  }
  burst_ = {valid,     walk_.address(), static_cast<Cycle>(walk_.beats()),
            snapshot_, requantizes_,    walk_.last(),
            false};
  walk_.next();
  burst_.ends_store = walk_.done() && !snapshot_;
  listed_ = at + 1;
  data_.begin();
  answers_.begin();
  ++sending_;
  if (requantizes_) {
    enter_requantizer(ready);
    if (begins) {
      parameters_.free(requantizer_.scales_of(entered_), 1);
      parameter_words_ += kParameterSetWords;
    }
    pass_rows(burst_.valid);
  }
  ledger_.spend(counter::kResultsWaitCompute, burst_.valid);
}

/// The next block's operands are claimed, and a table is read, its first word in cycle `at`. The
/// first cycle in which a row may pass on.
Cycle Results::take_operands(Cycle at) {
  operand_words_ += operands();
  reads_ = vector_.tile_words() != 0;
  if (!table_due_) return at;
  table_due_ = false;
  const Cycle words = vector_.table_words(geometry_.n);
  operands_.free(at, words);
  return at + words;
}

/// The first row of the burst enters in cycle `at` or when what is before it lets it.
void Results::enter_requantizer(Cycle at) {
  entered_ = requantizer_.moves_from(std::max({at, entered_ + 1, wide_free_}));
  burst_.valid = requantizer_.end_of(entered_);
  rows_left_ = burst_.beats - 1;
  pass(entered_, 1);
}

/// Rows enter one after the other, and their operands leave.
void Results::pass(Cycle first, Cycle rows) {
  banks_.pass(first, rows);
  if (!reads_) return;
  const bool broadcast = vector_.store().broadcast != 0;
  operands_.free(first, broadcast ? 1 : rows);
  reads_ = !broadcast;
}

/// The others follow, those that do so before cycle `before`.
void Results::pass_rows(Cycle before) {
  while (rows_left_ != 0) {
    const Cycle at = requantizer_.moves_from(entered_ + 1);
    if (at >= before) return;
    const Cycle rows = std::min({rows_left_, before - at, requantizer_.moves(at)});
    pass(at, rows);
    entered_ = at + rows - 1;
    rows_left_ -= rows;
    requantizer_.forget(entered_);
  }
  data_.end(entered_);
  done_ = entered_;
  if (burst_.ends_pass) banks_.stored(entered_);
  rows_left_ = kNone;
}

/// Memory takes the beats of requantized rows, and may let them wait. The first is at the end in
/// clock `at_end`. Returns the cycle in which the one after the last is.
Cycle Results::hold(const Beats& beats, Cycle at_end) {
  for (Cycle beat = 0; beat < beats.count; ++beat) {
    const Cycle taken = beats.first + rate_.until(beat, beats.left);
    requantizer_.hold(at_end, taken);
    if (rate_.full()) break;  // the others follow it
    at_end = taken + 1;
  }
  return beats.last + 1;
}

void Results::serve(MemoryPort& port) {
  Cycle at_end = burst_.valid;
  const Cycle last =
      port.write(burst_.valid, burst_.address, burst_.beats, [&](const Beats& beats) {
        ledger_.spend(tensor_ ? counter::kBytesResults : counter::kResultsTransfer,
                      counter::kResultsWaitMemory, beats);
        if (burst_.requantized) {
          at_end = hold(beats, at_end);
        } else if (!burst_.of_snapshot) {
          banks_.send(beats);
        }
      });
  --sending_;
  free_ = last + 1;
  answered_ = port.answered() + 1;
  answers_.end(port.answered());
  if (burst_.ends_store) stored_.push_back(port.answered());
  if (burst_.requantized) {
    if (rows_left_ != kNone) pass_rows(kUnknown);
    return;
  }
  wide_free_ = free_;
  data_.end(last);
  if (burst_.of_snapshot) {
    if (burst_.ends_pass) snapshots_.end(last);
    return;
  }
  done_ = last;
  if (burst_.ends_pass) banks_.stored(last);
}

Cycle Results::answered(std::size_t stores) const {
  if (stores == 0) return 0;
  return stores <= stored_.size() ? stored_[stores - 1] + 1 : kUnknown;
}

Cycle Results::idle() const { return walk_.done() && !has_order() ? answers_.empty() : kUnknown; }

std::optional<Blocked> Results::blocked() {
  if (walk_.done() || snapshot_) return std::nullopt;
  return Blocked{store_, !known(complete())  ? "a finished block"
                         : known(set_here()) ? "its operands"
                                             : "its parameters"};
}

}  // namespace gemm64::cycles
