// SPDX-License-Identifier: Apache-2.0
#include "host/check/command_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "host/device/commands.hpp"
#include "host/device/depthwise.hpp"
#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"
#include "host/device/vector_path.hpp"
#include "host/device/window_taps.hpp"

namespace gemm64 {
namespace {

constexpr std::uint32_t kFirstFlaggedWord = 8;  // words from here on need WINDOW or VECTOR

nlohmann::ordered_json fields(const Command& command) {
  nlohmann::ordered_json json = {{"command", 0}};
  for (const CommandField& field : kCommandFields) {
    const bool flagged = field.word >= kFirstFlaggedWord && command.opcode != Opcode::kDepthwise;
    if (field.member == nullptr || !field.used_by(command.opcode)) continue;
    if (flagged && !is_window(command) && !is_vector(command)) continue;
    const std::uint32_t value = command.*field.member;
    if (field.member == &Command::address_low || field.member == &Command::address_high) {
      if (command.address() != 0) json["address"] = command.address();
    } else if (value != 0) {
      std::string name = field.name;
      for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
      if (field.is_signed) {
        json[name] = static_cast<std::int32_t>(value);
      } else {
        json[name] = value;
      }
    }
  }
  return json;
}

/// What a command moves of one tile: words, or the tile as a whole.
std::uint64_t unit_of(const Command& command, std::uint32_t array) {
  switch (fact_of(command.opcode)->tile) {
    case Tile::kN:
      return array;
    case Tile::kRows:
      return command.rows;
    case Tile::kSet:
      return kParameterSetWords;
    case Tile::kOne:
      break;
  }
  return 1;
}

/// What it moves in all.
std::uint64_t moved_by(const Command& command) {
  const CommandFact& fact = *fact_of(command.opcode);
  const std::uint64_t runs = value_of(command, fact.runs) * value_of(command, fact.passes) *
                             value_of(command, fact.blocks);
  return fact.tile == Tile::kOne ? runs : runs * value_of(command, fact.run);
}

/// Words of pixels that a block of a window brings: of the planes of all groups.
std::uint64_t pixels_for(const MatmulCommand& matmul, const SetWindowCommand& set) {
  const std::uint64_t groups = (matmul.passes + set.group_passes - 1) / set.group_passes;
  return groups * matmul.count * matmul.new_pixels;
}

/// What all commands of `operand` move for a MATMUL. `set`: the SET_WINDOW before it. `banks`: that
/// its rows fill.
std::uint64_t moved_for(const MatmulCommand& matmul, const SetWindowCommand& set, Operand operand,
                        std::uint32_t array, std::uint64_t banks) {
  const bool window = is_window(matmul);
  const std::uint64_t tiles = std::uint64_t{matmul.count} * matmul.passes * matmul.blocks;
  const bool accumulate = (matmul.flags & flag::kAccumulate) != 0;
  const bool retain = (matmul.flags & flag::kRetain) != 0;
  const std::uint64_t results = banks * (accumulate ? tiles / matmul.count : tiles);
  switch (operand) {
    case Operand::kWeights:
      if ((matmul.flags & flag::kRetainWeights) == 0) {
        return tiles * array * (window ? taps_of(set) : 1);
      }
      return window ? 0 : tiles / matmul.blocks * array;  // 0: those after it take them
    case Operand::kActivations:
      if (window) return pixels_for(matmul, set);
      return tiles * matmul.rows / (retain ? matmul.passes : 1);
    case Operand::kParameters:
      return results * kParameterSetWords;
    case Operand::kResults:
      return results;
    case Operand::kOperands:
    case Operand::kNone:
    case Operand::kCounters:
      break;
  }
  return 1;
}

/// The MATMUL that a command loads or stores for, the blocks of M before it, and what others have
/// moved for it before.
struct Served {
  MatmulCommand matmul;
  SetWindowCommand set;  // of a window: the one before it
  std::uint64_t first_m;
  std::uint64_t moved;
};

std::uint64_t banks_of(const MatmulCommand& matmul, const Plan& plan) {
  return matmul.rows > plan.bank_rows() ? 2 : 1;
}

/// The engines take their commands in order, and so does each MATMUL what they move.
Served served_by(const std::vector<Command>& program, std::size_t index, const Plan& plan) {
  const Operand operand = operand_of(program[index]);
  const auto is_alike = [&](const Command& command) {
    return operand == Operand::kNone ? command.opcode == program[index].opcode
                                     : operand_of(command) == operand;
  };
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < index; ++i) {
    if (is_alike(program[i])) moved += moved_by(program[i]);
  }
  std::uint64_t first_m = 0;
  SetWindowCommand set;
  for (const Command& command : program) {
    if (command.opcode == Opcode::kSetWindow) set = SetWindowCommand(command);
    if (command.opcode != Opcode::kMatmul) continue;
    const MatmulCommand matmul(command);
    const std::uint64_t all = moved_for(matmul, set, operand, plan.array, banks_of(matmul, plan));
    if (moved < all) return {matmul, set, first_m, moved};
    moved -= all;
    first_m += matmul.blocks;
  }
  throw std::logic_error("a job's program has a load or a store without a MATMUL");
}

/// The same of a job on the lanes, where what a command moves is one.
CommandTiles on_lanes(const Plan& plan, const Command& command, Operand operand,
                      CommandTiles work) {
  work.tiles = 1;
  work.transfers = command.opcode == Opcode::kDepthwise
                       ? depthwise_cycles(DepthwiseCommand(command))
                       : moved_by(command);
  if (operand == Operand::kResults)
    work.transfers *= std::uint64_t{command.rows} * plan.results().beats_per_row();
  work.has_m = work.has_k = work.has_n = false;
  return work;
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
  if (has_n) span.n = number(first_n + tile / k_tiles % n_tiles);
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
  const Operand operand = operand_of(command);
  if (command.opcode == Opcode::kSetWindow) {
    const SetWindowCommand set(command);
    work.title += fmt::format(" {}x{}", set.kernel_height, set.kernel_width);
  }
  if (operand == Operand::kOperands) {
    work.tiles = 1;
    work.transfers = moved_by(command) * value_of(command, fact_of(command.opcode)->run);
    work.has_m = work.has_k = work.has_n = false;
    return work;
  }
  const bool works = command.opcode == Opcode::kMatmul || command.opcode == Opcode::kDepthwise ||
                     operand != Operand::kNone;
  if (!works || operand == Operand::kCounters) return work;
  if (plan.lanes) return on_lanes(plan, command, operand, std::move(work));

  const auto [matmul, set, first_m, moved] = served_by(job.program, index, plan);
  const std::uint64_t banks = banks_of(matmul, plan);
  const std::uint64_t unit = unit_of(command, plan.array);
  work.tiles = moved_by(command) / unit;
  work.first_tile = moved / unit;
  const std::uint64_t m = std::uint64_t{matmul.rows} * matmul.blocks;
  work.first_m = static_cast<std::int64_t>(first_m);
  work.has_m = plan.row_blocks() > 1;
  work.k_tiles = plan.k_tiles;
  work.n_tiles = plan.n_tiles;
  if (plan.has_bands() && operand != Operand::kWeights) {
    const auto [block, pass] = plan.window->strips[0].plan.place_in_bands(first_m);
    work.first_m = static_cast<std::int64_t>(block);
    work.first_n = pass;
    work.n_tiles = 1;
  }
  switch (operand) {
    case Operand::kWeights:
      work.has_m &= plan.weight_loads() == plan.row_blocks();
      work.title += fmt::format(" {}x{}", plan.shape.k, plan.shape.n);
      work.transfers = unit;
      break;
    case Operand::kActivations:
      work.transfers = unit;
      if (is_window(command)) {
        const LoadActivationsCommand load(command);
        work.title += fmt::format(" {} pixels", load.rows);
        work.planes = true;
        work.first_plane = load.place / load.capacity;
        break;
      }
      work.title += fmt::format(" {}x{}", m, plan.shape.k);
      work.n_tiles = command.passes;
      work.has_n = (matmul.flags & flag::kRetain) == 0;
      break;
    case Operand::kResults:
      work.title +=
          fmt::format(" {}x{}", std::uint64_t{command.rows} * command.blocks, plan.shape.n);
      work.transfers = std::uint64_t{command.rows} * plan.results().beats_per_row();
      if (banks == 2) {  // a tile of both, or a part of one
        work.transfers *= work.tiles;
        work.first_tile /= banks;
        work.tiles = 1;
      }
      work.has_k = plan.accumulate == Accumulate::kHost;
      if (!work.has_k) work.k_tiles = 1;
      break;
    case Operand::kParameters:
      work.title += fmt::format(" {}", plan.shape.n);
      work.transfers = unit * banks;
      work.first_tile /= banks;
      work.tiles = std::max<std::uint64_t>(work.tiles / banks, 1);
      work.has_k = false;
      work.k_tiles = 1;
      break;
    case Operand::kNone:  // a MATMUL
      work.title += fmt::format(" {}x{}x{}", m, plan.shape.k, plan.shape.n);
      work.tiles = std::uint64_t{matmul.count} * matmul.passes * matmul.blocks;
      if (is_window(matmul)) work.tiles *= taps_of(set);
      work.transfers = matmul.rows;
      break;
    case Operand::kOperands:
    case Operand::kCounters:
      break;
  }
  return work;
}

}  // namespace gemm64
