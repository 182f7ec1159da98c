// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/arbiter.hpp"

#include <algorithm>
#include <utility>

namespace gemm64::cycles {

Arbiter::Arbiter(MemorySharing sharing, std::vector<PortUsers> ports)
    : exclusive_(sharing == MemorySharing::kExclusive),
      ports_(std::move(ports)),
      candidates_(ports_.size()),
      owner_(ports_.size() - 1) {}

bool Arbiter::advance() {
  bool moved = false;
  while (serve(false)) moved = true;
  return moved;
}

bool Arbiter::serve(bool stuck) {
  bool any = false;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    Candidate& candidate = candidates_[i] = {nullptr, kUnknown};
    for (Requester* user : ports_[i].users) {
      const Clock asked = std::max(user->next_request(), ports_[i].port.free());
      if (!known(asked) && !stuck && !user->all_requested()) return false;
      if (asked < candidate.asked) candidate = {user, asked};
    }
    any |= candidate.user != nullptr;
  }
  if (!any) return false;

  const std::size_t next = exclusive_ ? next_owner() : earliest();
  const Candidate& candidate = candidates_[next];
  MemoryPort& port = ports_[next].port;
  port.accept(exclusive_ ? std::max(candidate.valid(), owned_since_) : candidate.valid());
  candidate.user->request(candidate.asked, port);
  owned_until_ = std::max(owned_until_, port.answered());
  return true;
}

/// Of requests in the same clock the first port's.
std::size_t Arbiter::earliest() const {
  const auto earlier = [](const Candidate& a, const Candidate& b) { return a.asked < b.asked; };
  const auto found = std::min_element(candidates_.begin(), candidates_.end(), earlier);
  return static_cast<std::size_t>(found - candidates_.begin());
}

/// The owner keeps an exclusive memory while a request of his comes before, or with, his last
/// answer. Then it is the next port's turn that has had a request waiting in the clock before.
std::size_t Arbiter::next_owner() {
  if (candidates_[owner_].valid() <= owned_until_) return owner_;
  const Clock waiting = std::max(owned_until_, candidates_[earliest()].valid());
  owned_since_ = waiting + 1;
  do {
    owner_ = (owner_ + 1) % ports_.size();
  } while (candidates_[owner_].valid() > waiting);
  return owner_;
}

}  // namespace gemm64::cycles
