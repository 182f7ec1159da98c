// SPDX-License-Identifier: Apache-2.0
// Small windows, and the programs that run them.
#pragma once

#include "host/cycles/cycle_model.hpp"
#include "host/device/result_format.hpp"
#include "host/tiling/window_plan.hpp"
#include "tests/commands.hpp"
#include "tests/test.hpp"
#include "tests/unit/tiling/window_program.hpp"

namespace gemm64 {

/// 3x3, padded to keep its size, of as many planes as there are passes.
inline Window same(std::uint32_t size, std::uint32_t planes) {
  Window w;
  w.height = w.width = w.out_height = w.out_width = size;
  w.kernel_height = w.kernel_width = 3;
  w.pad_top = w.pad_left = 1;
  w.planes = w.group_planes = w.group_passes = planes;
  return w;
}

/// The plan's commands with FINISH after them, results as int8.
inline std::vector<Command> program_of(const WindowPlan& plan) {
  WindowOperands operands;
  operands.results.format = ResultFormat(ResultCode::kInt8).number();
  operands.results.low = 0x80;
  operands.results.high = 0x7f;
  std::vector<Command> program = window_program(plan, operands);
  program.push_back(finish());
  return program;
}

/// The message with which the prediction refuses a program; empty where it does not.
inline std::string refusal(const std::vector<Command>& program, const Geometry& geometry) {
  return message_of([&] { predict_counters(program, geometry, MemoryTiming{}); });
}

}  // namespace gemm64
