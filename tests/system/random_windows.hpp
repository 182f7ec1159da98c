// SPDX-License-Identifier: Apache-2.0
// Random programs of windows and products, beyond what plans make.
#pragma once

#include "host/device/commands.hpp"
#include "host/tiling/window_plan.hpp"
#include "tests/commands.hpp"
#include "tests/system/random_program.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {

/// Makes windows whose chunks come at once, plane by plane or in pieces of rows, in front of their
/// MATMULs or after them, with FENCEs between; and products between them.
class WindowMaker : public ProgramMaker {
 public:
  using ProgramMaker::ProgramMaker;

  std::vector<Command> program(unsigned parts) {
    return joined(parts, 1, [this] { return draw(random_, 0, 3) == 0 ? matmul() : window(); });
  }

 private:
  static constexpr std::uint64_t kMostCycles = 20'000, kMostBlocks = 12;
  static constexpr std::uint64_t kMostResults = 0x10000;  // bytes, in a tenth of their memory

  Window random_window() {
    Window w;
    std::int64_t height = 0, width = 0;
    do {
      w.images = draw(random_, 1, 3);
      w.height = draw(random_, 1, 12);
      w.width = draw(random_, 1, 12);
      w.kernel_height = draw(random_, 1, 4);
      w.kernel_width = draw(random_, 1, 4);
      w.stride_height = draw(random_, 1, 3);
      w.stride_width = draw(random_, 1, 3);
      w.dilation_height = draw(random_, 1, 2);
      w.dilation_width = draw(random_, 1, 2);
      w.pad_top = draw(random_, 0, 3);
      w.pad_left = draw(random_, 0, 3);
      height = std::int64_t{w.height} + w.pad_top + draw(random_, 0, 3) -
               std::int64_t{w.kernel_height - 1} * w.dilation_height;
      width = std::int64_t{w.width} + w.pad_left + draw(random_, 0, 3) -
              std::int64_t{w.kernel_width - 1} * w.dilation_width;
    } while (height < 1 || width < 1);
    w.out_height = static_cast<std::uint32_t>((height - 1) / w.stride_height) + 1;
    w.out_width = static_cast<std::uint32_t>((width - 1) / w.stride_width) + 1;
    w.group_planes = draw(random_, 1, 3);
    w.group_passes = draw(random_, 1, 3);
    w.planes = w.group_planes * draw(random_, 1, 3);
    return w;
  }

  /// One that is soon done, in blocks of some size. Slots go around where the scratchpad is not
  /// used to its end.
  WindowPlan random_plan() {
    for (;;) {
      const Window w = random_window();
      const std::uint64_t pixels = w.out_pixels();
      const std::uint32_t bank = geometry_.accumulator_rows;
      const std::uint64_t drawn = pixels > bank && draw(random_, 0, 1) != 0
                                      ? draw(random_, bank + 1, 2 * bank)
                                      : draw(random_, 1, std::min(4 * geometry_.n, bank));
      const auto rows = static_cast<std::uint32_t>(std::min(drawn, pixels));
      if (pixels > rows * kMostBlocks) continue;
      if (w.tiles() * std::max<std::uint64_t>(pixels, geometry_.n) > kMostCycles) continue;
      const std::uint64_t blocks = (pixels + rows - 1) / rows, n = geometry_.n;
      if (w.tiles() * blocks * n * n > kOperandBytes / 2) continue;
      if (pixels * w.passes() * 4 * n > kMostResults) continue;
      Geometry some = geometry_;
      if (draw(random_, 0, 3) != 0) {
        some.scratchpad_words = draw(random_, 1, std::min(400u, geometry_.scratchpad_words));
      }
      try {
        return plan_window(w, rows, some);
      } catch (const UsageError&) {
        continue;  // its input rows do not fit
      }
    }
  }

