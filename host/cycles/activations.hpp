// SPDX-License-Identifier: Apache-2.0
// LOAD_ACTIVATIONS: bursts over the data port, asked for only where the scratchpad has room.
#pragma once

#include "host/cycles/loads.hpp"

namespace gemm64::cycles {

class ReadPort;

class Activations final : public LoadEngine {
 public:
  Activations(const Geometry& geometry, Memories& memories, Counters& counters)
      : LoadEngine(geometry, memories.scratchpad, counters) {}

  /// Takes commands; the data port calls request() in the order in which it is asked.
  bool advance() override { return take(); }
  void finish(Clock total) override { ledger_.spend(counter::kActivationsIdle, total); }

  /// First clock in which the next burst may be asked for, as far as the port has room for it.
  Clock next_request() const;
  /// Asks the port for the next burst in clock `at`.
  void request(Clock at, ReadPort& port);

 private:
  Clock words_ = 0;  // asked for
};

}  // namespace gemm64::cycles
