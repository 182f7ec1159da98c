// SPDX-License-Identifier: Apache-2.0
#include "host/debug/command_tiles.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "host/device/snapshot.hpp"

namespace gemm64 {
namespace {

nlohmann::ordered_json fields(const Command& command) {
  nlohmann::ordered_json json = {{"command", 0}};
  const auto add = [&json](const char* field, std::uint64_t value) {
    if (value != 0) json[field] = value;  // what an opcode does not use is zero
  };
  add("flags", command.flags);
  add("rows", command.rows);
  add("count", command.count);
  add("passes", command.passes);
  add("blocks", command.blocks);
  add("address", command.address());
  return json;
}

/// The MATMUL that a command loads or stores for, and the blocks of M before it.
struct Served {
  const Command* matmul;
  std::uint64_t first_m;
};

/// The engines take their commands in order, so the i-th of each kind serves the i-th MATMUL.
Served served_by(const std::vector<Command>& program, std::size_t index) {
  std::size_t ordinal = 0;
  for (std::size_t i = 0; i < index; ++i) {
    if (program[i].opcode == program[index].opcode) ++ordinal;
  }
  std::uint64_t first_m = 0;
  for (const Command& command : program) {
    if (command.opcode != Opcode::kMatmul) continue;
    if (ordinal == 0) return {&command, first_m};
    --ordinal;
    first_m += command.blocks;
  }
  throw std::logic_error("a job's program has a load or a store without a MATMUL");
}

}  // namespace

std::string to_string(const TileSpan& span) {
  std::string text;
  const auto add = [&text](char axis, std::int64_t block) {
    if (block < 0) return;
    if (!text.empty()) text += ' ';
    text += axis + std::to_string(block);
  };
  add('m', span.m);
  add('k', span.k);
  add('n', span.n);
  return text;
}

TileSpan CommandTiles::span(std::uint64_t tile) const {
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  TileSpan span;
  if (has_m) span.m = first_m + number(tile / (k_tiles * n_tiles));
  if (has_k) span.k = number(tile % k_tiles);
  if (has_n) span.n = number(tile / k_tiles % n_tiles);
  return span;
}

CommandTiles lone_command_tiles(const Command& command, std::uint32_t array) {
  CommandTiles work;
  work.fields = fields(command);
  work.title = name(command.opcode);
  if (!is_snapshot(command)) return work;
  work.title += " SNAPSHOT";
  work.tiles = 1;
  work.transfers = snapshot_beats(array);
  work.has_m = work.has_k = work.has_n = false;
  return work;
}

CommandTiles command_tiles(const Job& job, std::size_t index) {
  const Plan& plan = job.plan;
  const Command& command = job.program[index];
  CommandTiles work = lone_command_tiles(command, plan.array);
  work.fields["command"] = index;
  if (command.opcode == Opcode::kFence || command.opcode == Opcode::kFinish) return work;

  const auto [matmul, first_m] = served_by(job.program, index);
  const std::uint64_t m = std::uint64_t{matmul->rows} * matmul->blocks;
  work.first_m = static_cast<std::int64_t>(first_m);
  work.has_m = plan.row_blocks() > 1;
  work.k_tiles = plan.k_tiles;
  work.n_tiles = plan.n_tiles;
  const std::uint64_t count = command.count;
  switch (command.opcode) {
    case Opcode::kLoadWeights:
      work.title += fmt::format(" {}x{}", plan.shape.k, plan.shape.n);
      work.tiles = count * command.passes / plan.array;
      work.transfers = plan.array;
      break;
    case Opcode::kLoadActivations:
      work.title += fmt::format(" {}x{}", m, plan.shape.k);
      work.tiles = count * command.passes * command.blocks / matmul->rows;
      work.transfers = matmul->rows;
      work.n_tiles = command.passes;
      work.has_n = (matmul->flags & flag::kRetain) == 0;
      break;
    case Opcode::kMatmul:
      work.title += fmt::format(" {}x{}x{}", m, plan.shape.k, plan.shape.n);
      work.tiles = count * command.passes * command.blocks;
      work.transfers = command.rows;
      break;
    case Opcode::kStore:
      work.title += fmt::format(" {}x{}", m, plan.shape.n);
      work.tiles = count;
      work.transfers = std::uint64_t{command.rows} * plan.results.beats_per_row();
      work.has_k = plan.accumulate == Accumulate::kHost;
      if (!work.has_k) work.k_tiles = 1;
      break;
    case Opcode::kFence:
    case Opcode::kFinish:
      break;
  }
  return work;
}

}  // namespace gemm64
