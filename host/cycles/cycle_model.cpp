// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/cycle_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "host/cycles/bus.hpp"
#include "host/cycles/commands.hpp"
#include "host/cycles/compute.hpp"
#include "host/cycles/loads.hpp"
#include "host/cycles/program_check.hpp"
#include "host/cycles/results.hpp"
#include "host/device/snapshot.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace cycles {
namespace {

/// All engines of one run.
class Model {
 public:
  /// As Commands takes them, and MATMULs whose starts are asked for.
  Model(const std::vector<Command>& program, const Ring& ring, std::size_t end,
        const std::vector<std::uint64_t>& given, const Geometry& geometry,
        const MemoryTiming& memory, const std::vector<std::size_t>& matmuls = {})
      : program_(program),
        geometry_(geometry),
        rate_(geometry.n, memory.sharing == MemorySharing::kDram ? 0 : memory.bytes_per_cycle),
        memories_(geometry, rate_),
        weights_(geometry, geometry.weight_burst_beats(), memories_.weights, nullptr,
                 Loads::kWeights, counters_),
        activations_(geometry, geometry.burst_beats, memories_.scratchpad, &memories_.pixels,
                     Loads::kActivations, counters_),
        parameters_(geometry, geometry.parameter_burst_beats(), memories_.parameters, nullptr,
                    Loads::kParameters, counters_),
        operands_(geometry, geometry.operand_burst_beats(), memories_.operands, nullptr,
                  Loads::kOperands, counters_),
        compute_(geometry, memories_, counters_),
        results_(geometry, memories_, rate_, counters_),
        commands_(program, ring, end, given, geometry,
                  {weights_, activations_, compute_, parameters_, operands_, results_}, counters_),
        bus_(memory, rate_, geometry.n,
             {{{&weights_}, {&commands_, &parameters_, &operands_, &activations_}, {&results_}}}) {
    if (geometry.tensor_memory) {
      bus_.add_tensor_memory(rate_, {{{&operands_, &activations_}, {&results_}}});
    }
    if (matmuls.empty() && end == program.size() && program.back().opcode == Opcode::kFinish &&
        std::none_of(program.begin(), program.end() - 1, asks_counters)) {
      return;  // those in the end are enough
    }
    history_ = true;
    compute_.watch(matmuls);
    for (EngineModel* engine : engines_) engine->keep_history(rate_);
    commands_.keep_history(rate_);
  }

  RingPrediction run() {
    RingPrediction prediction;
    while (!commands_.done()) {
      if (!advance() && !commands_.done() && !bus_.advance_when_stuck()) refuse();
      if (!history_ || ++turns_ % kTurnsKept != 0) continue;
      account_for_waiting();
      take_snapshots(prediction, false);
      forget(prediction);
    }
    // Commands after which there is no FINISH end when nothing is left to do.
    const bool open = program_[commands_.last()].opcode != Opcode::kFinish;
    while (open && !known(idle())) {
      if (!advance() && !known(idle()) && !bus_.advance_when_stuck()) refuse();
    }
    const Cycle total = std::max(commands_.after_last(), open ? idle() : 0);
    // What is fetched ahead of all that follows.
    while (commands_.next_request() < total && bus_.advance_when_stuck()) {
    }
    for (EngineModel* engine : engines_) engine->finish(total);
    commands_.finish(total);
    if (history_) {
      take_snapshots(prediction, true);
    } else {
      prediction.finishes.push_back({commands_.last(), count(total)});
    }
    if (open) prediction.finishes.push_back({commands_.last(), count_before(total)});
    prediction.dram = bus_.dram_counts();
    return prediction;
  }

 private:
  /// First cycle in which no engine has anything left to do.
  Cycle idle() const {
    Cycle clock = 0;
    for (const EngineModel* engine : engines_) clock = std::max(clock, engine->idle());
    return clock;
  }

  /// Each engine goes as far as it can, those of most events first. Returns whether one of the
  /// others did, after which the first may go further; else none can.
  bool advance() {
    // An engine that has gone as far as it can asks again only after another one has moved.
    bool first = true;
    for (bool more = true; more; first = false) {
      more = bus_.advance();
      more |= weights_.advance();
      more |= activations_.advance();
      if (more || first) more |= compute_.advance();
    }
    bool moved = parameters_.advance();
    moved |= operands_.advance();
    moved |= results_.advance();
    moved |= commands_.advance();
    return moved;
  }

  /// Is all known that the cycles before `clock` were spent on?
  bool knows(Cycle clock) const {
    return commands_.knows(clock) &&
           std::all_of(std::begin(engines_), std::end(engines_),
                       [=](const EngineModel* engine) { return engine->accounted() >= clock; });
  }

  /// Those that are known now, in the order of their cycles; all of them where nothing more will be
  /// known.
  void take_snapshots(RingPrediction& prediction, bool all) {
    for (;;) {
      const auto& snapshots = commands_.snapshots();
      const bool more = snapshots_ < snapshots.size();
      const bool fence = more && is_snapshot(program_[snapshots[snapshots_].command]);
      const Cycle asked = more ? snapshots[snapshots_].at + (fence ? 0 : 1) : kUnknown;
      const std::size_t starts = prediction.starts.size();
      const Cycle start = starts < compute_.starts().size() ? compute_.starts()[starts] : kUnknown;
      const Cycle clock = std::min(asked, start);
      if (!known(clock) || (!all && !knows(clock))) return;
      if (start <= asked) {
        prediction.starts.push_back(count_before(clock));
      } else {
        (fence ? prediction.snapshots : prediction.finishes)
            .push_back({snapshots[snapshots_++].command, count_before(clock)});
      }
    }
  }

