// SPDX-License-Identifier: Apache-2.0
#include "host/debug/command_tiles.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"
#include "host/device/window_taps.hpp"

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
  if (!is_window(command)) return json;
  add("zero", command.opcode == Opcode::kSetWindow ? command.zero : 0);
  add("kernel_height", command.kernel_height);
  add("kernel_width", command.kernel_width);
  add("stride_height", command.stride_height);
  add("stride_width", command.stride_width);
  add("dilation_height", command.dilation_height);
  add("dilation_width", command.dilation_width);
  add("pad_top", command.pad_top);
  add("pad_left", command.pad_left);
  add("height", command.height);
  add("width", command.width);
  add("out_height", command.out_height);
  add("out_width", command.out_width);
  add("group_passes", command.group_passes);
  add("capacity", command.capacity);
  add("slot", command.slot);
  add("place", command.place);
  add("out_row", command.out_row);
  add("out_column", command.out_column);
  const auto add_signed = [&json](const char* field, std::uint32_t value) {
    if (value != 0) json[field] = static_cast<std::int32_t>(value);
  };
  add_signed("in_row", command.in_row);
  add_signed("in_column", command.in_column);
  add("new_pixels", command.new_pixels);
  add("freed_pixels", command.freed_pixels);
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

std::uint32_t taps_of(const Command& set) { return set.kernel_height * set.kernel_width; }

/// Words of pixels that a block of a window brings: of the planes of all groups.
std::uint64_t pixels_for(const Command& matmul, const Command& set) {
  const std::uint64_t groups = (matmul.passes + set.group_passes - 1) / set.group_passes;
  return groups * matmul.count * matmul.new_pixels;
}

/// What all commands of `opcode` move for a MATMUL. `set`: the SET_WINDOW before it.
std::uint64_t moved_for(const Command& matmul, const Command& set, Opcode opcode,
                        std::uint32_t array) {
  const bool window = is_window(matmul);
  const std::uint64_t tiles = std::uint64_t{matmul.count} * matmul.passes * matmul.blocks;
  const bool accumulate = (matmul.flags & flag::kAccumulate) != 0;
  const bool retain = (matmul.flags & flag::kRetain) != 0;
  const std::uint64_t results = accumulate ? tiles / matmul.count : tiles;
  switch (opcode) {
    case Opcode::kLoadWeights:
      return tiles * array * (window ? taps_of(set) : 1);
    case Opcode::kLoadActivations:
      if (window) return pixels_for(matmul, set);
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
  Command set;  // of a window: the SET_WINDOW before it
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
  Command set;
  for (const Command& command : program) {
    if (command.opcode == Opcode::kSetWindow) set = command;
    if (command.opcode != Opcode::kMatmul) continue;
    const std::uint64_t all = moved_for(command, set, opcode, array);
    if (moved < all) return {&command, set, first_m, moved};
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
  add('p', span.plane);
  return text;
}

TileSpan CommandTiles::span(std::uint64_t tile) const {
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  TileSpan span;
  if (planes) {
    if (has_m) span.m = first_m;
    span.plane = number(first_plane + tile);
    return span;
  }
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
  switch (command.opcode) {
    case Opcode::kFence:
    case Opcode::kFinish:
      return work;
    case Opcode::kSetWindow:
      work.title += fmt::format(" {}x{}", command.kernel_height, command.kernel_width);
      return work;
    default:
      break;
  }

  const auto [matmul, set, first_m, moved] = served_by(job.program, index, plan.array);
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
      work.transfers = unit;
      if (is_window(command)) {
        work.title += fmt::format(" {} pixels", command.rows);
        work.planes = true;
        work.first_plane = command.place / command.capacity;
        break;
      }
      work.title += fmt::format(" {}x{}", m, plan.shape.k);
      work.n_tiles = command.passes;
      work.has_n = (matmul->flags & flag::kRetain) == 0;
      break;
    case Opcode::kMatmul:
      work.title += fmt::format(" {}x{}x{}", m, plan.shape.k, plan.shape.n);
      work.tiles = std::uint64_t{command.count} * command.passes * command.blocks;
      if (is_window(command)) work.tiles *= taps_of(set);
      work.transfers = command.rows;
      break;
    case Opcode::kStore:
      work.title +=
          fmt::format(" {}x{}", std::uint64_t{command.rows} * command.blocks, plan.shape.n);
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
