// SPDX-License-Identifier: Apache-2.0
// The plainest program of a window: all weights for each block, and a STORE for all blocks of one
// height. Jobs make better ones; this one rests on the window's plan only.
#pragma once

#include "host/tiling/window_plan.hpp"
#include "tests/test.hpp"

namespace gemm64 {

/// Where a convolution's operands and results lie.
struct WindowOperands {
  std::uint64_t weights = 0, activations = 0;
  std::uint64_t parameters = 0;  // of 8-bit results, a set for each pass
  std::int8_t zero = 0;          // beyond the border
  Command results;               // ADDRESS, FORMAT, ZERO, LOW and HIGH of the STOREs
};

/// All commands, without a FENCE or FINISH. The results are planes too.
inline std::vector<Command> window_program(const WindowPlan& plan, const WindowOperands& operands) {
  const Window& w = plan.window;
  const auto blocks = static_cast<std::uint32_t>(plan.blocks.size());
  const bool ragged = plan.blocks.back().rows != plan.blocks.front().rows;
  std::vector<Command> program;
  const auto load = [&](Opcode opcode, std::uint64_t words, std::uint64_t address) {
    Command command;
    command.opcode = opcode;
    command.count = static_cast<std::uint32_t>(words);
    command.passes = blocks;  // each block takes all of them
    command.set_address(address);
    program.push_back(command);
  };
  const auto store = [&](const WindowBlock& block, std::uint32_t equal) {
    Command command = operands.results;
    const std::uint64_t bytes =
        operands.results.format == static_cast<std::uint32_t>(ResultCode::kInt32) ? 4 : 1;
    command.opcode = Opcode::kStore;
    command.rows = block.rows;
    command.count = w.passes();
    command.blocks = equal;
    command.stride = static_cast<std::uint32_t>(w.out_pixels());
    command.set_address(operands.results.address() + block.first * plan.n * bytes);
    program.push_back(command);
  };

  load(Opcode::kLoadWeights, w.tiles() * plan.n, operands.weights);
  if (operands.results.format != static_cast<std::uint32_t>(ResultCode::kInt32)) {
    load(Opcode::kLoadParameters, std::uint64_t{8} * w.passes(), operands.parameters);
  }
  program.push_back(set_window(plan, operands.zero));
  bool start = true;
  for (const WindowBlock& block : plan.blocks) {
    if (block.new_pixels != 0) {
      program.push_back(load_window(plan, block, 0, w.planes, operands.activations, start));
      start = false;
    }
    program.push_back(matmul_window(plan, block));
    if (&block == &plan.blocks.front()) store(block, blocks - (ragged ? 1 : 0));
    if (&block == &plan.blocks.back() && ragged) store(block, 1);
  }
  return program;
}

}  // namespace gemm64
