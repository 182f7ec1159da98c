// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/cycle_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "host/cycles/bus.hpp"
#include "host/cycles/commands.hpp"
#include "host/cycles/compute.hpp"
#include "host/cycles/loads.hpp"
#include "host/cycles/program_check.hpp"
#include "host/cycles/results.hpp"
#include "host/device/snapshot.hpp"
#include "host/error.hpp"

namespace gemm64 {
namespace cycles {
namespace {

/// All engines of one run.
class Model {
 public:
  Model(const std::vector<Command>& program, const Geometry& geometry, const MemoryTiming& memory)
      : program_(program),
        geometry_(geometry),
        rate_(geometry.n, memory.bytes_per_cycle),
        memories_(geometry, rate_),
        weights_(geometry, geometry.weight_burst_beats(), memories_.weights, Loads::kWeights,
                 counters_),
        activations_(geometry, geometry.burst_beats, memories_.scratchpad, Loads::kActivations,
                     counters_),
        parameters_(geometry, geometry.parameter_burst_beats(), memories_.parameters,
                    Loads::kParameters, counters_),
        compute_(geometry, memories_, counters_),
        results_(geometry, memories_, rate_, counters_),
        commands_(program, geometry, {weights_, activations_, compute_, parameters_, results_},
                  counters_),
        bus_(memory, rate_,
             {{{&weights_}, {&commands_, &parameters_, &activations_}, {&results_}}}) {
    if (std::none_of(program.begin(), program.end(), is_snapshot)) return;
    for (EngineModel* engine : engines_) engine->keep_history(rate_);
    commands_.keep_history(rate_);
  }

  Prediction run() {
    while (!commands_.done()) {
      if (!advance() && !bus_.advance_when_stuck()) refuse();
    }
    const Clock total = commands_.after_last();
    for (EngineModel* engine : engines_) engine->finish(total);
    counters_[counter::kTotalClocks] = static_cast<std::uint64_t>(total);
    count_bytes(counters_);
    counters_[counter::kBytesCommands] = program_.size() * kCommandBytes;
    Prediction prediction{counters_, {}};
    for (const auto& [command, at] : commands_.snapshots()) {
      prediction.snapshots.push_back({command, count_before(at)});
    }
    return prediction;
  }

 private:
  /// Each engine goes as far as it can. Tells whether any went further.
  bool advance() {
    bool moved = bus_.advance();
    moved |= weights_.advance();
    moved |= activations_.advance();
    moved |= parameters_.advance();
    moved |= compute_.advance();
    moved |= results_.advance();
    moved |= commands_.advance();
    return moved;
  }

  /// All but those of commands.
  void count_bytes(Counters& counters) const {
    const auto bytes = [&](std::size_t transfer) { return counters[transfer] * geometry_.n; };
    counters[counter::kBytesWeights] = bytes(counter::kWeightsTransfer);
    counters[counter::kBytesActivations] = bytes(counter::kActivationsTransfer);
    counters[counter::kBytesResults] = bytes(counter::kResultsTransfer);
    counters[counter::kBytesParameters] = bytes(counter::kParametersTransfer);
  }

  /// The counters as they are in clock `at`, later than in the call before.
  Counters count_before(Clock at) {
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
  Loads weights_, activations_, parameters_;
  Compute compute_;
  Results results_;
  Commands commands_;
  Bus bus_;
  EngineModel* const engines_[5] = {&weights_, &activations_, &parameters_, &compute_, &results_};
};

}  // namespace
}  // namespace cycles

Prediction predict(const std::vector<Command>& program, const Geometry& geometry,
                   const MemoryTiming& memory) {
  cycles::check_program(program, geometry);
  return cycles::Model(program, geometry, memory).run();
}

Counters predict_counters(const std::vector<Command>& program, const Geometry& geometry,
                          const MemoryTiming& memory) {
  return predict(program, geometry, memory).counters;
}

}  // namespace gemm64
