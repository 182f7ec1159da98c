// SPDX-License-Identifier: Apache-2.0
// Every clock below counts from 0, the first in which the device is busy. "+ 1" is the register
// that an event passes before another can see it.
#include "host/cycles/cycle_model.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <vector>

#include "host/cycles/bursts.hpp"

namespace gemm64 {
namespace {

using Clock = std::int64_t;
constexpr Clock kNever = -1;  // before the first clock: no constraint

/// A queue of as many entries as bursts may be under way: a burst must wait for the one so many
/// before it to end.
class Window {
 public:
  explicit Window(std::size_t size) : size_(size) {}
  /// First clock in which there is room.
  Clock room() const { return ends_.size() < size_ ? kNever : ends_.front() + 1; }
  void push(Clock end) {
    ends_.push_back(end);
    if (ends_.size() > size_) ends_.pop_front();
  }

 private:
  std::size_t size_;
  std::deque<Clock> ends_;
};

/// Splits the clocks from `begin` to `end` at `at`: clocks before it, clocks from it on.
struct Split {
  Clock before, after;
  Split(Clock begin, Clock end, Clock at)
      : before(std::clamp(at, begin, end) - begin), after(end - begin - before) {}
};

/// When commands arrive and are handed to their engines.
struct Dispatch {
  std::vector<Clock> at;     // clock in which command i is dispatched; FINISH is set by the end
  Clock last_ask = kNever;   // of the last request
  Clock last_beat = kNever;  // of the last beat on the data port
  Clock wait_memory = 0;
  Clock finish_visible = 0;

  Dispatch(std::size_t commands, const Geometry& geometry, Clock latency) {
    const Clock beats = static_cast<Clock>(kCommandBytes / geometry.n);
    Clock free = 0;  // first clock in which dispatch has nothing to do
    for (std::size_t i = 0; i < commands; ++i) {
      last_ask = static_cast<Clock>(i);
      last_beat = std::max(last_ask + 1 + latency, last_beat + 1) + beats - 1;
      const Clock visible = last_beat + 1;
      wait_memory += std::max<Clock>(0, visible - free);
      at.push_back(std::max(visible, free));
      free = at.back() + 1;
    }
    finish_visible = at.back();
  }
};

/// One LOAD command: its walk, and the clock in which the engine sees it.
struct Load {
  BurstWalk walk;
  Clock visible;
};

/// The bursts of a read port's LOADs. The derived classes say when a burst may be asked for and its
/// words taken.
class ReadStream {
 public:
  ReadStream(std::vector<Load> loads, const Geometry& geometry, Clock latency)
      : loads_(std::move(loads)), window_(geometry.reads), latency_(latency) {}

 protected:
  /// Asks for the next burst, not before `earliest`; sets asked_, words_left_ and first_valid_.
  void ask(Clock earliest) {
    if (started_ == kNever) {
      started_ = std::max(loads_[load_].visible, asked_ + 1);
      asked_ = std::max(asked_, started_);
    }
    BurstWalk& walk = loads_[load_].walk;
    words_left_ = static_cast<Clock>(walk.beats());
    asked_ = std::max({asked_ + 1, window_.room(), earliest});
    first_valid_ = asked_ + 1 + latency_;
    visible_ = loads_[load_].visible;
    walk.next();
    if (walk.done()) {
      ++load_;
      started_ = kNever;
    }
  }

  Clock next_beats() const { return static_cast<Clock>(loads_[load_].walk.beats()); }

  std::vector<Load> loads_;
  std::size_t load_ = 0;
  Window window_;
  Clock latency_;
  Clock started_ = kNever;      // clock in which the walk took the command
  Clock asked_ = kNever;        // clock in which the burst was handed to the port
  Clock visible_ = kNever;      // clock in which the engine saw the burst's command
  Clock words_left_ = 0;        // words of the burst still to come
  Clock first_valid_ = kNever;  // first clock in which its next word can be at the port
  Clock last_word_ = kNever;    // clock in which the last word so far was taken
};

/// Weights: held back at the port while the buffer is full.
class WeightStream : public ReadStream {
 public:
  using ReadStream::ReadStream;

