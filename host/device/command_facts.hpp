// SPDX-License-Identifier: Apache-2.0
// Made by scripts/generate from rtl/gemm64.json: edit that file, then run `scripts/generate`.
#pragma once

#include "host/device/command_fact.hpp"

namespace gemm64 {

/// Every field of a command.
// clang-format off
inline constexpr std::array<CommandField, 55> kCommandFields{{
    {"OPCODE", 0, 0, 8, 0x3fe, false, nullptr},
    {"FLAGS", 0, 8, 8, 0x05c, false, &Command::flags},
    {"ROWS", 0, 16, 16, 0x21c, false, &Command::rows},
    {"COUNT", 1, 0, 32, 0x2de, false, &Command::count},
    {"PASSES", 2, 0, 32, 0x28e, false, &Command::passes},
    {"BLOCKS", 3, 0, 32, 0x21c, false, &Command::blocks},
    {"ADDRESS_LOW", 4, 0, 32, 0x2d6, false, &Command::address_low},
    {"ADDRESS_HIGH", 5, 0, 32, 0x2d6, false, &Command::address_high},
    {"FORMAT", 6, 0, 4, 0x010, false, &Command::format},
    {"ZERO", 6, 8, 8, 0x110, false, &Command::zero},
    {"LOW", 6, 16, 8, 0x010, false, &Command::low},
    {"HIGH", 6, 24, 8, 0x010, false, &Command::high},
    {"STRIDE", 7, 0, 32, 0x214, false, &Command::stride},
    {"KERNEL_HEIGHT", 8, 0, 8, 0x100, false, &Command::kernel_height},
    {"KERNEL_WIDTH", 8, 8, 8, 0x100, false, &Command::kernel_width},
    {"STRIDE_HEIGHT", 8, 16, 8, 0x100, false, &Command::stride_height},
    {"STRIDE_WIDTH", 8, 24, 8, 0x100, false, &Command::stride_width},
    {"DILATION_HEIGHT", 9, 0, 8, 0x100, false, &Command::dilation_height},
    {"DILATION_WIDTH", 9, 8, 8, 0x100, false, &Command::dilation_width},
    {"PAD_TOP", 9, 16, 8, 0x100, false, &Command::pad_top},
    {"PAD_LEFT", 9, 24, 8, 0x100, false, &Command::pad_left},
    {"HEIGHT", 10, 0, 16, 0x100, false, &Command::height},
    {"WIDTH", 10, 16, 16, 0x100, false, &Command::width},
    {"OUT_HEIGHT", 11, 0, 16, 0x100, false, &Command::out_height},
    {"OUT_WIDTH", 11, 16, 16, 0x100, false, &Command::out_width},
    {"ROW_STEP", 12, 0, 16, 0x100, false, &Command::row_step},
    {"IMAGE_STEP", 12, 16, 16, 0x100, false, &Command::image_step},
    {"TAP_ROW_STEP", 13, 0, 16, 0x100, false, &Command::tap_row_step},
    {"GROUP_PASSES", 13, 16, 16, 0x100, false, &Command::group_passes},
    {"CAPACITY", 14, 0, 16, 0x104, false, &Command::capacity},
    {"SLOT", 14, 16, 16, 0x00c, false, &Command::slot},
    {"PLACE", 15, 0, 32, 0x004, false, &Command::place},
    {"OUT_ROW", 8, 0, 16, 0x008, false, &Command::out_row},
    {"OUT_COLUMN", 8, 16, 16, 0x008, false, &Command::out_column},
    {"IN_ROW", 9, 0, 32, 0x008, true, &Command::in_row},
    {"IN_COLUMN", 10, 0, 32, 0x008, true, &Command::in_column},
    {"NEW_PIXELS", 11, 0, 16, 0x008, false, &Command::new_pixels},
    {"FREED_PIXELS", 11, 16, 16, 0x008, false, &Command::freed_pixels},
    {"RESULT_SCALE", 8, 0, 32, 0x010, false, &Command::result_scale},
    {"OPERAND_SCALE", 9, 0, 32, 0x010, false, &Command::operand_scale},
    {"OFFSET", 10, 0, 32, 0x010, false, &Command::offset},
    {"RESULT_ZERO", 11, 0, 8, 0x010, false, &Command::result_zero},
    {"OPERAND_ZERO", 11, 8, 8, 0x010, false, &Command::operand_zero},
    {"FUNCTION_MIN", 11, 16, 8, 0x010, false, &Command::function_min},
    {"FUNCTION_MAX", 11, 24, 8, 0x010, false, &Command::function_max},
    {"FIRST_LANE", 12, 0, 8, 0x010, false, &Command::first_lane},
    {"LANES", 12, 8, 8, 0x010, false, &Command::lanes},
    {"ADD", 12, 16, 1, 0x010, false, &Command::add},
    {"MULTIPLY", 12, 17, 1, 0x010, false, &Command::multiply},
    {"TABLE", 12, 18, 1, 0x010, false, &Command::table},
    {"BROADCAST", 12, 19, 1, 0x010, false, &Command::broadcast},
    {"KEEP", 12, 20, 1, 0x010, false, &Command::keep},
    {"SWAP", 12, 21, 1, 0x010, false, &Command::swap},
    {"OPERAND_MOVED", 12, 22, 1, 0x010, false, &Command::operand_moved},
    {"RESULT_MOVED", 12, 23, 1, 0x010, false, &Command::result_moved},
}};
// clang-format on

/// Bounds of fields, those of an opcode together.
// clang-format off
inline constexpr std::array<Bound, 42> kBounds{{
    {"COUNT", &Command::count, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"PASSES", &Command::passes, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"COUNT", &Command::count, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"PASSES", &Command::passes, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"BLOCKS", &Command::blocks, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"ROWS", &Command::rows, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"ROWS", &Command::rows, false, Relation::kAtMost, 0, "ACCUMULATOR_ROWS", nullptr, &Geometry::accumulator_rows, 0, flag::kWindow},
    {"PASSES", &Command::passes, false, Relation::kAtMost, 1, nullptr, nullptr, nullptr, flag::kWindow, 0},
    {"BLOCKS", &Command::blocks, false, Relation::kAtMost, 1, nullptr, nullptr, nullptr, flag::kWindow, 0},
    {"ROWS", &Command::rows, false, Relation::kAtMost, 0, "CAPACITY", &Command::capacity, nullptr, flag::kWindow, 0},
    {"SLOT", &Command::slot, false, Relation::kBelow, 0, "CAPACITY", &Command::capacity, nullptr, flag::kWindow, 0},
    {"COUNT", &Command::count, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"PASSES", &Command::passes, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"BLOCKS", &Command::blocks, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"ROWS", &Command::rows, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"ROWS", &Command::rows, false, Relation::kAtMost, 0, "ACCUMULATOR_ROWS", nullptr, &Geometry::accumulator_rows, 0, 0},
    {"BLOCKS", &Command::blocks, false, Relation::kAtMost, 1, nullptr, nullptr, nullptr, flag::kWindow, 0},
    {"COUNT", &Command::count, false, Relation::kAtMost, 65535, nullptr, nullptr, nullptr, flag::kWindow, 0},
    {"IN_ROW", &Command::in_row, true, Relation::kAtLeast, -131072, nullptr, nullptr, nullptr, flag::kWindow, 0},
    {"IN_ROW", &Command::in_row, true, Relation::kAtMost, 131071, nullptr, nullptr, nullptr, flag::kWindow, 0},
    {"IN_COLUMN", &Command::in_column, true, Relation::kAtLeast, -131072, nullptr, nullptr, nullptr, flag::kWindow, 0},
    {"IN_COLUMN", &Command::in_column, true, Relation::kAtMost, 131071, nullptr, nullptr, nullptr, flag::kWindow, 0},
    {"COUNT", &Command::count, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"BLOCKS", &Command::blocks, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"ROWS", &Command::rows, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"ROWS", &Command::rows, false, Relation::kAtMost, 0, "ACCUMULATOR_ROWS", nullptr, &Geometry::accumulator_rows, 0, 0},
    {"COUNT", &Command::count, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"PASSES", &Command::passes, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"CAPACITY", &Command::capacity, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"CAPACITY", &Command::capacity, false, Relation::kAtMost, 0, "SCRATCHPAD_WORDS", nullptr, &Geometry::scratchpad_words, 0, 0},
    {"KERNEL_HEIGHT", &Command::kernel_height, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"KERNEL_WIDTH", &Command::kernel_width, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"GROUP_PASSES", &Command::group_passes, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"STRIDE_WIDTH", &Command::stride_width, false, Relation::kAtMost, 0, "CAPACITY", &Command::capacity, nullptr, 0, 0},
    {"DILATION_WIDTH", &Command::dilation_width, false, Relation::kAtMost, 0, "CAPACITY", &Command::capacity, nullptr, 0, 0},
    {"ROW_STEP", &Command::row_step, false, Relation::kBelow, 0, "CAPACITY", &Command::capacity, nullptr, 0, 0},
    {"IMAGE_STEP", &Command::image_step, false, Relation::kBelow, 0, "CAPACITY", &Command::capacity, nullptr, 0, 0},
    {"TAP_ROW_STEP", &Command::tap_row_step, false, Relation::kBelow, 0, "CAPACITY", &Command::capacity, nullptr, 0, 0},
    {"COUNT", &Command::count, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"PASSES", &Command::passes, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"BLOCKS", &Command::blocks, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
    {"ROWS", &Command::rows, false, Relation::kAtLeast, 1, nullptr, nullptr, nullptr, 0, 0},
}};
// clang-format on

/// What holds for each opcode.
// clang-format off
inline constexpr std::array<CommandFact, 9> kCommandFacts{{
    {Opcode::kLoadWeights, Engine::kWeights, counter::kWeightsTransfer, Operand::kWeights, false, 0, &Command::count, nullptr, nullptr, &Command::passes, nullptr, false, Tile::kN, 0, 2},
    {Opcode::kLoadActivations, Engine::kActivations, counter::kActivationsTransfer, Operand::kActivations, false, 0, &Command::rows, &Command::count, &Command::stride, &Command::passes, &Command::blocks, false, Tile::kRows, 2, 9},
    {Opcode::kMatmul, Engine::kCompute, counter::kComputeCompute, Operand::kNone, false, 0, nullptr, nullptr, nullptr, nullptr, nullptr, false, Tile::kOne, 11, 11},
    {Opcode::kStore, Engine::kResults, counter::kResultsTransfer, Operand::kResults, true, 0, &Command::rows, &Command::count, &Command::stride, nullptr, &Command::blocks, true, Tile::kOne, 22, 4},
    {Opcode::kFinish, std::nullopt, kNoCounter, Operand::kNone, false, 0, nullptr, nullptr, nullptr, nullptr, nullptr, false, Tile::kOne, 26, 0},
    {Opcode::kFence, Engine::kResults, counter::kResultsTransfer, Operand::kCounters, true, flag::kSnapshot, nullptr, nullptr, nullptr, nullptr, nullptr, false, Tile::kOne, 26, 0},
    {Opcode::kLoadParameters, Engine::kParameters, counter::kParametersTransfer, Operand::kParameters, false, 0, &Command::count, nullptr, nullptr, &Command::passes, nullptr, false, Tile::kSet, 26, 2},
    {Opcode::kSetWindow, Engine::kCompute, kNoCounter, Operand::kNone, false, 0, nullptr, nullptr, nullptr, nullptr, nullptr, false, Tile::kOne, 28, 10},
    {Opcode::kLoadOperands, Engine::kOperands, counter::kOperandsTransfer, Operand::kOperands, false, 0, &Command::rows, &Command::count, &Command::stride, &Command::passes, &Command::blocks, false, Tile::kOne, 38, 4},
}};
// clang-format on

}  // namespace gemm64
