// SPDX-License-Identifier: Apache-2.0
// Made by scripts/codegen/generate.py from rtl/gemm64.json: edit that file, then run `scripts/codegen/generate.py`.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "host/device/registers.hpp"

namespace gemm64 {

// A struct for each opcode, with the fields that it uses, with whatever flags; `Command` has all.
// Each is made from a Command of that opcode, and becomes one again.

/// Throws std::invalid_argument if the command is another one.
constexpr void require(const Command& command, Opcode opcode) {
  if (command.opcode == opcode) return;
  throw std::invalid_argument(to_string(command) + " is not a " + name(opcode));
}

/// LOAD_WEIGHTS
struct LoadWeightsCommand {
  static constexpr Opcode kOpcode = Opcode::kLoadWeights;

  std::uint32_t count = 0;
  std::uint32_t passes = 0;
  std::uint64_t address = 0;

  LoadWeightsCommand() = default;
  /// Throws std::invalid_argument if it is another command.
  constexpr explicit LoadWeightsCommand(const Command& command) {
    require(command, kOpcode);
    count = command.count;
    passes = command.passes;
    address = command.address();
  }
  constexpr operator Command() const {  // NOLINT(google-explicit-constructor)
    Command command;
    command.opcode = kOpcode;
    command.count = count;
    command.passes = passes;
    command.set_address(address);
    return command;
  }
};

/// LOAD_ACTIVATIONS
struct LoadActivationsCommand {
  static constexpr Opcode kOpcode = Opcode::kLoadActivations;

  std::uint32_t flags = 0;
  std::uint32_t rows = 0;
  std::uint32_t count = 0;
  std::uint32_t passes = 0;
  std::uint32_t blocks = 0;
  std::uint64_t address = 0;
  std::uint32_t stride = 0;
  std::uint32_t capacity = 0;
  std::uint32_t slot = 0;
  std::uint32_t place = 0;

  LoadActivationsCommand() = default;
  /// Throws std::invalid_argument if it is another command.
  constexpr explicit LoadActivationsCommand(const Command& command) {
    require(command, kOpcode);
    flags = command.flags;
    rows = command.rows;
    count = command.count;
    passes = command.passes;
    blocks = command.blocks;
    address = command.address();
    stride = command.stride;
    capacity = command.capacity;
    slot = command.slot;
    place = command.place;
  }
  constexpr operator Command() const {  // NOLINT(google-explicit-constructor)
    Command command;
    command.opcode = kOpcode;
    command.flags = flags;
    command.rows = rows;
    command.count = count;
    command.passes = passes;
    command.blocks = blocks;
    command.set_address(address);
    command.stride = stride;
    command.capacity = capacity;
    command.slot = slot;
    command.place = place;
    return command;
  }
};

/// MATMUL
struct MatmulCommand {
  static constexpr Opcode kOpcode = Opcode::kMatmul;

  std::uint32_t flags = 0;
  std::uint32_t rows = 0;
  std::uint32_t count = 0;
  std::uint32_t passes = 0;
  std::uint32_t blocks = 0;
  std::uint32_t slot = 0;
  std::uint32_t out_row = 0;
  std::uint32_t out_column = 0;
  std::int32_t in_row = 0;
  std::int32_t in_column = 0;
  std::uint32_t new_pixels = 0;
  std::uint32_t freed_pixels = 0;

  MatmulCommand() = default;
  /// Throws std::invalid_argument if it is another command.
  constexpr explicit MatmulCommand(const Command& command) {
    require(command, kOpcode);
    flags = command.flags;
    rows = command.rows;
    count = command.count;
    passes = command.passes;
    blocks = command.blocks;
    slot = command.slot;
    out_row = command.out_row;
    out_column = command.out_column;
    in_row = static_cast<std::int32_t>(command.in_row);
    in_column = static_cast<std::int32_t>(command.in_column);
    new_pixels = command.new_pixels;
    freed_pixels = command.freed_pixels;
  }
  constexpr operator Command() const {  // NOLINT(google-explicit-constructor)
    Command command;
    command.opcode = kOpcode;
    command.flags = flags;
    command.rows = rows;
    command.count = count;
    command.passes = passes;
    command.blocks = blocks;
    command.slot = slot;
    command.out_row = out_row;
    command.out_column = out_column;
    command.in_row = static_cast<std::uint32_t>(in_row);
    command.in_column = static_cast<std::uint32_t>(in_column);
    command.new_pixels = new_pixels;
    command.freed_pixels = freed_pixels;
    return command;
  }
};

/// STORE
struct StoreCommand {
  static constexpr Opcode kOpcode = Opcode::kStore;

