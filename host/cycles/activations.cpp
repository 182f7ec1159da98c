// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/activations.hpp"

#include "host/cycles/data_port.hpp"

namespace gemm64::cycles {

Clock Activations::next_request() const {
  const Clock next = next_ask();
  return known(next) ? std::max(next, buffer_.room(words_ + next_beats())) : kUnknown;
}

void Activations::request(Clock at, ReadPort& port) {
  const Burst burst = ask(at);
  words_ += burst.beats;
  const Clock first = port.serve(at, burst.beats);
  const Clock after = first + burst.beats;
  ledger_.spend(counter::kActivationsIdle, burst.seen);
  ledger_.spend(counter::kActivationsWaitScratchpad, at + 1);  // nothing was under way
  ledger_.spend(counter::kActivationsWaitMemory, first);
  ledger_.spend(counter::kActivationsTransfer, after);
  buffer_.fill(first, burst.beats);
  end_burst(after - 1);
}

}  // namespace gemm64::cycles
