// SPDX-License-Identifier: Apache-2.0
// Snapshots of the counters as a FENCE leaves them in memory.
#pragma once

#include "host/device/device.hpp"
#include "host/device/snapshot.hpp"
#include "tests/test.hpp"

namespace gemm64::system_test {

/// The snapshot that is at an address.
inline Counters read_snapshot(Device& device, std::uint64_t address) {
  std::uint8_t bytes[kSnapshotBytes];
  device.read_memory(address, bytes, sizeof bytes);
  return decode_snapshot(bytes);
}

}  // namespace gemm64::system_test
