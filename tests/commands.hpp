// SPDX-License-Identifier: Apache-2.0
// Commands by their fields.
#pragma once

#include "host/device/command_types.hpp"
#include "host/device/device.hpp"
#include "tests/test.hpp"

namespace gemm64 {

inline LoadWeightsCommand load_weights(std::uint64_t address, std::uint32_t count,
                                       std::uint32_t passes = 1) {
  LoadWeightsCommand load;
  load.count = count;
  load.passes = passes;
  load.address = address;
  return load;
}

inline LoadParametersCommand load_parameters(std::uint64_t address, std::uint32_t count,
                                             std::uint32_t passes = 1) {
  LoadParametersCommand load;
  load.count = count;
  load.passes = passes;
  load.address = address;
  return load;
}

/// `rows` words that follow each other.
inline LoadOperandsCommand load_operands(std::uint64_t address, std::uint32_t rows) {
  LoadOperandsCommand load;
  load.rows = load.stride = rows;
  load.count = load.passes = load.blocks = 1;
  load.address = address;
  return load;
}

/// `count` words that follow each other: tiles of one row.
inline LoadActivationsCommand load_activations(std::uint64_t address, std::uint32_t count,
                                               std::uint32_t passes = 1, std::uint32_t blocks = 1) {
  LoadActivationsCommand load;
  load.rows = load.stride = 1;
  load.count = count;
  load.passes = passes;
  load.blocks = blocks;
  load.address = address;
  return load;
}

inline MatmulCommand matmul(std::uint32_t rows, std::uint32_t count = 1, std::uint32_t passes = 1,
                            std::uint32_t blocks = 1, std::uint32_t flags = flag::kAccumulate) {
  MatmulCommand matmul;
  matmul.flags = flags;
  matmul.rows = rows;
  matmul.count = count;
  matmul.passes = passes;
  matmul.blocks = blocks;
  return matmul;
}

inline StoreCommand store(std::uint64_t address, std::uint32_t rows, std::uint32_t count = 1) {
  StoreCommand store;
  store.rows = store.stride = rows;
  store.count = count;
  store.blocks = 1;
  store.address = address;
  return store;
}

inline FinishCommand finish() { return {}; }

/// A FENCE that leaves `open` STOREs.
inline FenceCommand fence(std::uint32_t open = 0) {
  FenceCommand fence;
  fence.count = open;
  return fence;
}

/// One that writes a snapshot.
inline FenceCommand snapshot(std::uint64_t address, std::uint32_t open = 0) {
  FenceCommand command = fence(open);
  command.flags = flag::kSnapshot;
  command.address = address;
  return command;
}

/// One tile of weights by `rows` rows of activations, on an array of n x n.
inline std::vector<Command> tile_product(std::uint32_t n, std::uint32_t rows, std::uint64_t weights,
                                         std::uint64_t activations, std::uint64_t results) {
  LoadActivationsCommand load = load_activations(activations, 1);
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