  /// What brings the new pixels of `planes` planes from `plane` on, from anywhere.
  LoadActivationsCommand load(const WindowPlan& plan, WindowBlock piece, std::uint32_t plane,
                              std::uint32_t planes) {
    LoadActivationsCommand load = load_window(plan, piece, plane, planes, 0, start_ && plane == 0);
    if (draw(random_, 0, 1) != 0) load.stride = draw(random_, 0, 300);
    load.address = operand_address(std::uint64_t{load.stride} * planes + load.rows);
    if (plane == 0) start_ = false;
    return load;
  }

  /// All planes of a block at once, in two parts, or plane by plane, these perhaps in two pieces.
  void add_loads_of(const WindowPlan& plan, const WindowBlock& block, std::vector<Command>& part) {
    const std::uint32_t planes = plan.window.planes;
    const std::uint32_t first = draw(random_, 0, planes);
    switch (block.new_pixels == 0 ? 3 : draw(random_, 0, 2)) {
      case 0:
        if (first != 0) part.push_back(load(plan, block, 0, first));
        if (first != planes) part.push_back(load(plan, block, first, planes - first));
        return;
      case 1: {
        const std::uint32_t cut = draw(random_, 0, block.new_pixels - 1);
        for (std::uint32_t plane = 0; plane < planes; ++plane) {
          WindowBlock piece = block;
          piece.new_pixels = cut;
          if (cut != 0) part.push_back(load(plan, piece, plane, 1));
          piece.first_pixel += cut;
          piece.new_pixels = block.new_pixels - cut;
          part.push_back(load(plan, piece, plane, 1));
        }
        return;
      }
      case 2:
        part.push_back(load(plan, block, 0, planes));
        return;
      default:
        return;
    }
  }

  MatmulCommand matmul_of(const WindowPlan& plan, const WindowBlock& block) {
    MatmulCommand matmul = matmul_window(plan, block);
    matmul.passes = passes_;
    if (draw(random_, 0, 1) != 0) matmul.flags |= flag::kRetain;  // of no meaning
    return matmul;
  }

