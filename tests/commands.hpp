// SPDX-License-Identifier: Apache-2.0
// Commands by their fields.
#pragma once

#include <cstdint>
#include <vector>

#include "host/device/device.hpp"
#include "host/device/registers.hpp"

namespace gemm64 {

inline Command load_weights(std::uint64_t address, std::uint32_t count, std::uint32_t passes = 1) {
  Command command;
  command.opcode = Opcode::kLoadWeights;
  command.count = count;
  command.passes = passes;
  command.set_address(address);
  return command;
}

inline Command load_parameters(std::uint64_t address, std::uint32_t count,
                               std::uint32_t passes = 1) {
  Command command = load_weights(address, count, passes);
  command.opcode = Opcode::kLoadParameters;
  return command;
}

/// `count` words that follow each other: tiles of one row.
inline Command load_activations(std::uint64_t address, std::uint32_t count,
                                std::uint32_t passes = 1, std::uint32_t blocks = 1) {
  Command command;
  command.opcode = Opcode::kLoadActivations;
  command.rows = command.stride = 1;
  command.count = count;
  command.passes = passes;
  command.blocks = blocks;
  command.set_address(address);
  return command;
}

inline Command matmul(std::uint32_t rows, std::uint32_t count = 1, std::uint32_t passes = 1,
                      std::uint32_t blocks = 1, std::uint32_t flags = flag::kAccumulate) {
  Command command;
  command.opcode = Opcode::kMatmul;
  command.flags = flags;
  command.rows = rows;
  command.count = count;
  command.passes = passes;
  command.blocks = blocks;
  return command;
}

inline Command store(std::uint64_t address, std::uint32_t rows, std::uint32_t count = 1) {
  Command command;
  command.opcode = Opcode::kStore;
  command.rows = command.stride = rows;
  command.count = count;
  command.blocks = 1;
  command.set_address(address);
  return command;
}

inline Command finish() {
  Command command;
  command.opcode = Opcode::kFinish;
  return command;
}

/// A FENCE that leaves `open` STOREs.
inline Command fence(std::uint32_t open = 0) {
  Command command;
  command.opcode = Opcode::kFence;
  command.count = open;
  return command;
}

/// One that writes a snapshot.
inline Command snapshot(std::uint64_t address, std::uint32_t open = 0) {
  Command command = fence(open);
  command.flags = flag::kSnapshot;
  command.set_address(address);
  return command;
}

/// One tile of weights by `rows` rows of activations, on an array of n x n.
inline std::vector<Command> tile_product(std::uint32_t n, std::uint32_t rows, std::uint64_t weights,
                                         std::uint64_t activations, std::uint64_t results) {
  Command load = load_activations(activations, 1);
  load.rows = load.stride = rows;
  return {load_weights(weights, n), load, matmul(rows), store(results, rows), finish()};
}

/// Writes a command to memory.
inline void put(Device& device, std::uint64_t address, const Command& command) {
  std::uint8_t bytes[kCommandBytes];
  command.encode(bytes);
  device.write_memory(address, bytes, sizeof bytes);
}

}  // namespace gemm64
