// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/cycle_model.hpp"

#include <fmt/format.h>

#include <string>

#include "host/cycles/activations.hpp"
#include "host/cycles/commands.hpp"
#include "host/cycles/compute.hpp"
#include "host/cycles/data_port.hpp"
#include "host/cycles/program_check.hpp"
#include "host/cycles/results.hpp"
#include "host/cycles/weights.hpp"
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
        memories_(geometry),
        weights_(geometry, memory.latency, memories_, counters_),
        activations_(geometry, memories_, counters_),
        compute_(geometry, memories_, counters_),
        results_(geometry, memory.latency, memories_, counters_),
        commands_(program, geometry, {weights_, activations_, compute_, results_}, counters_),
        data_port_(commands_, activations_, memory.latency) {}

  Counters run() {
    while (!commands_.done()) {
      if (!advance() && !data_port_.advance_when_stuck()) refuse();
    }
    const Clock total = commands_.after_last();
    for (EngineModel* engine : engines_) engine->finish(total);
    counters_[counter::kTotalClocks] = static_cast<std::uint64_t>(total);
    count_bytes();
    return counters_;
  }

 private:
  /// Each engine goes as far as it can. Tells whether any went further.
  bool advance() {
    bool moved = data_port_.advance();
    moved |= activations_.advance();
    // Most events are these two's, a tile each in turn.
    for (bool again = true; again; moved |= again) {
      again = weights_.advance();
      again |= compute_.advance();
    }
    moved |= results_.advance();
    moved |= commands_.advance();
    return moved;
  }

  void count_bytes() {
    const auto bytes = [this](std::size_t transfer) { return counters_[transfer] * geometry_.n; };
    counters_[counter::kBytesWeights] = bytes(counter::kWeightsTransfer);
    counters_[counter::kBytesActivations] = bytes(counter::kActivationsTransfer);
    counters_[counter::kBytesResults] = bytes(counter::kResultsTransfer);
    counters_[counter::kBytesCommands] = program_.size() * kCommandBytes;
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
  Memories memories_;
  Weights weights_;
  Activations activations_;
  Compute compute_;
  Results results_;
  Commands commands_;
  DataPort data_port_;
  EngineModel* const engines_[4] = {&weights_, &activations_, &compute_, &results_};
};

}  // namespace
}  // namespace cycles

Counters predict_counters(const std::vector<Command>& program, const Geometry& geometry,
                          const MemoryTiming& memory) {
  cycles::check_program(program, geometry);
  return cycles::Model(program, geometry, memory).run();
}

}  // namespace gemm64