  std::vector<Command> window() {
    const WindowPlan plan = random_plan();
    const Window& w = plan.window;
    passes_ = w.passes() - draw(random_, 0, w.group_passes - 1);
    start_ = true;
    const std::uint64_t tiles = w.tiles() / w.passes() * passes_;
    const std::vector<bool> retains = random_retained(tiles, plan.blocks.size());
    const auto loaded =
        static_cast<std::uint64_t>(std::count(retains.begin(), retains.end(), false));
    std::vector<Command> program;
    add_loads(program, Opcode::kLoadWeights, tiles * loaded * geometry_.n);
    for (unsigned sets = draw(random_, 0, 5) == 0 ? draw(random_, 2, 9) : 1; sets > 0; --sets) {
      program.push_back(set_window(plan, 0));
    }
    unsigned open = 0;        // STOREs that come before the last of their blocks
    std::size_t covered = 0;  // blocks with a STORE
    for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
      const WindowBlock& block = plan.blocks[b];
      std::vector<Command> part;
      const bool begun = !start_;  // else a MATMUL may come before the window's first LOAD
      add_loads_of(plan, block, part);
      if (b != 0 && draw(random_, 0, 2) == 0 && begun) part.push_back(set_window(plan, 0));
      part.push_back(matmul_of(plan, block));
      if (retains[b]) part.back().flags |= flag::kRetainWeights;
      const bool fills_both_banks = block.rows > geometry_.accumulator_rows;
      if (fills_both_banks) {
        covered = b + 1;
      } else if (covered == b) {
        std::size_t equal = 1;
        while (b + equal < plan.blocks.size() && plan.blocks[b + equal].rows == block.rows &&
               draw(random_, 0, 2) != 0) {
          ++equal;
        }
        covered = b + equal;
        part.push_back(store(block.rows, std::uint64_t{passes_} * equal));
        const StoreCommand stored(part.back());
        if (ResultFormat::of(stored.format)->takes_parameters()) {
          add_loads(part, Opcode::kLoadParameters, passes_ * equal * kParameterSetWords);
        }
        if (const std::uint64_t words = operands_of(stored)) {
          add_loads(part, Opcode::kLoadOperands, words);
        }
      }
      const std::vector<Command> before = part;
      std::shuffle(part.begin(), part.end(), random_);
      keep_order(before, Opcode::kLoadActivations, part);
      keep_order(before, Opcode::kLoadParameters, part);
      if (draw(random_, 0, 2) == 0) add_fence(part, open, snapshot_waits_);
      program.insert(program.end(), part.begin(), part.end());
      if (fills_both_banks) add_stores_of_both(block.rows, program);
      open = covered > b + 1 ? 1 : 0;
      if (open == 0) snapshot_waits_ = false;
    }
    if (draw(random_, 0, 5) == 0) program.push_back(set_window(plan, 0));
    return program;
  }

  /// The STOREs of a block that fills both banks. They are more than their queue has space for, so
  /// they follow the MATMUL.
  void add_stores_of_both(std::uint32_t rows, std::vector<Command>& program) {
    const std::uint32_t bank = geometry_.accumulator_rows;
    for (std::uint32_t i = 0; i < 2 * passes_; ++i) {
      const StoreCommand stored = store(i % 2 == 0 ? bank : rows - bank, 1);
      if (ResultFormat::of(stored.format)->takes_parameters()) {
        add_loads(program, Opcode::kLoadParameters, kParameterSetWords);
      }
      if (const std::uint64_t words = operands_of(stored)) {
        add_loads(program, Opcode::kLoadOperands, words);
      }
      program.push_back(stored);
    }
  }

  using ProgramMaker::add_fence;
  /// As ProgramMaker's, where `open` STOREs before the part are open for longer: a snapshot may
  /// wait after them, one at a time.
  void add_fence(std::vector<Command>& part, std::uint32_t open, bool& snapshot_waits) {
    const auto place = part.begin() + draw(random_, 0, static_cast<unsigned>(part.size()));
    const auto stores =
        open + static_cast<std::uint32_t>(std::count_if(part.begin(), place, [](const Command& c) {
          return c.opcode == Opcode::kStore;
        }));
    const Command command = fence(stores, !snapshot_waits);
    if (is_snapshot(command) && stores != 0) snapshot_waits = true;
    part.insert(place, command);
  }

  bool start_ = false;           // the next load may have the flag
  std::uint32_t passes_ = 0;     // of the window's MATMULs
  bool snapshot_waits_ = false;  // after a STORE whose blocks come later
};

/// A program of windows and products that the engines can finish. Each window begins when no pixel
/// of the one before is kept: what its blocks read then does not depend on the clock.
inline std::vector<Command> random_window_program(std::mt19937& random, const Geometry& geometry,
                                                  unsigned parts) {
  return legal(WindowMaker(random, geometry).program(parts), geometry);
}

/// The same with each engine's commands in their order, but mixed with those of others in any: the
/// engines may wait for each other for ever.
inline std::vector<Command> random_merge(std::mt19937& random,
                                         const std::vector<Command>& program) {
  std::vector<std::vector<Command>> streams(16);  // by engine
  for (const Command& command : program) {
    if (command.opcode == Opcode::kFinish) continue;
    const bool fence = command.opcode == Opcode::kFence;  // it waits for STOREs
    streams[static_cast<std::size_t>(fence ? Engine::kResults : engine_of(command).value())]
        .push_back(command);
  }
  std::vector<std::size_t> turns;
  for (std::size_t s = 0; s < streams.size(); ++s) turns.insert(turns.end(), streams[s].size(), s);
  std::vector<std::size_t> next(streams.size(), 0);
  std::vector<Command> merged;
  std::shuffle(turns.begin(), turns.end(), random);
  for (const std::size_t s : turns) merged.push_back(streams[s][next[s]++]);
  merged.push_back(program.back());
  return merged;
}

}  // namespace gemm64::system_test
