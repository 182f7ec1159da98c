// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/bus.hpp"

namespace gemm64::cycles {

Bus::Bus(const MemoryTiming& memory, const Rate& rate, std::uint32_t width,
         const std::array<std::vector<Requester*>, 3>& users) {
  const bool independent = memory.sharing == MemorySharing::kIndependent;
  const bool in_order = memory.sharing == MemorySharing::kShared;
  check(memory);
  if (memory.sharing == MemorySharing::kDram) dram_.emplace(memory.dram);
  std::vector<PortUsers> together;
  for (const auto& of_port : users) {
    if (independent || budgets_.empty()) budgets_.emplace_back(rate);
    if (dram_) {
      ports_.emplace_back(memory.latency, budgets_.back(), *dram_, width);
    } else {
      ports_.emplace_back(memory.latency, in_order, budgets_.back());
    }
    together.push_back({ports_.back(), of_port});
    if (!independent) continue;
    arbiters_.emplace_back(memory.sharing, together);
    together.clear();
  }
  if (!independent) arbiters_.emplace_back(memory.sharing, together);
}

void Bus::add_tensor_memory(const Rate& rate, const std::array<std::vector<Requester*>, 2>& users) {
  constexpr Cycle kLatency = 1;
  constexpr std::size_t kData = 1;  // the port of reads; that of results follows
  for (std::size_t i = 0; i < users.size(); ++i) {
    const auto& of_port = users[i];
    ports_.emplace_back(kLatency, budgets_.emplace_back(Rate()), rate.full());
    MemoryPort& other = ports_[kData + i];
    ports_.back().set_other(other);
    other.set_other(ports_.back());
    arbiters_.emplace_back(MemorySharing::kIndependent,
                           std::vector<PortUsers>{{ports_.back(), of_port}});
  }
}

bool Bus::advance() {
  bool moved = false;
  for (Arbiter& arbiter : arbiters_) moved |= arbiter.advance();
  return moved;
}

bool Bus::advance_when_stuck() {
  for (Arbiter& arbiter : arbiters_) {
    if (arbiter.advance_when_stuck()) return true;
  }
  return false;
}

}  // namespace gemm64::cycles
