// SPDX-License-Identifier: Apache-2.0
#include "host/debug/command_tiles.hpp"

#include <fmt/format.h>

namespace gemm64 {
namespace {

// A group of blocks of M is LOAD_WEIGHTS, LOAD_ACTIVATIONS, MATMUL and STORE (make_program).
constexpr std::size_t kGroupCommands = 4;

nlohmann::ordered_json fields(std::size_t index, const Command& command) {
  nlohmann::ordered_json json = {{"command", index}};
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

}  // namespace

std::string to_string(const TilePlace& place) {
  std::string text;
  const auto add = [&text](char axis, std::int64_t block) {
    if (block < 0) return;
    if (!text.empty()) text += ' ';
    text += axis + std::to_string(block);
  };
  add('m', place.m);
  add('k', place.k);
  add('n', place.n);
  return text;
}

TilePlace CommandTiles::place(std::uint64_t tile) const {
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  TilePlace place;
  if (has_m) place.m = first_m + number(tile / (k_tiles * n_tiles));
  if (has_k) place.k = number(tile % k_tiles);
  if (has_n) place.n = number(tile / k_tiles % n_tiles);
  return place;
}

CommandTiles command_tiles(const Plan& plan, std::size_t index, const Command& command) {
  CommandTiles work;
  work.fields = fields(index, command);
  work.title = name(command.opcode);
  const std::size_t group_index = index / kGroupCommands;
  if (command.opcode == Opcode::kFinish || group_index >= plan.groups.size()) return work;

  const RowGroup& group = plan.groups[group_index];
  const std::uint64_t m = std::uint64_t{group.rows} * group.blocks;
  for (std::size_t i = 0; i < group_index; ++i) work.first_m += plan.groups[i].blocks;
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
      work.tiles = count * command.passes * command.blocks / group.rows;
      work.transfers = group.rows;
      work.n_tiles = command.passes;
      work.has_n = !group.retain;
      break;
    case Opcode::kMatmul:
      work.title += fmt::format(" {}x{}x{}", m, plan.shape.k, plan.shape.n);
      work.tiles = count * command.passes * command.blocks;
      work.transfers = command.rows;
      break;
    case Opcode::kStore:
      work.title += fmt::format(" {}x{}", m, plan.shape.n);
      work.tiles = count;
      work.transfers = std::uint64_t{command.rows} * 4;  // N sums of 4 bytes are 4 beats
      work.has_k = plan.accumulate == Accumulate::kHost;
      if (!work.has_k) work.k_tiles = 1;
      break;
    case Opcode::kFinish:
      break;
  }
  return work;
}

}  // namespace gemm64
