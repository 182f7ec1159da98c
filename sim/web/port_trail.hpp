// SPDX-License-Identifier: Apache-2.0
// The addresses of all that crosses the memory ports, and of what the buffers on the chip hold.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sim/waves/signal_view.hpp"

namespace gemm64::web {

/// Follows the ports cycle by cycle, from their handshakes only.
class PortTrail {
 public:
  static constexpr std::uint32_t kNoBeat = 0xffffffff;

  /// Where a word of a buffer came from, and the cycle in which it came over its port.
  struct Filled {
    std::uint32_t address = kNoBeat;
    std::uint64_t clock = 0;
  };

  /// Of the beats on the weights, data and results ports in a cycle; kNoBeat where none moved.
  using Addresses = std::array<std::uint32_t, 3>;

  /// `width`: bytes of a beat. What is written from `snapshots` on to `snapshots_end` is no result.
  PortTrail(const NamedSignals& signals, std::uint32_t width, std::uint64_t snapshots,
            std::uint64_t snapshots_end);

  /// The next cycle, in which the signals have settled.
  Addresses clock(std::uint64_t clock);

  /// The words of the buffer "weights", "scratchpad" or "operands"; empty for another, and where
  /// the model does not show it.
  const std::vector<Filled>& filled(const std::string& buffer) const;
  struct Burst {
    std::uint32_t next = 0;  // address of the next beat
    std::uint32_t left = 0;  // beats
  };
  /// Bursts whose address was given and whose beats have not all come, of the three ports.
  std::array<std::vector<Burst>, 3> under_way() const;

  /// Beats of results that have been sent.
  std::uint64_t stored() const { return stored_; }

 private:
  struct ReadPort {
    SignalView arvalid, arready, araddr, arlen, arid, rvalid, rready, rid;
    std::array<std::deque<Burst>, 4> bursts;  // by the ID of their reader
  };
  struct Buffer {
    const char* name;
    SignalView write;  // where its next word goes
    std::vector<Filled> words;
  };

  std::uint32_t read(ReadPort& port);
  std::uint32_t write();
  static void fill(Buffer& buffer, std::uint32_t address, std::uint64_t clock);

  const std::uint32_t width_;
  const std::uint64_t snapshots_, snapshots_end_;
  ReadPort weights_, data_;
  SignalView awvalid_, awready_, awaddr_, awlen_, wvalid_, wready_;
  std::deque<Burst> writes_;
  std::uint32_t early_ = 0;  // beats that were written ahead of their address
  std::uint64_t stored_ = 0;
  std::vector<Buffer> buffers_;  // weights, scratchpad, operands
};

}  // namespace gemm64::web
