// SPDX-License-Identifier: Apache-2.0
// What both load engines do: cut LOADs into bursts and ask for them, several under way.
#pragma once

#include "host/cycles/bursts.hpp"
#include "host/cycles/engine.hpp"
#include "host/cycles/memories.hpp"
#include "host/device/geometry.hpp"

namespace gemm64::cycles {

class LoadEngine : public EngineModel {
 public:
  Clock idle() const override;
  std::optional<Blocked> blocked() override;

 protected:
  struct Burst {
    Clock seen;   // clock in which the engine saw its LOAD
    Clock asked;  // clock in which it was handed to the port
    Clock beats;
  };

  LoadEngine(const Geometry& geometry, WordBuffer& buffer, Counters& counters)
      : EngineModel(counters), buffer_(buffer), geometry_(geometry), under_way_(geometry.reads) {}

  /// Takes the next LOAD when all bursts of the one before have been asked for. Tells whether it
  /// did.
  bool take();
  /// First clock in which the next burst may be asked for: after its LOAD and the burst before, and
  /// with fewer than READS under way.
  Clock next_ask() const;
  Clock next_beats() const { return static_cast<Clock>(walk_.beats()); }
  /// Asks for the next burst in clock `at`.
  Burst ask(Clock at);
  /// The last word of the oldest burst under way came in clock `at`.
  void end_burst(Clock at) { under_way_.end(at); }

  WordBuffer& buffer_;

 private:
  Geometry geometry_;
  Slots under_way_;
  BurstWalk walk_;
  std::size_t load_ = 0;  // index of the LOAD under way
  Clock seen_ = kNever;   // clock in which the engine saw it
  Clock asked_ = kNever;  // clock in which the last burst was asked for, or the LOAD was taken
};

}  // namespace gemm64::cycles
