// SPDX-License-Identifier: Apache-2.0
// Random programs of depthwise convolutions, pools and products, beyond what plans make.
#pragma once

#include "host/device/depthwise.hpp"
#include "tests/commands.hpp"
#include "tests/system/random_program.hpp"

namespace gemm64::system_test {

/// A command that the lanes take: any kernel, strides, dilations, borders, images and planes.
inline DepthwiseCommand random_depthwise(std::mt19937& random, std::uint32_t most_rows) {
  DepthwiseCommand c;
  for (;;) {
    c.flags = draw(random, 0, 2) == 0 ? flag::kMaximum : 0;
    if (draw(random, 0, 3) == 0) c.flags |= flag::kAccumulate;
    c.kernel_height = draw(random, 1, 3) * 2 + 1;
    c.stride_height = draw(random, 1, 4);
    c.stride_width = draw(random, 0, 1) != 0 ? c.stride_height : draw(random, 1, 4);
    c.height = draw(random, 1, 12);
    c.width = draw(random, 0, 9) == 0 ? draw(random, 60, 128) : draw(random, 2, 14);
    c.dilation_height = c.dilation_width = 1;
    if (draw(random, 0, 1) != 0) {
      c.dilation_height = draw(random, 1, std::min(kLaneLineWords / c.width, 8U));
      c.dilation_width = draw(random, 1, most_column_dilation(c.kernel_height));
    }
    const std::uint32_t last_row = last_tap(c) * c.dilation_height;
    const std::uint32_t last_column = last_tap(c) * c.dilation_width;
    c.pad_top = draw(random, 0, last_row);
    c.pad_left = draw(random, 0, last_column);
    c.zero = draw(random, 0, 255);
    c.count = draw(random, 1, 3);
    c.passes = draw(random, 1, 2);
    c.rows = draw(random, 1, most_rows);
    const std::uint32_t height = c.height + c.pad_top + draw(random, 0, last_row);
    const std::uint32_t width = c.width + c.pad_left + draw(random, 0, last_column);
    if (height <= last_row || width <= last_column) continue;
    c.out_height = (height - last_row - 1) / c.stride_height + 1;
    c.out_width = (width - last_column - 1) / c.stride_width + 1;
    set_steps(c);
    if (static_cast<std::int32_t>(c.row_step) >= 0 &&
        static_cast<std::int32_t>(c.image_step) >= 0) {
      return c;
    }
  }
}

class DepthwiseMaker : public ProgramMaker {
 public:
  using ProgramMaker::ProgramMaker;

  std::vector<Command> program(unsigned parts) {
    return joined(parts, 1, [this] { return draw(random_, 0, 3) == 0 ? matmul() : depthwise(); });
  }

 private:
  std::vector<Command> depthwise() {
    const DepthwiseCommand c = random_depthwise(random_, std::min(geometry_.accumulator_rows, 40u));
    std::vector<Command> part{c};
    add_loads(part, Opcode::kLoadWeights, std::uint64_t{weight_words(c)} * c.count);
    add_loads(part, Opcode::kLoadActivations, image_words(c) * c.passes * c.count);
    std::vector<Command> stores;
    std::uint64_t sets = 0, operands = 0;
    const std::uint64_t rows = image_rows(c) * c.passes;
    for (std::uint32_t plane = 0; plane < c.count; ++plane) {
      const std::uint32_t rest = static_cast<std::uint32_t>(rows % c.rows);
      for (const auto& [length, blocks] :
           {std::pair{c.rows, rows / c.rows}, std::pair{rest, std::uint64_t{rest != 0}}}) {
        if (blocks == 0) continue;
        stores.push_back(store(length, blocks));
        if (ResultFormat::of(stores.back().format)->takes_parameters()) sets += blocks;
        operands += operands_of(StoreCommand(stores.back()));
      }
    }
    if (sets != 0) add_loads(part, Opcode::kLoadParameters, sets * kParameterSetWords);
    if (operands != 0) add_loads(part, Opcode::kLoadOperands, operands);
    const std::vector<Command> before = part;
    std::shuffle(part.begin(), part.end(), random_);
    keep_order(before, Opcode::kLoadParameters, part);
    if (draw(random_, 0, 1) != 0) add_fence(part);
    part.insert(part.end(), stores.begin(), stores.end());
    return part;
  }
};

/// DEPTHWISEs and MATMULs of one block each, in turn, with all their words loaded before: two of
/// them make a program of seven commands.
class TurnsMaker : public ProgramMaker {
 public:
  using ProgramMaker::ProgramMaker;

  std::vector<Command> program(unsigned pairs) {
    std::vector<Command> work;
    std::uint32_t weights = 0, activations = 0;
    bool lanes = draw(random_, 0, 3) != 0;
    for (unsigned i = 0; i < 2 * pairs; ++i, lanes = !lanes) {
      Command unit;
      if (lanes) {
        DepthwiseCommand c;
        do {
          c = random_depthwise(random_, geometry_.accumulator_rows);
          c.count = c.passes = 1;
        } while (image_rows(c) > geometry_.accumulator_rows);
        c.rows = static_cast<std::uint32_t>(image_rows(c));
        weights += weight_words(c);
        activations += static_cast<std::uint32_t>(image_words(c));
        unit = c;
      } else {
        unit.opcode = Opcode::kMatmul;
        unit.flags = flag::kAccumulate;
        unit.rows = draw(random_, 1, 2 * geometry_.n);
        unit.count = draw(random_, 1, 3);
        unit.passes = unit.blocks = 1;
        weights += unit.count * geometry_.n;
        activations += unit.count * unit.rows;
      }
      work.push_back(unit);
      StoreCommand results = store(unit.rows, 1);
      results.flags = results.format = 0;  // sums
      work.push_back(results);
    }
    Command load;
    load.opcode = Opcode::kLoadWeights;
    load.count = weights;
    load.passes = 1;
    load.set_address(operand_address(weights));
    std::vector<Command> program{load};
    load.opcode = Opcode::kLoadActivations;
    load.rows = load.stride = load.blocks = 1;
    load.count = activations;
    load.set_address(operand_address(activations));
    program.push_back(load);
    program.insert(program.end(), work.begin(), work.end());
    program.push_back(finish());
    return program;
  }
};

inline std::vector<Command> random_turns(std::mt19937& random, const Geometry& geometry,
                                         unsigned pairs) {
  return legal(TurnsMaker(random, geometry).program(pairs), geometry);
}

inline std::vector<Command> random_depthwise_program(std::mt19937& random, const Geometry& geometry,
                                                     unsigned parts) {
  return legal(DepthwiseMaker(random, geometry).program(parts), geometry);
}

}  // namespace gemm64::system_test
