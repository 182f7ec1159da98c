// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/arbiter.hpp"

#include <algorithm>

namespace gemm64::cycles {

Arbiter::Arbiter(MemorySharing sharing, const std::vector<PortUsers>& ports)
    : exclusive_(sharing == MemorySharing::kExclusive), owner_(ports.size() - 1) {
  for (const PortUsers& port : ports) ports_.push_back({port.port, port.users});
}

bool Arbiter::advance() {
  bool moved = false;
  while (step(false)) moved = true;
  return moved;
}

bool Arbiter::step(bool stuck) {
  Port* first = nullptr;  // to be handed over
  for (Port& port : ports_) {
    if (port.waits) continue;
    if (!find_next(port, stuck)) return false;
    if (known(port.asked) && (first == nullptr || port.asked < first->asked)) first = &port;
  }
  if (exclusive_ && accept_exclusively(first == nullptr ? kUnknown : first->asked)) return true;
  if (first == nullptr) return false;
  first->user->ask(first->asked);
  first->waits = exclusive_;
  if (!exclusive_) accept(*first, first->valid());
  return true;
}

/// Whose request comes next at a port, and when. Tells whether that is known, or is to be taken as
/// never where it is not.
bool Arbiter::find_next(Port& port, bool stuck) {
  if (port.found) return true;
  port.asked = kUnknown;
  for (Requester* user : port.users) {
    const Clock asked = std::max(user->next_request(), port.memory.free());
    if (!known(asked) && !stuck && !user->all_requested()) return false;
    if (asked < port.asked) {
      port.asked = asked;
      port.user = user;
    }
  }
  port.found = !stuck;
  return true;
}

void Arbiter::accept(Port& port, Clock at) {
  port.waits = port.found = false;
  port.memory.accept(at);
  port.user->serve(port.memory);
}

/// Accepts the next request of those that wait, where that is not after clock `before`. The owner
/// keeps the memory while a request of his comes no later than his last answer; then it is the next
/// port's turn, one clock after a request was seen to wait.
bool Arbiter::accept_exclusively(Clock before) {
  Clock earliest = kUnknown;
  for (const Port& port : ports_) {
    if (port.waits) earliest = std::min(earliest, port.valid());
  }
  const Port& owner = ports_[owner_];
  const bool keeps = owner.waits && owner.valid() <= owned_until_;
  const Clock seen = std::max(owned_until_, earliest);
  const Clock at = keeps ? owner.valid() : seen + 1;
  if (!known(at) || at > before) return false;
  if (!keeps) {
    do {
      owner_ = (owner_ + 1) % ports_.size();
    } while (!ports_[owner_].waits || ports_[owner_].valid() > seen);
  }
  accept(ports_[owner_], at);
  owned_until_ = std::max(owned_until_, ports_[owner_].memory.answered());
  return true;
}

}  // namespace gemm64::cycles
