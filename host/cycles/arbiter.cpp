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
    if (port.memory.waits()) continue;
    if (!find_next(port, stuck)) return false;
    if (known(port.asked) && (first == nullptr || port.asked < first->asked)) first = &port;
  }
  const Cycle asked = first == nullptr ? kUnknown : first->asked;
  // What is not known may follow from a request to the other memory.
  const Cycle elsewhere = stuck ? asked_elsewhere() : kUnknown;
  if (exclusive_ && accept_exclusively(std::min(asked, elsewhere))) return true;
  if (first == nullptr || first->elsewhere || elsewhere < asked) return false;
  first->user->ask(first->asked);
  if (exclusive_) first->memory.wait();
  if (!exclusive_) accept(*first, first->valid());
  return true;
}

/// The cycle in which the first request is handed to the other memory.
Cycle Arbiter::asked_elsewhere() const {
  Cycle asked = kUnknown;
  for (const Port& port : ports_) {
    for (Requester* user : port.users) {
      if (!port.asks_other(*user)) continue;
      const Cycle next = user->next_request();
      if (known(next)) asked = std::min(asked, port.memory.at_other(next));
    }
  }
  return asked;
}

/// Whose request comes next at a port, and when. Returns whether that is known, or is to be taken
/// as never where it is not.
bool Arbiter::find_next(Port& port, bool stuck) {
  if (port.found) return true;
  port.asked = kUnknown;
  for (Requester* user : port.users) {
    const Cycle next = user->next_request();
    const bool elsewhere = known(next) && port.asks_other(*user);
    const Cycle asked =
        std::max(elsewhere ? port.memory.at_other(next) + 1 : next, port.memory.free());
    if (!known(asked) && !stuck && !user->all_requested()) return false;
    if (asked < port.asked) {
      port.asked = asked;
      port.user = user;
      port.elsewhere = elsewhere;
    }
  }
  port.found = !stuck && !port.elsewhere;
  return true;
}

void Arbiter::accept(Port& port, Cycle at) {
  port.found = false;
  port.memory.accept(at);
  port.user->serve(port.memory);
}

/// Accepts the next request of those that wait, where that is not after cycle `before`. The owner
/// keeps the memory while a request of his comes no later than his last answer; then it is the next
/// port's turn, one cycle after a request was seen to wait.
bool Arbiter::accept_exclusively(Cycle before) {
  Cycle earliest = kUnknown;
  for (const Port& port : ports_) {
    if (port.memory.waits()) earliest = std::min(earliest, port.valid());
  }
  const Port& owner = ports_[owner_];
  const bool keeps = owner.memory.waits() && owner.valid() <= owned_until_;
  const Cycle seen = std::max(owned_until_, earliest);
  const Cycle at = keeps ? owner.valid() : seen + 1;
  if (!known(at) || at > before) return false;
  if (!keeps) {
    do {
      owner_ = (owner_ + 1) % ports_.size();
    } while (!ports_[owner_].memory.waits() || ports_[owner_].valid() > seen);
  }
  accept(ports_[owner_], at);
  owned_until_ = std::max(owned_until_, ports_[owner_].memory.answered());
  return true;
}

}  // namespace gemm64::cycles
