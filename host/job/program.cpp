// SPDX-License-Identifier: Apache-2.0
#include "host/job/program.hpp"

#include <fmt/format.h>

#include "host/error.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kMaxRing = 65536;

std::uint32_t count_of(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

Command load_weights(const Plan& plan, const Layout& layout, const RowGroup& group) {
  Command load;
  load.opcode = Opcode::kLoadWeights;
  load.count = count_of(plan.tiles() * plan.array);
  load.passes = group.blocks;
  load.set_address(layout.weights);
  return load;
}

Command load_activations(const Plan& plan, const Layout& layout, const RowGroup& group) {
  Command load;
  load.opcode = Opcode::kLoadActivations;
  load.rows = group.rows;
  load.count = plan.k_tiles;
  load.passes = group.retain ? 1 : plan.n_tiles;
  load.blocks = group.blocks;
  load.set_address(layout.activations + group.first_row * plan.array);
  load.stride = count_of(plan.shape.m);
  return load;
}

Command matmul(const Plan& plan, const RowGroup& group) {
  Command matmul;
  matmul.opcode = Opcode::kMatmul;
  matmul.flags = (plan.accumulate == Accumulate::kDevice ? flag::kAccumulate : 0) |
                 (group.retain ? flag::kRetain : 0);
  matmul.rows = group.rows;
  matmul.count = plan.k_tiles;
  matmul.passes = plan.n_tiles;
  matmul.blocks = group.blocks;
  return matmul;
}

Command load_parameters(const Plan& plan, const Layout& layout, const RowGroup& group) {
  Command load;
  load.opcode = Opcode::kLoadParameters;
  load.count = count_of(plan.parameter_bytes() / plan.array);
  load.passes = group.blocks;
  load.set_address(layout.parameters);
  return load;
}

Command store(const Plan& plan, const Layout& layout, const RowGroup& group) {
  const auto byte = [](int value) { return static_cast<std::uint32_t>(value) & 0xff; };
  Command store;
  store.opcode = Opcode::kStore;
  store.rows = group.rows;
  store.count = count_of(plan.result_blocks());
  store.blocks = group.blocks;
  store.set_address(layout.results + plan.results().block_bytes(group.first_row, plan.array));
  store.format = plan.results().number();
  store.zero = byte(plan.output.zero);
  store.low = byte(plan.output.low);
  store.high = byte(plan.output.high);
  store.stride = count_of(plan.shape.m);
  return store;
}

/// Adds a command that moves tiles; with a seam, the last of them by another one. `row_bytes`: of
/// a tile.
void push(std::vector<Command>& program, Command command, bool seam, std::uint64_t row_bytes) {
  if (seam) {
    --command.count;
    program.push_back(command);
    command.set_address(command.address() +
                        std::uint64_t{command.count} * command.stride * row_bytes);
    command.count = 1;
  }
  program.push_back(command);
}

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

Layout make_layout(const Plan& plan, std::uint64_t from, std::optional<std::uint64_t> activations) {
  Layout layout;
  layout.weights = page_up(from);
  layout.parameters = page_up(layout.weights + plan.weight_bytes());
  const std::uint64_t behind = page_up(layout.parameters + plan.parameter_bytes());
  layout.activations = activations.value_or(behind);
  layout.results = activations ? behind : page_up(behind + plan.activation_bytes());
  layout.end = layout.results + plan.result_bytes();
  return layout;
}

std::uint64_t program_length(const Plan& plan) {
  if (plan.window) return make_program(plan, {}).size();
  const std::uint64_t loads_and_more = plan.results().takes_parameters() ? 5 : 4;
  return loads_and_more * plan.groups.size() + 1;
}

bool can_have_seam_before(const Plan& plan) {
  return !plan.window && plan.row_blocks() == 1 && plan.groups[0].retain && plan.k_tiles > 1;
}

bool can_have_seam_behind(const Plan& plan) {
  return !plan.window && plan.row_blocks() == 1 && plan.result_blocks() > 1;
}

std::vector<Command> make_program(const Plan& plan, const Layout& layout, const Seams& seams) {
  if (plan.window) {
    WindowOperands operands{layout.weights, layout.activations, layout.parameters,
                            plan.window->convolution.zero, store(plan, layout, plan.groups[0])};
    std::vector<Command> program = window_program(plan.window->strips[0].plan, operands);
    Command finish;
    finish.opcode = Opcode::kFinish;
    program.push_back(finish);
    return program;
  }
  std::vector<Command> program;
  for (const RowGroup& group : plan.groups) {
    for (const Command& command : {load_weights(plan, layout, group),
                                   load_activations(plan, layout, group), matmul(plan, group)}) {
      push(program, command, command.opcode == Opcode::kLoadActivations && seams.before,
           plan.array);
    }
    if (plan.results().takes_parameters()) program.push_back(load_parameters(plan, layout, group));
    push(program, store(plan, layout, group), seams.behind,
         plan.results().block_bytes(1, plan.array));
  }
  Command finish;
  finish.opcode = Opcode::kFinish;
  program.push_back(finish);
  return program;
}

}  // namespace gemm64
