// SPDX-License-Identifier: Apache-2.0
// Where the value of a signal is, in a model that runs.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace gemm64 {

/// Little-endian values of `bytes` bytes each, as long as the device lives. An unpacked array has
/// `words` of them, the lowest index first; anything else has one, and `words` is 0.
struct SignalView {
  const void* data = nullptr;
  std::size_t bytes = 0;
  std::size_t words = 0;
  /// That many of a value's bits, the lowest first, may be changed between cycles: it is a
  /// register.
  std::size_t writable_bits = 0;
};

/// By the name of the signal below the top module: "irq_o", "u_registers.ring_tail_o".
using NamedSignals = std::vector<std::pair<std::string, SignalView>>;

}  // namespace gemm64