  /// Takes the next `words` words, a tile, in order; the buffer has room for its first word from
  /// clock `room` on, for its second a clock later and so on. Returns when the last was taken.
  Clock take_tile(Clock words, Clock room) {
    for (Clock taken = 0; taken < words;) {
      if (words_left_ == 0) ask(kNever);
      const Clock part = std::min(words_left_, words - taken);
      const Clock ready = last_word_ + 1;
      const Clock valid = std::max(ready, first_valid_);
      const Clock first = std::max(valid, room + taken);
      const Clock from = std::max(ready, visible_);
      wait_memory += std::max<Clock>(0, valid - from);
      wait_buffer += first - valid;
      last_word_ = first + part - 1;
      first_valid_ = last_word_ + 1;
      words_left_ -= part;
      taken += part;
      transfer += part;
      if (words_left_ == 0) window_.push(last_word_);
    }
    return last_word_;
  }

  Clock transfer = 0, wait_memory = 0, wait_buffer = 0;
};

/// Activations: asked for only where the scratchpad has room.
class ActivationStream : public ReadStream {
 public:
  ActivationStream(std::vector<Load> loads, const Geometry& geometry, Clock latency,
                   const Dispatch& dispatch)
      : ReadStream(std::move(loads), geometry, latency),
        capacity_(geometry.scratchpad_words),
        commands_asked_(dispatch.last_ask) {
    last_word_ = dispatch.last_beat;
    last_activation_ = kNever;
  }

  /// Returns the clock in which word number `word` (from 0, over all LOADs) arrived.
  Clock arrival(Clock word) {
    while (words_ <= word) load_burst();
    return last_word_ - (words_ - 1 - word);
  }

  /// `count` words leave the scratchpad, the first in clock `at`, one a clock.
  void release(Clock at, Clock count) {
    releases_.push_back({released_, at});
    released_ += count;
  }

  Clock transfer = 0, wait_memory = 0, wait_scratchpad = 0;

 private:
  struct Release {
    Clock first_word, at;
  };

  void load_burst() {
    const Clock beats = next_beats();
    asked_words_ += beats;
    ask(std::max(room_for(asked_words_), commands_asked_ + 1));
    const Clock first = std::max(first_valid_, last_word_ + 1);
    // Between its words the engine waits for memory where it has asked, else for room.
    const Clock from = std::max(last_activation_ + 1, visible_);
    const Split gap(from, std::max(first, from), asked_ + 1);
    wait_scratchpad += gap.before;
    wait_memory += gap.after;
    last_word_ = first + beats - 1;
    last_activation_ = last_word_;
    words_ += beats;
    transfer += beats;
    words_left_ = 0;
    window_.push(last_word_);
  }

  /// First clock in which `words` words in all may have been asked for.
  Clock room_for(Clock words) {
    const Clock word = words - capacity_ - 1;  // the word whose release makes the last place
    if (word < 0) return kNever;
    while (releases_.size() > 1 && releases_[1].first_word <= word) releases_.pop_front();
    if (releases_.empty() || word >= released_) {
      throw std::logic_error("cycle model: the scratchpad cannot hold what the plan needs");
    }
    return releases_.front().at + (word - releases_.front().first_word) + 1;
  }

  Clock capacity_, commands_asked_;
  Clock asked_words_ = 0, words_ = 0, released_ = 0, last_activation_ = kNever;
  std::deque<Release> releases_;
};

/// Results: blocks stored one after the other.
class ResultStream {
 public:
  ResultStream(const Geometry& geometry, Clock latency)
      : latency_(latency), data_(geometry.writes), answers_(geometry.writes) {}

  /// A STORE that the engine sees in clock `visible`.
  void start(BurstWalk walk, Clock visible) { stores_.push_back({walk, visible}); }

