// SPDX-License-Identifier: Apache-2.0
#include "host/job/program.hpp"

#include <fmt/format.h>

#include "host/error.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kMaxRing = 65536;

}  // namespace

std::uint64_t page_up(std::uint64_t address) { return (address + kPage - 1) / kPage * kPage; }

std::uint32_t ring_places(std::uint64_t commands) {
  if (commands >= kMaxRing) {
    throw UsageError(
        fmt::format("a program of {} commands; a ring holds {}", commands, kMaxRing - 1));
  }
  std::uint32_t places = kRingCommands;
  while (places <= commands) places *= 2;
  return places;
}

Layout make_layout(const Plan& plan) { return make_layout(plan, kRingCommands * kCommandBytes); }

Layout make_layout(const Plan& plan, std::uint64_t from) {
  Layout layout;
  layout.weights = page_up(from);
  layout.activations = page_up(layout.weights + plan.weight_bytes());
  layout.results = page_up(layout.activations + plan.activation_bytes());
  layout.end = layout.results + plan.result_bytes();
  return layout;
}

std::uint64_t program_length(const Plan& plan) { return 4 * plan.groups.size() + 1; }

std::vector<Command> make_program(const Plan& plan, const Layout& layout) {
  std::vector<Command> program;
  std::uint64_t activations = layout.activations;
  std::uint64_t results = layout.results;
  for (const RowGroup& group : plan.groups) {
    const std::uint64_t words = std::uint64_t{group.rows} * plan.k_tiles;  // of a block

    Command weights;
    weights.opcode = Opcode::kLoadWeights;
    weights.count = static_cast<std::uint32_t>(plan.tiles() * plan.array);
    weights.passes = group.blocks;
    weights.set_address(layout.weights);
    program.push_back(weights);

    Command load;
    load.opcode = Opcode::kLoadActivations;
    load.count = static_cast<std::uint32_t>(words);
    load.passes = group.retain ? 1 : plan.n_tiles;
    load.blocks = group.blocks;
    load.set_address(activations);
    program.push_back(load);

    Command matmul;
    matmul.opcode = Opcode::kMatmul;
    matmul.flags = (plan.accumulate == Accumulate::kDevice ? flag::kAccumulate : 0) |
                   (group.retain ? flag::kRetain : 0);
    matmul.rows = group.rows;
    matmul.count = plan.k_tiles;
    matmul.passes = plan.n_tiles;
    matmul.blocks = group.blocks;
    program.push_back(matmul);

    Command store;
    store.opcode = Opcode::kStore;
    store.rows = group.rows;
    store.count = static_cast<std::uint32_t>(group.blocks * plan.result_blocks());
    store.set_address(results);
    store.format = plan.results.number();
    program.push_back(store);

    activations += words * group.blocks * plan.array;
    results += plan.results.block_bytes(std::uint64_t{group.rows} * store.count, plan.array);
  }
  Command finish;
  finish.opcode = Opcode::kFinish;
  program.push_back(finish);
  return program;
}

}  // namespace gemm64
