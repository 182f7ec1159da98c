// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/weights.hpp"

namespace gemm64::cycles {

bool Weights::advance() {
  bool moved = false;
  for (bool again = true; again;) {
    again = take();
    for (Clock at = next_ask(); known(at); at = next_ask(), again = true) coming_.push(ask(at));
    while (take_words()) again = true;
    moved |= again;
  }
  return moved;
}

// The words of a burst, or as many of them as belong to one tile: the array frees their places one
// a clock.
bool Weights::take_words() {
  if (coming_.empty()) return false;
  const Clock room = buffer_.room(words_ + 1);
  if (!known(room)) return false;

  Burst& burst = coming_.front();
  const Clock words = std::min(burst.beats, tile_ - words_ % tile_);
  const Clock at_port = std::max(burst.asked + 1 + latency_, last_word_ + 1);
  const Clock first = std::max(at_port, room);
  ledger_.spend(counter::kWeightsIdle, burst.seen);
  ledger_.spend(counter::kWeightsWaitMemory, at_port);
  ledger_.spend(counter::kWeightsWaitBuffer, first);
  ledger_.spend(counter::kWeightsTransfer, first + words);

  buffer_.fill(first, words);
  words_ += words;
  last_word_ = first + words - 1;
  burst.beats -= words;
  if (burst.beats == 0) {
    coming_.pop();
    end_burst(last_word_);
  }
  return true;
}

}  // namespace gemm64::cycles
