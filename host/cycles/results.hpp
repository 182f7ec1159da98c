// SPDX-License-Identifier: Apache-2.0
// STORE: finished blocks, written one after the other.
#pragma once

#include "host/cycles/bursts.hpp"
#include "host/cycles/engine.hpp"
#include "host/cycles/memories.hpp"
#include "host/cycles/memory_port.hpp"
#include "host/device/geometry.hpp"

namespace gemm64::cycles {

class Results final : public EngineModel, public Requester {
 public:
  Results(const Geometry& geometry, Memories& memories, Counters& counters)
      : EngineModel(counters),
        banks_(memories.banks),
        geometry_(geometry),
        data_(geometry.writes),
        answers_(geometry.writes) {}

  /// Takes commands; the arbiter calls ask() and serve().
  bool advance() override;
  Clock idle() const override;
  void finish(Clock total) override { wait_for_work(total); }
  std::optional<Blocked> blocked() override;

  Clock next_request() override;
  void ask(Clock at) override;
  void serve(MemoryPort& port) override;

 private:
  Clock here() const;
  void wait_for_work(Clock until);

  Banks& banks_;
  Geometry geometry_;
  BurstWalk walk_;         // of the STORE under way
  std::size_t store_ = 0;  // its index
  Clock rows_ = 0;         // of its blocks
  Clock beats_per_row_ = 0;
  Clock seen_ = kNever;   // clock in which the engine saw it
  Slots data_, answers_;  // bursts asked for whose beats, whose answers are to come
  struct Burst {
    Clock valid;  // clock in which its first beat is there
    Clock beats;
    bool ends_block;
  };
  Burst burst_{};       // asked for last
  Clock listed_ = 0;    // first clock in which the next burst can be asked for
  Clock free_ = 0;      // first clock in which a beat may be sent
  Clock answered_ = 0;  // first clock in which every write is answered
};

}  // namespace gemm64::cycles