  /// Stores the next block, whose sums are complete in clock `done`. Returns when its last beat was
  /// sent.
  Clock store_block(Clock done) {
    Store& store = stores_.front();
    if (store.walk.first() && !taken_) {
      listed_ = std::max(store.visible, asked_ + 1) + 1;
      taken_ = true;
    }
    bool first = true;
    for (bool last = false; !last; first = false) {
      const Clock beats = static_cast<Clock>(store.walk.beats());
      last = store.walk.last();
      store.walk.next();
      const Clock here = std::max(listed_, first ? done : kNever);
      const Clock asked = std::max({here, data_.room(), answers_.room()});
      const Clock ready = last_beat_ + 1;
      const Clock beat = std::max(ready, first ? std::max(asked + 1, ready) + 1 : asked + 1);
      // Between beats: held up by full queues, or waiting for sums.
      const Clock from = std::max(ready, store.visible);
      const Clock held = std::max<Clock>(0, std::min(asked, beat) - std::max(here, from));
      wait_memory += held;
      wait_compute += std::max<Clock>(0, beat - from) - held;
      asked_ = asked;
      listed_ = asked + 1;
      last_beat_ = beat + beats - 1;
      transfer += beats;
      last_answer_ = std::max(std::max(asked + 1, last_beat_) + latency_, last_answer_ + 1);
      data_.push(last_beat_);
      answers_.push(last_answer_);
    }
    if (store.walk.done()) {
      stores_.pop_front();
      taken_ = false;
    }
    return last_beat_;
  }

  Clock last_answer() const { return last_answer_; }
  Clock transfer = 0, wait_memory = 0, wait_compute = 0, wait_response = 0;

 private:
  struct Store {
    BurstWalk walk;
    Clock visible;
  };
  Clock latency_;
  std::deque<Store> stores_;
  bool taken_ = false;
  Clock listed_ = kNever;  // clock from which the next burst is known
  Clock asked_ = kNever;   // clock in which the last burst was handed to the port
  Clock last_beat_ = kNever;
  Clock last_answer_ = kNever;
  Window data_, answers_;
};

}  // namespace

Counters predict_counters(const Plan& plan, const Layout& layout, const Geometry& geometry,
                          std::uint32_t latency) {
  const std::vector<Command> program = make_program(plan, layout);
  if (program.size() > geometry.commands) {
    throw std::logic_error("cycle model: the program is longer than what is fetched ahead");
  }
  const Dispatch dispatch(program.size(), geometry, latency);
  const Clock n = geometry.n;
  const Clock pipeline = geometry.pipeline();

  std::vector<Load> weight_loads, activation_loads;
  ResultStream results(geometry, latency);
  std::vector<Clock> matmul_visible;
  Clock first_store_visible = 0;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Command& command = program[i];
    const Clock visible = dispatch.at[i] + 1;
    const auto walk = [&](std::uint64_t count, std::uint64_t passes, std::uint64_t blocks) {
      return BurstWalk(command.address(), count, passes, blocks, geometry.n, geometry.burst_beats);
    };
    switch (command.opcode) {
      case Opcode::kLoadWeights:
        weight_loads.push_back({walk(command.count, command.passes, 1), visible});
        break;
      case Opcode::kLoadActivations:
        activation_loads.push_back({walk(command.count, command.passes, command.blocks), visible});
        break;
      case Opcode::kMatmul:
        matmul_visible.push_back(visible);
        break;
      case Opcode::kStore:
        if (first_store_visible == 0) first_store_visible = visible;
        results.start(walk(std::uint64_t{command.rows} * 4, 1, command.count), visible);
        break;
      case Opcode::kFinish:
        break;
    }
  }
  WeightStream weights(std::move(weight_loads), geometry, latency);
  ActivationStream activations(std::move(activation_loads), geometry, latency, dispatch);

  Counters counters{};
  const auto add = [&counters](std::size_t index, Clock clocks) {
    counters[index] += static_cast<std::uint64_t>(clocks);
  };

  std::deque<Clock> starts;      // of the tiles that the weight buffer holds
  std::deque<Clock> bank_frees;  // ends of the two stores before
  Clock start = kNever;          // of the tile before
  Clock rows_before = 0;
  Clock end = kNever;  // clock of the last row so far
  Clock word = 0;      // words of activations before this pass
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const RowGroup& group = plan.groups[g];
    const Clock rows = group.rows;
    // Without a MATMUL the array drains, then idles.
    const Split gap(end + 1, std::max(end + 1, matmul_visible[g]),
                    end == kNever ? kNever : end + 1 + pipeline);
    add(counter::kComputeDrain, gap.before);
    add(counter::kComputeIdle, gap.after);
    Clock from = std::max(end + 1, matmul_visible[g]);

