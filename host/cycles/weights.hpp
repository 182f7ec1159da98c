// SPDX-License-Identifier: Apache-2.0
// LOAD_WEIGHTS: bursts over a port of its own, whose words wait at the port while the buffer is
// full.
#pragma once

#include "host/cycles/loads.hpp"

namespace gemm64::cycles {

class Weights final : public LoadEngine {
 public:
  Weights(const Geometry& geometry, Clock latency, Memories& memories, Counters& counters)
      : LoadEngine(geometry, memories.weights, counters), tile_(geometry.n), latency_(latency) {}

  bool advance() override;
  void finish(Clock total) override { ledger_.spend(counter::kWeightsIdle, total); }

 private:
  bool take_words();

  Clock tile_;  // words of a tile
  Clock latency_;
  Queue<Burst> coming_;       // asked for, `beats` of each still to come
  Clock words_ = 0;           // that have come
  Clock last_word_ = kNever;  // clock of the last
};

}  // namespace gemm64::cycles
