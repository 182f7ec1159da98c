// SPDX-License-Identifier: Apache-2.0
// What carries whole bursts out in place of a port's own memory: the way to a bus.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/memory/axi_response.hpp"

namespace gemm64 {

/// Called in the cycle in which a read's address is accepted, or a write's last beat; the data of a
/// read is what the target holds then.
class BurstTarget {
 public:
  virtual ~BurstTarget() = default;

  struct Answer {
    AxiResponse response = AxiResponse::kOkay;
    /// Cycles from the call to the first beat of a read, or to the response of a write; at least 1.
    std::uint64_t latency = 1;
  };

  virtual Answer read(std::uint64_t address, std::uint8_t* data, std::size_t bytes) = 0;
  /// Writes the bytes whose `enables` are 0xff, and not those whose are 0; nullptr: all.
  virtual Answer write(std::uint64_t address, const std::uint8_t* data, const std::uint8_t* enables,
                       std::size_t bytes) = 0;
};

}  // namespace gemm64