    for (std::uint32_t block = 0; block < group.blocks; ++block) {
      for (std::uint32_t pass = 0; pass < plan.n_tiles; ++pass) {
        const bool last_pass = pass + 1 == plan.n_tiles;
        for (std::uint32_t tile = 0; tile < plan.k_tiles; ++tile) {
          const Clock room = starts.size() < geometry.weight_tiles ? kNever : starts.front() + 1;
          const Clock weights_in = weights.take_tile(n, room) + 1;
          const Clock weights_ready = std::max(weights_in, start == kNever ? kNever : start + n);
          const Clock last_word = word + rows * (tile + 1) - 1;
          const Clock activations_ready = activations.arrival(last_word) + 1;
          const bool first = plan.accumulate == Accumulate::kHost || tile == 0;
          const bool last = plan.accumulate == Accumulate::kHost || tile + 1 == plan.k_tiles;
          const Clock bank_ready =
              first && bank_frees.size() == 2 ? bank_frees.front() + 1 : kNever;

          const Clock now = std::max({from, weights_ready, activations_ready, bank_ready});
          const Split for_weights(from, now, weights_ready);
          const Split for_activations(from + for_weights.before, now, activations_ready);
          add(counter::kComputeWaitWeights, for_weights.before);
          add(counter::kComputeWaitActivations, for_activations.before);
          add(counter::kComputeWaitResults, for_activations.after);
          add(counter::kComputeCompute, rows);

          start = now;
          rows_before = rows;
          end = start + rows_before - 1;
          from = end + 1;
          starts.push_back(start);
          if (starts.size() > geometry.weight_tiles) starts.pop_front();
          if (!group.retain || last_pass) activations.release(start, rows);
          if (last) {
            bank_frees.push_back(results.store_block(end + pipeline + 1));
            if (bank_frees.size() > 2) bank_frees.pop_front();
          }
        }
        if (!group.retain || last_pass) word += rows * plan.k_tiles;
      }
    }
  }

  const Clock finish = std::max(dispatch.finish_visible, results.last_answer() + 1);
  const Clock total = finish + 1;
  const Split tail(end + 1, total, end + 1 + pipeline);
  add(counter::kComputeDrain, tail.before);
  add(counter::kComputeIdle, tail.after);

  add(counter::kTotalClocks, total);
  add(counter::kCommandsDispatch, static_cast<Clock>(program.size()));
  add(counter::kCommandsWaitMemory, dispatch.wait_memory);
  add(counter::kCommandsWaitEngine,
      total - static_cast<Clock>(program.size()) - dispatch.wait_memory);
  add(counter::kWeightsTransfer, weights.transfer);
  add(counter::kWeightsWaitMemory, weights.wait_memory);
  add(counter::kWeightsWaitBuffer, weights.wait_buffer);
  add(counter::kWeightsIdle, total - weights.transfer - weights.wait_memory - weights.wait_buffer);
  add(counter::kActivationsTransfer, activations.transfer);
  add(counter::kActivationsWaitMemory, activations.wait_memory);
  add(counter::kActivationsWaitScratchpad, activations.wait_scratchpad);
  add(counter::kActivationsIdle,
      total - activations.transfer - activations.wait_memory - activations.wait_scratchpad);
  const Clock response = results.last_answer();
  const Clock stored = first_store_visible + results.transfer + results.wait_memory +
                       results.wait_compute;  // idle until the first STORE is seen
  add(counter::kResultsTransfer, results.transfer);
  add(counter::kResultsWaitMemory, results.wait_memory);
  add(counter::kResultsWaitCompute, results.wait_compute);
  add(counter::kResultsWaitResponse, response + 1 - stored);
  add(counter::kResultsIdle, total - (response + 1) + first_store_visible);

  const Traffic traffic = predict_traffic(plan);
  counters[counter::kBytesWeights] = traffic.weights;
  counters[counter::kBytesActivations] = traffic.activations;
  counters[counter::kBytesCommands] = traffic.commands;
  counters[counter::kBytesResults] = traffic.results;
  return counters;
}

}  // namespace gemm64
