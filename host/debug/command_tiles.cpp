// SPDX-License-Identifier: Apache-2.0
#include "host/debug/command_tiles.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "host/device/result_format.hpp"
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
  add("format", command.format);
  add("stride", command.stride);
  return json;
}

/// What a command moves of one tile: words, or the tile as a whole.
std::uint64_t unit_of(const Command& command, std::uint32_t array) {
  switch (command.opcode) {
    case Opcode::kLoadWeights:
      return array;
    case Opcode::kLoadActivations:
      return command.rows;
    case Opcode::kLoadParameters:
      return kParameterSetWords;
    default:
      return 1;
  }
}

/// What it moves in all.
std::uint64_t moved_by(const Command& command) {
  const std::uint64_t count = command.count;
  switch (command.opcode) {
    case Opcode::kLoadActivations:
      return count * command.rows * command.passes * command.blocks;
    case Opcode::kStore:
      return count * command.blocks;
    case Opcode::kMatmul:
      return 1;
    default:
      return count * command.passes;
  }
}

/// What all commands of `opcode` move for a MATMUL.
std::uint64_t moved_for(const Command& matmul, Opcode opcode, std::uint32_t array) {
  const std::uint64_t tiles = std::uint64_t{matmul.count} * matmul.passes * matmul.blocks;
  const bool accumulate = (matmul.flags & flag::kAccumulate) != 0;
  const bool retain = (matmul.flags & flag::kRetain) != 0;
  const std::uint64_t results = accumulate ? tiles / matmul.count : tiles;
  switch (opcode) {
    case Opcode::kLoadWeights:
      return tiles * array;
    case Opcode::kLoadActivations:
      return tiles * matmul.rows / (retain ? matmul.passes : 1);
    case Opcode::kLoadParameters:
      return results * kParameterSetWords;
    case Opcode::kStore:
      return results;
    default:
      return 1;
  }
}

/// The MATMUL that a command loads or stores for, the blocks of M before it, and what others have
/// moved for it before.
struct Served {
  const Command* matmul;
  std::uint64_t first_m;
  std::uint64_t moved;
};

/// The engines take their commands in order, and so does each MATMUL what they move.
Served served_by(const std::vector<Command>& program, std::size_t index, std::uint32_t array) {
  const Opcode opcode = program[index].opcode;
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < index; ++i) {
    if (program[i].opcode == opcode) moved += moved_by(program[i]);
  }
  std::uint64_t first_m = 0;
  for (const Command& command : program) {
    if (command.opcode != Opcode::kMatmul) continue;
    const std::uint64_t all = moved_for(command, opcode, array);
    if (moved < all) return {&command, first_m, moved};
    moved -= all;
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
  tile += first_tile;
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

  const auto [matmul, first_m, moved] = served_by(job.program, index, plan.array);
  const std::uint64_t unit = unit_of(command, plan.array);
  work.tiles = moved_by(command) / unit;
  work.first_tile = moved / unit;
  const std::uint64_t m = std::uint64_t{matmul->rows} * matmul->blocks;
  work.first_m = static_cast<std::int64_t>(first_m);
  work.has_m = plan.row_blocks() > 1;
  work.k_tiles = plan.k_tiles;
  work.n_tiles = plan.n_tiles;
  switch (command.opcode) {
    case Opcode::kLoadWeights:
      work.title += fmt::format(" {}x{}", plan.shape.k, plan.shape.n);
      work.transfers = unit;
      break;
    case Opcode::kLoadActivations:
      work.title += fmt::format(" {}x{}", m, plan.shape.k);
      work.transfers = unit;
      work.n_tiles = command.passes;
      work.has_n = (matmul->flags & flag::kRetain) == 0;
      break;
    case Opcode::kMatmul:
      work.title += fmt::format(" {}x{}x{}", m, plan.shape.k, plan.shape.n);
      work.tiles = std::uint64_t{command.count} * command.passes * command.blocks;
      work.transfers = command.rows;
      break;
    case Opcode::kStore:
      work.title += fmt::format(" {}x{}", m, plan.shape.n);
      work.transfers = std::uint64_t{command.rows} * plan.results().beats_per_row();
      work.has_k = plan.accumulate == Accumulate::kHost;
      if (!work.has_k) work.k_tiles = 1;
      break;
    case Opcode::kLoadParameters:
      work.title += fmt::format(" {}", plan.shape.n);
      work.transfers = unit;
      work.has_k = false;
      work.k_tiles = 1;
      break;
    case Opcode::kSetWindow:
    case Opcode::kFence:
    case Opcode::kFinish:
      break;
  }
  return work;
}

}  // namespace gemm64
