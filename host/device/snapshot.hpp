// SPDX-License-Identifier: Apache-2.0
// A snapshot of all counters, as a FENCE writes it to memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/device/command_types.hpp"
#include "host/device/counters.hpp"

namespace gemm64 {

/// Bytes of the counters; what follows up to a whole beat is zero.
inline constexpr std::size_t kSnapshotBytes = sizeof(std::uint64_t) * kCounters.size();

/// Beats of the write port on an array of size N.
constexpr std::uint64_t snapshot_beats(std::uint32_t array) {
  return (kSnapshotBytes + array - 1) / array;
}

/// Does the command write one?
constexpr bool is_snapshot(const FenceCommand& fence) {
  return (fence.flags & flag::kSnapshot) != 0;
}
constexpr bool is_snapshot(const Command& command) {
  return command.opcode == Opcode::kFence && (command.flags & flag::kSnapshot) != 0;
}

/// Writes kSnapshotBytes to `bytes`.
inline void encode_snapshot(const Counters& counters, std::uint8_t* bytes) {
  for (std::size_t i = 0; i < kSnapshotBytes; ++i) {
    bytes[i] = static_cast<std::uint8_t>(counters[i / 8] >> (8 * (i % 8)));
  }
}

/// The counters that lie at `bytes`, as encode_snapshot() writes them.
inline Counters decode_snapshot(const std::uint8_t* bytes) {
  Counters counters{};
  for (std::size_t i = 0; i < kSnapshotBytes; ++i) {
    counters[i / 8] |= std::uint64_t{bytes[i]} << (8 * (i % 8));
  }
  return counters;
}

/// What was counted from one snapshot to a later one.
inline Counters between(const Counters& before, const Counters& after) {
  Counters counters = after;
  for (std::size_t i = 0; i < counters.size(); ++i) counters[i] -= before[i];
  return counters;
}

}  // namespace gemm64