  std::uint32_t flags = 0;
  std::uint32_t rows = 0;
  std::uint32_t count = 0;
  std::uint32_t blocks = 0;
  std::uint64_t address = 0;
  std::uint32_t format = 0;
  std::uint32_t zero = 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  std::uint32_t stride = 0;
  std::uint32_t result_scale = 0;
  std::uint32_t operand_scale = 0;
  std::uint32_t offset = 0;
  std::uint32_t result_zero = 0;
  std::uint32_t operand_zero = 0;
  std::uint32_t function_min = 0;
  std::uint32_t function_max = 0;
  std::uint32_t first_lane = 0;
  std::uint32_t lanes = 0;
  std::uint32_t add = 0;
  std::uint32_t multiply = 0;
  std::uint32_t table = 0;
  std::uint32_t broadcast = 0;
  std::uint32_t keep = 0;
  std::uint32_t swap = 0;
  std::uint32_t operand_moved = 0;
  std::uint32_t result_moved = 0;

  StoreCommand() = default;
  /// Throws std::invalid_argument if it is another command.
  constexpr explicit StoreCommand(const Command& command) {
    require(command, kOpcode);
    flags = command.flags;
    rows = command.rows;
    count = command.count;
    blocks = command.blocks;
    address = command.address();
    format = command.format;
    zero = command.zero;
    low = command.low;
    high = command.high;
    stride = command.stride;
    result_scale = command.result_scale;
    operand_scale = command.operand_scale;
    offset = command.offset;
    result_zero = command.result_zero;
    operand_zero = command.operand_zero;
    function_min = command.function_min;
    function_max = command.function_max;
    first_lane = command.first_lane;
    lanes = command.lanes;
    add = command.add;
    multiply = command.multiply;
    table = command.table;
    broadcast = command.broadcast;
    keep = command.keep;
    swap = command.swap;
    operand_moved = command.operand_moved;
    result_moved = command.result_moved;
  }
  constexpr operator Command() const {  // NOLINT(google-explicit-constructor)
    Command command;
    command.opcode = kOpcode;
    command.flags = flags;
    command.rows = rows;
    command.count = count;
    command.blocks = blocks;
    command.set_address(address);
    command.format = format;
    command.zero = zero;
    command.low = low;
    command.high = high;
    command.stride = stride;
    command.result_scale = result_scale;
    command.operand_scale = operand_scale;
    command.offset = offset;
    command.result_zero = result_zero;
    command.operand_zero = operand_zero;
    command.function_min = function_min;
    command.function_max = function_max;
    command.first_lane = first_lane;
    command.lanes = lanes;
    command.add = add;
    command.multiply = multiply;
    command.table = table;
    command.broadcast = broadcast;
    command.keep = keep;
    command.swap = swap;
    command.operand_moved = operand_moved;
    command.result_moved = result_moved;
    return command;
  }
};

/// FINISH
struct FinishCommand {
  static constexpr Opcode kOpcode = Opcode::kFinish;

  FinishCommand() = default;
  /// Throws std::invalid_argument if it is another command.
  constexpr explicit FinishCommand(const Command& command) { require(command, kOpcode); }
  constexpr operator Command() const {  // NOLINT(google-explicit-constructor)
    Command command;
    command.opcode = kOpcode;
    return command;
  }
};

/// FENCE
struct FenceCommand {
  static constexpr Opcode kOpcode = Opcode::kFence;

  std::uint32_t flags = 0;
  std::uint32_t count = 0;
  std::uint64_t address = 0;

  FenceCommand() = default;
  /// Throws std::invalid_argument if it is another command.
  constexpr explicit FenceCommand(const Command& command) {
    require(command, kOpcode);
    flags = command.flags;
    count = command.count;
    address = command.address();
  }
  constexpr operator Command() const {  // NOLINT(google-explicit-constructor)
    Command command;
    command.opcode = kOpcode;
    command.flags = flags;
    command.count = count;
    command.set_address(address);
    return command;
  }
};

/// LOAD_PARAMETERS
struct LoadParametersCommand {
  static constexpr Opcode kOpcode = Opcode::kLoadParameters;

  std::uint32_t count = 0;
  std::uint32_t passes = 0;
  std::uint64_t address = 0;

  LoadParametersCommand() = default;
  /// Throws std::invalid_argument if it is another command.
  constexpr explicit LoadParametersCommand(const Command& command) {
    require(command, kOpcode);
    count = command.count;
    passes = command.passes;
    address = command.address();
  }
  constexpr operator Command() const {  // NOLINT(google-explicit-constructor)
    Command command;
    command.opcode = kOpcode;
    command.count = count;
    command.passes = passes;
    command.set_address(address);
    return command;
  }
};

/// SET_WINDOW
struct SetWindowCommand {
  static constexpr Opcode kOpcode = Opcode::kSetWindow;

  std::uint32_t zero = 0;
  std::uint32_t kernel_height = 0;
  std::uint32_t kernel_width = 0;
  std::uint32_t stride_height = 0;
  std::uint32_t stride_width = 0;
  std::uint32_t dilation_height = 0;
  std::uint32_t dilation_width = 0;
  std::uint32_t pad_top = 0;
  std::uint32_t pad_left = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::uint32_t out_height = 0;
  std::uint32_t out_width = 0;
  std::uint32_t row_step = 0;
  std::uint32_t image_step = 0;
  std::uint32_t tap_row_step = 0;
  std::uint32_t group_passes = 0;
  std::uint32_t capacity = 0;

