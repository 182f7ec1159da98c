// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/memory_arbiter.hpp"

#include <stdexcept>

namespace gemm64 {

MemoryArbiter::MemoryArbiter(MemorySharing sharing, unsigned width)
    : sharing_(sharing), width_(width), credit_(width) {
  if (sharing == MemorySharing::kIndependent) {
    throw std::invalid_argument("MemoryArbiter: independent ports have nothing to share");
  }
}

void MemoryArbiter::set_bytes_per_cycle(unsigned bytes) {
  bytes_per_cycle_ = bytes >= width_ ? 0 : bytes;
  credit_ = width_;
}

unsigned MemoryArbiter::join() {
  waiting_.push_back(false);
  last_owner_ = static_cast<unsigned>(waiting_.size() - 1);  // the first turn is port 0's
  return last_owner_;
}

void MemoryArbiter::reset() {
  order_.clear();
  waiting_.assign(waiting_.size(), false);
  owner_ = kNobody;
  last_owner_ = static_cast<unsigned>(waiting_.size() - 1);
  unanswered_ = 0;
  credit_ = width_;
}

void MemoryArbiter::choose_owner() {
  for (std::size_t i = 1; i <= waiting_.size(); ++i) {
    const std::size_t port = (last_owner_ + i) % waiting_.size();
    if (!waiting_[port]) continue;
    owner_ = last_owner_ = static_cast<unsigned>(port);
    return;
  }
}

}  // namespace gemm64
