// SPDX-License-Identifier: Apache-2.0
// What an accelerator says of itself: the sizes that tiling and the cycle model depend on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "host/device/device.hpp"
#include "host/device/result_format.hpp"

namespace gemm64 {

/// Sizes of one accelerator. The defaults are those of rtl/gemm64.v.
struct Geometry {
  std::uint32_t n = 64;                   // rows and columns of the array, bytes of a bus beat
  std::uint32_t stage_rows = 4;           // rows added before a partial-sum register
  std::uint32_t weight_tiles = 16;        // tiles in the weight buffer
  std::uint32_t scratchpad_words = 9216;  // words of n activations
  std::uint32_t accumulator_rows = 128;   // rows in each of two banks
  std::uint32_t reads = 16;               // read bursts in flight, for each reader
  std::uint32_t writes = 16;              // write bursts in flight
  std::uint32_t commands = 16;            // commands fetched ahead
  std::uint32_t burst_beats = 64;         // beats of the longest burst
  std::uint32_t address_width = 40;       // bits of a memory address
  std::uint32_t parameter_sets = 16;      // sets of parameters in the parameter buffer
  std::uint32_t tensor_words = 6144;      // words at the scratchpad's end that can be tensor memory
  bool tensor_memory = false;             // they are, and scratchpad_words is without them

  friend bool operator==(const Geometry& a, const Geometry& b) {
    const auto all = [](const Geometry& g) {
      return std::tie(g.n, g.stage_rows, g.weight_tiles, g.scratchpad_words, g.accumulator_rows,
                      g.reads, g.writes, g.commands, g.burst_beats, g.address_width,
                      g.parameter_sets, g.tensor_words, g.tensor_memory);
    };
    return all(a) == all(b);
  }

  /// Cycles from the read of a row of activations to the write of its last sum: the stages of the
  /// array, its columns, and the accumulator's clock.
  std::uint32_t pipeline() const { return n / stage_rows + n + 1; }
  /// Beats of the longest burst of weights: at most half of their buffer.
  std::uint32_t weight_burst_beats() const { return std::min(burst_beats, weight_tiles * n / 2); }
  /// Words of the parameter buffer.
  std::uint32_t parameter_words() const { return parameter_sets * kParameterSetWords; }
  /// Beats of the longest burst of parameters: at most half of their buffer.
  std::uint32_t parameter_burst_beats() const {
    return std::min(burst_beats, parameter_words() / 2);
  }
  /// Words of the operand buffer, a power of two: those of two blocks, and of two more, which are
  /// on their way then, or of a table.
  std::uint32_t operand_words() const {
    const std::uint32_t least = 2 * accumulator_rows + std::max(2 * accumulator_rows, 256 / n);
    std::uint32_t words = 1;
    while (words < least) words *= 2;
    return words;
  }
  /// Beats of the longest burst of operands: at most half of their buffer.
  std::uint32_t operand_burst_beats() const { return std::min(burst_beats, operand_words() / 2); }
  bool has_tensor_memory() const {
    return tensor_words != 0 && (tensor_memory || tensor_words < scratchpad_words);
  }
  /// The address of the first word of the tensor memory.
  std::uint64_t tensor_base() const { return std::uint64_t{1} << (address_width - 1); }
  /// Is it an address of the tensor memory, or after its end?
  bool in_tensor_memory(std::uint64_t address) const {
    return tensor_memory && address >= tensor_base();
  }
  /// The same accelerator with its tensor memory enabled.
  Geometry with_tensor_memory() const {
    Geometry with = *this;
    if (!tensor_memory) with.scratchpad_words -= tensor_words;
    with.tensor_memory = true;
    return with;
  }
  /// Multiply-accumulates in a cycle.
  std::uint64_t macs_per_clock() const { return std::uint64_t{n} * n; }
};

/// Reads the geometry from the registers, but for TENSOR_WORDS, which has its default. Throws
/// DeviceError where the device is no gemm64 or has another major version than this driver.
Geometry read_geometry(Device& device);
/// The same with TENSOR_WORDS, one register more.
Geometry read_design_geometry(Device& device);
/// As read_geometry(), of a device that is known to be a gemm64: register ID is not read.
Geometry read_sizes(Device& device);
/// The words of the tensor memory of an accelerator whose parameter TENSOR_WORDS has its default.
std::uint32_t usual_tensor_words(const Geometry& geometry);

}  // namespace gemm64
