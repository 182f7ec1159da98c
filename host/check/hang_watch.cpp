// SPDX-License-Identifier: Apache-2.0
#include "host/check/hang_watch.hpp"

#include "host/device/registers.hpp"

namespace gemm64 {
namespace {

constexpr Events kMoves =
    event_bit(counter::kCommandsDispatch) | event_bit(counter::kWeightsTransfer) |
    event_bit(counter::kActivationsTransfer) | event_bit(counter::kComputeCompute) |
    event_bit(counter::kResultsTransfer);
// After this number of cycles the last row has left the array, and the engines wait for what they
// lack.
constexpr std::uint64_t kSettled = 300;

}  // namespace

void HangWatch::clock(std::uint64_t clock, const Probe& probe) {
  const Events events = probe.events();
  if (clock_ == 0) {  // where nothing ever moves, it stands still from its first cycle
    now_.place = Finding::Place::kStandstill;
    now_.clock = clock;
  }
  clock_ = clock;
  if ((events & kMoves) != 0) {
    if (clock - now_.clock > longest_) {
      longest_ = clock - now_.clock;
      before_longest_ = now_;
    }
    now_.clock = clock;
    now_.wrong_clock = clock;
    now_.waits = 0;
  } else if (now_.waits == 0 && clock >= now_.clock + kSettled) {
    now_.waits = events;
  }
  if ((events & event_bit(counter::kComputeCompute)) == 0 || walk_.done()) return;
  if (walk_.first_row()) {
    now_.tile = walk_.tile().tile;
    now_.before_begin = now_.tile_begin;
    now_.tile_begin = clock;
    now_.tile_end = clock + walk_.tile().rows + geometry_.pipeline();
  }
  walk_.next();
}

Finding HangWatch::finding() const {
  const std::uint64_t still = clock_ - now_.clock;
  if (still < hang_ && longest_ < hang_) {
    Finding finding = now_;
    if (finding.place != Finding::Place::kNone) finding.place = Finding::Place::kStopped;
    return finding;
  }
  return still > longest_ ? now_ : before_longest_;
}

}  // namespace gemm64