  /// Engines without work have none before the next command is dispatched.
  void account_for_waiting() {
    const Cycle until = commands_.not_before();
    for (EngineModel* engine : engines_) {
      if (engine->waits_for_command()) engine->finish(until);
    }
  }

  /// Each ledger forgets the cycles before all those in which counters are still to be asked for.
  void forget(const RingPrediction& prediction) {
    const auto& snapshots = commands_.snapshots();
    const bool asked = snapshots_ < snapshots.size();
    const std::size_t starts = prediction.starts.size();
    const bool started = starts < compute_.starts().size();
    const Cycle before = std::min(asked ? snapshots[snapshots_].at : commands_.not_before(),
                                  started ? compute_.starts()[starts] : compute_.not_before());
    for (EngineModel* engine : engines_) engine->forget(before);
    commands_.forget(before);
  }

  static bool asks_counters(const Command& command) {
    return is_snapshot(command) || command.opcode == Opcode::kFinish;
  }

  /// The counters in the end, all commands fetched.
  Counters count(Cycle total) const {
    Counters counters = counters_;
    counters[counter::kTotalClocks] = static_cast<std::uint64_t>(total);
    count_bytes(counters);
    counters[counter::kBytesCommands] = program_.size() * kCommandBytes;
    return counters;
  }

  /// All but those of commands. Until here a counter of bytes has the transfers of the tensor
  /// memory.
  void count_bytes(Counters& counters) const {
    const auto count = [&](std::size_t bytes, std::size_t transfer) {
      const std::uint64_t on_chip =
          std::exchange(counters[bytes], counters[transfer] * geometry_.n);
      counters[transfer] += on_chip;
    };
    count(counter::kBytesWeights, counter::kWeightsTransfer);
    count(counter::kBytesActivations, counter::kActivationsTransfer);
    count(counter::kBytesResults, counter::kResultsTransfer);
    count(counter::kBytesParameters, counter::kParametersTransfer);
    count(counter::kBytesOperands, counter::kOperandsTransfer);
  }

  /// The counters as they are in cycle `at`, later than in the call before.
  Counters count_before(Cycle at) {
    Counters counters{};
    for (EngineModel* engine : engines_) engine->count_before(at, counters);
    commands_.count_before(at, counters);
    counters[counter::kTotalClocks] = static_cast<std::uint64_t>(at);
    count_bytes(counters);
    return counters;
  }

  [[noreturn]] void refuse() {
    const auto line = [this](const Blocked& blocked) {
      return fmt::format("{} waits for {}", describe(program_, blocked.command), blocked.waits_for);
    };
    std::string message = "the program never ends: " + line(commands_.blocked());
    for (EngineModel* engine : engines_) {
      if (const auto blocked = engine->blocked()) message += "; " + line(*blocked);
    }
    throw UsageError(message);
  }

  const std::vector<Command>& program_;
  Geometry geometry_;
  Counters counters_{};
  Rate rate_;
  Memories memories_;
  Loads weights_, activations_, parameters_, operands_;
  Compute compute_;
  Results results_;
  Commands commands_;
  Bus bus_;
  bool history_ = false;
  std::size_t snapshots_ = 0;                     // taken
  static constexpr std::size_t kTurnsKept = 256;  // between which nothing is forgotten
  std::size_t turns_ = 0;
  EngineModel* const engines_[6] = {&weights_,  &activations_, &parameters_,
                                    &operands_, &compute_,     &results_};
};

/// Where the programs of a ring that can run end: after their FINISHes, in ascending order. The
/// last may lack it.
std::vector<std::size_t> ends_of(const std::vector<Command>& commands, const Geometry& geometry) {
  std::vector<std::size_t> ends;
  std::vector<Command> program;
  const Command* before = nullptr;      // the last SET_WINDOW of the programs before
  const Command* set_window = nullptr;  // and of this one
  for (const Command& command : commands) {
    program.push_back(command);
    if (command.opcode == Opcode::kSetWindow) set_window = &command;
    const bool last = &command == &commands.back();
    if (!last && command.opcode != Opcode::kFinish) continue;
    if (command.opcode != Opcode::kFinish) {
      program.emplace_back();
      program.back().opcode = Opcode::kFinish;
    }
    try {
      check_program(program, geometry, before);
    } catch (const UsageError&) {
      break;
    }
    program.clear();
    before = set_window;
    ends.push_back(static_cast<std::size_t>(&command - commands.data()) + 1);
  }
  return ends;
}

}  // namespace
}  // namespace cycles

Prediction predict(const std::vector<Command>& program, const Geometry& geometry,
                   const MemoryTiming& memory, const std::vector<std::size_t>& matmuls,
                   const Ring& ring) {
  cycles::check_program(program, geometry);
  RingPrediction found =
      cycles::Model(program, ring, program.size(), {}, geometry, memory, matmuls).run();
  return {found.finishes.back().counters, std::move(found.snapshots), std::move(found.starts),
          found.dram};
}

RingPrediction predict_ring(const std::vector<Command>& commands,
                            const std::vector<std::uint64_t>& given, const Geometry& geometry,
                            const MemoryTiming& memory, const Ring& ring) {
  for (std::vector<std::size_t> ends = cycles::ends_of(commands, geometry); !ends.empty();
       ends.pop_back()) {
    try {
      return cycles::Model(commands, ring, ends.back(), given, geometry, memory).run();
    } catch (const UsageError&) {
      // A program in it waits for ever.
    }
  }
  return {};
}

Counters predict_counters(const std::vector<Command>& program, const Geometry& geometry,
                          const MemoryTiming& memory, const Ring& ring) {
  return predict(program, geometry, memory, {}, ring).counters;
}

}  // namespace gemm64