  SetWindowCommand() = default;
  /// Throws std::invalid_argument if it is another command.
  constexpr explicit SetWindowCommand(const Command& command) {
    require(command, kOpcode);
    zero = command.zero;
    kernel_height = command.kernel_height;
    kernel_width = command.kernel_width;
    stride_height = command.stride_height;
    stride_width = command.stride_width;
    dilation_height = command.dilation_height;
    dilation_width = command.dilation_width;
    pad_top = command.pad_top;
    pad_left = command.pad_left;
    height = command.height;
    width = command.width;
    out_height = command.out_height;
    out_width = command.out_width;
    row_step = command.row_step;
    image_step = command.image_step;
    tap_row_step = command.tap_row_step;
    group_passes = command.group_passes;
    capacity = command.capacity;
  }
  constexpr operator Command() const {  // NOLINT(google-explicit-constructor)
    Command command;
    command.opcode = kOpcode;
    command.zero = zero;
    command.kernel_height = kernel_height;
    command.kernel_width = kernel_width;
    command.stride_height = stride_height;
    command.stride_width = stride_width;
    command.dilation_height = dilation_height;
    command.dilation_width = dilation_width;
    command.pad_top = pad_top;
    command.pad_left = pad_left;
    command.height = height;
    command.width = width;
    command.out_height = out_height;
    command.out_width = out_width;
    command.row_step = row_step;
    command.image_step = image_step;
    command.tap_row_step = tap_row_step;
    command.group_passes = group_passes;
    command.capacity = capacity;
    return command;
  }
};

/// LOAD_OPERANDS
struct LoadOperandsCommand {
  static constexpr Opcode kOpcode = Opcode::kLoadOperands;

  std::uint32_t rows = 0;
  std::uint32_t count = 0;
  std::uint32_t passes = 0;
  std::uint32_t blocks = 0;
  std::uint64_t address = 0;
  std::uint32_t stride = 0;

  LoadOperandsCommand() = default;
  /// Throws std::invalid_argument if it is another command.
  constexpr explicit LoadOperandsCommand(const Command& command) {
    require(command, kOpcode);
    rows = command.rows;
    count = command.count;
    passes = command.passes;
    blocks = command.blocks;
    address = command.address();
    stride = command.stride;
  }
  constexpr operator Command() const {  // NOLINT(google-explicit-constructor)
    Command command;
    command.opcode = kOpcode;
    command.rows = rows;
    command.count = count;
    command.passes = passes;
    command.blocks = blocks;
    command.set_address(address);
    command.stride = stride;
    return command;
  }
};

/// DEPTHWISE
struct DepthwiseCommand {
  static constexpr Opcode kOpcode = Opcode::kDepthwise;

  std::uint32_t flags = 0;
  std::uint32_t rows = 0;
  std::uint32_t count = 0;
  std::uint32_t passes = 0;
  std::uint32_t zero = 0;
  std::uint32_t kernel_height = 0;
  std::uint32_t stride_height = 0;
  std::uint32_t stride_width = 0;
  std::uint32_t dilation_height = 0;
  std::uint32_t dilation_width = 0;
  std::uint32_t pad_top = 0;
  std::uint32_t pad_left = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::uint32_t out_height = 0;
  std::uint32_t out_width = 0;
  std::uint32_t row_step = 0;
  std::uint32_t image_step = 0;
  std::uint32_t lead = 0;

  DepthwiseCommand() = default;
  /// Throws std::invalid_argument if it is another command.
  constexpr explicit DepthwiseCommand(const Command& command) {
    require(command, kOpcode);
    flags = command.flags;
    rows = command.rows;
    count = command.count;
    passes = command.passes;
    zero = command.zero;
    kernel_height = command.kernel_height;
    stride_height = command.stride_height;
    stride_width = command.stride_width;
    dilation_height = command.dilation_height;
    dilation_width = command.dilation_width;
    pad_top = command.pad_top;
    pad_left = command.pad_left;
    height = command.height;
    width = command.width;
    out_height = command.out_height;
    out_width = command.out_width;
    row_step = command.row_step;
    image_step = command.image_step;
    lead = command.lead;
  }
  constexpr operator Command() const {  // NOLINT(google-explicit-constructor)
    Command command;
    command.opcode = kOpcode;
    command.flags = flags;
    command.rows = rows;
    command.count = count;
    command.passes = passes;
    command.zero = zero;
    command.kernel_height = kernel_height;
    command.stride_height = stride_height;
    command.stride_width = stride_width;
    command.dilation_height = dilation_height;
    command.dilation_width = dilation_width;
    command.pad_top = pad_top;
    command.pad_left = pad_left;
    command.height = height;
    command.width = width;
    command.out_height = out_height;
    command.out_width = out_width;
    command.row_step = row_step;
    command.image_step = image_step;
    command.lead = lead;
    return command;
  }
};

}  // namespace gemm64
