// SPDX-License-Identifier: Apache-2.0
// LOAD_WEIGHTS, LOAD_ACTIVATIONS, LOAD_PARAMETERS and LOAD_OPERANDS: bursts of words, several in
// flight, requested only while the buffer has space.
#pragma once

#include <cstdint>

#include "host/cycles/bursts.hpp"
#include "host/cycles/engine.hpp"
#include "host/cycles/memories.hpp"
#include "host/cycles/memory_port.hpp"
#include "host/device/geometry.hpp"

namespace gemm64::cycles {

class Loads final : public EngineModel, public Requester {
 public:
  /// What its cycles are spent on.
  struct Causes {
    std::size_t transfer, wait_memory, wait_room, idle, bytes;
  };
  static constexpr Causes kWeights{counter::kWeightsTransfer, counter::kWeightsWaitMemory,
                                   counter::kWeightsWaitBuffer, counter::kWeightsIdle,
                                   counter::kBytesWeights};
  static constexpr Causes kActivations{
      counter::kActivationsTransfer, counter::kActivationsWaitMemory,
      counter::kActivationsWaitScratchpad, counter::kActivationsIdle, counter::kBytesActivations};
  static constexpr Causes kParameters{counter::kParametersTransfer, counter::kParametersWaitMemory,
                                      counter::kParametersWaitBuffer, counter::kParametersIdle,
                                      counter::kBytesParameters};
  static constexpr Causes kOperands{counter::kOperandsTransfer, counter::kOperandsWaitMemory,
                                    counter::kOperandsWaitBuffer, counter::kOperandsIdle,
                                    counter::kBytesOperands};

  /// `max_beats`: of a burst. `pixels`: where the loads of windows go; null for an engine without.
  Loads(const Geometry& geometry, std::uint32_t max_beats, WordBuffer& buffer, Pixels* pixels,
        const Causes& causes, Counters& counters)
      : EngineModel(counters),
        buffer_(buffer),
        pixels_(pixels),
        causes_(causes),
        geometry_(geometry),
        max_beats_(max_beats),
        under_way_(geometry.reads) {}

  /// Takes commands; the arbiter calls ask() and serve().
  bool advance() override;
  Cycle idle() const override;
  void finish(Cycle total) override { ledger_.spend(causes_.idle, total); }
  std::optional<Blocked> blocked() override;
  bool waits_for_command() const override {
    return walk_.done() && !has_order() && known(under_way_.empty());
  }
  Cycle not_before() const override { return asked_; }

  Cycle next_request() override;
  bool asks_tensor_memory() const override {
    return !walk_.done() && geometry_.in_tensor_memory(walk_.address());
  }
  void ask(Cycle at) override;
  void serve(MemoryPort& port) override;

 private:
  Cycle room();

  WordBuffer& buffer_;
  Pixels* const pixels_;
  Causes causes_;
  Geometry geometry_;
  std::uint32_t max_beats_;
  Slots under_way_;
  BurstWalk walk_;
  std::size_t load_ = 0;       // index of the current LOAD
  bool window_ = false;        // it is one of a window, and so are all bursts in flight
  Cycle seen_ = kNever;        // clock in which the engine saw it
  Cycle asked_ = kNever;       // clock in which the last burst was asked for, or the LOAD was taken
  std::uint64_t address_ = 0;  // of that burst
  bool tensor_ = false;        // it is of the tensor memory, and so are all in flight
  Cycle beats_ = 0;            // of it
  Cycle words_ = 0;            // asked for
};

}  // namespace gemm64::cycles
