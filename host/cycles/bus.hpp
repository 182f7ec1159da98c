// SPDX-License-Identifier: Apache-2.0
// The accelerator's three ports and their memory.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "host/cycles/arbiter.hpp"
#include "host/cycles/memory_port.hpp"
#include "host/cycles/rate.hpp"
#include "host/device/memory_timing.hpp"

namespace gemm64::cycles {

class Bus {
 public:
  /// The engines of the ports of weights, data and results. `rate`: of each port, of all where
  /// they share a memory. `width`: bytes of a beat.
  Bus(const MemoryTiming& memory, const Rate& rate, std::uint32_t width,
      const std::array<std::vector<Requester*>, 3>& users);
  /// The tensor memory, which has a port for reads and one for writes.
  void add_tensor_memory(const Rate& rate, const std::array<std::vector<Requester*>, 2>& users);

  /// As Arbiter's.
  bool advance();
  bool advance_when_stuck();

  /// What a DRAM channel counted.
  DramCounts dram_counts() const { return dram_ ? dram_->channel.counts() : DramCounts{}; }

 private:
  std::optional<Dram> dram_;
  std::deque<Budget> budgets_;
  std::deque<MemoryPort> ports_;
  std::deque<Arbiter> arbiters_;
};

}  // namespace gemm64::cycles
