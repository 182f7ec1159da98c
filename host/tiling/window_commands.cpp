// SPDX-License-Identifier: Apache-2.0
// The commands of a convolution.
#include <algorithm>
#include <utility>

#include "host/tiling/job_commands.hpp"

namespace gemm64 {
namespace {

class WindowCommands {
 public:
  WindowCommands(const Plan& plan, const Layout& layout, const Overlaps& overlaps)
      : plan_(plan), layout_(layout), overlaps_(overlaps) {}

  JobCommands make() {
    add_load<LoadWeightsCommand>(layout_.weights, plan_.tiles() * plan_.array, plan_.weight_loads(),
                                 Phase::kAhead);
    if (plan_.has_bands()) {
      add_bands();
      list_.add(FinishCommand(), Phase::kRest);
      return std::move(list_);
    }
    find_stores();
    std::uint64_t before = 0;  // blocks of the strips before
    for (const WindowStrip& strip : plan_.window->strips) {
      add_strip(strip, before);
      before += strip.plan.blocks.size();
    }
    list_.add(FinishCommand(), Phase::kRest);
    return std::move(list_);
  }

 private:
  struct Store {
    std::uint64_t block;
    RowGroup blocks;
    std::uint32_t first_tile, tiles;
  };

  /// Weights or parameters, `words` words, `times` times.
  template <typename Load>
  void add_load(std::uint64_t address, std::uint64_t words, std::uint64_t times, Phase phase) {
    Load command;
    command.count = static_cast<std::uint32_t>(words);
    command.passes = static_cast<std::uint32_t>(times);
    command.address = address;
    list_.add(command, phase);
  }

  void add_store(std::uint64_t block, const RowGroup& blocks, std::uint32_t first_tile,
                 std::uint32_t tiles) {
    if (blocks.blocks == 0 || tiles == 0) return;
    if (plan_.has_one_set_of_lanes()) {
      stores_.push_back({block, blocks, first_tile, tiles});
      return;
    }
    // STOREs of a block, more than one, would wait ahead of the MATMUL of the next.
    for (std::uint32_t i = 0; i < blocks.blocks; ++i) {
      RowGroup one = blocks;
      one.first_row += std::uint64_t{i} * blocks.rows;
      one.blocks = 1;
      stores_.push_back({block + i, one, first_tile, tiles});
    }
  }

  /// All STOREs, in their order.
  void find_stores() {
    const std::uint32_t tiles = plan_.n_tiles;
    std::uint64_t block = 0;
    for (const RowGroup& group : plan_.groups) {
      const auto part = [&](std::uint64_t first, std::uint64_t count) {
        return RowGroup{group.first_row + first * group.rows, group.rows,
                        static_cast<std::uint32_t>(count), true};
      };
      const bool here = overlaps_.cut && overlaps_.cut->block >= block &&
                        overlaps_.cut->block < block + group.blocks;
      if (here) {
        const std::uint64_t first = overlaps_.cut->block - block;
        const std::uint32_t tile = overlaps_.cut->tile;
        add_store(block, part(0, first), 0, tiles);
        if (tile != 0) {
          add_store(block + first, part(first, 1), 0, tile);
          add_store(block + first, part(first, 1), tile, tiles - tile);
          add_store(block + first + 1, part(first + 1, group.blocks - first - 1), 0, tiles);
        } else {
          add_store(block + first, part(first, group.blocks - first), 0, tiles);
        }
      } else {
        add_store(block, part(0, group.blocks), 0, tiles);
      }
      block += group.blocks;
    }
  }

  /// Does a block begin early with some of its planes?
  bool is_partly(std::uint64_t block) const {
    return block == overlaps_.early_blocks && overlaps_.early_tiles != 0;
  }
  Phase phase_of(std::uint64_t block) const {
    const bool early = block < overlaps_.early_blocks;
    return early || is_partly(block) ? Phase::kEarly : Phase::kRest;
  }
  /// STOREs of a block that is early in part wait for the rest. Where they are more than two, the
  /// snapshot of the FENCE ahead of that would find no place in their queue.
  Phase store_phase(std::uint64_t block) const {
    const bool many = !plan_.has_one_set_of_lanes();
    return is_partly(block) && many ? Phase::kRest : phase_of(block);
  }

  /// The new pixels of a block; of the block that is early in part the planes after that part come
  /// later.
  void add_pixels(const WindowStrip& strip, std::size_t i, std::uint64_t block, bool start,
                  std::uint32_t pass = 0) {
    const WindowPlan& plan = strip.plan;
    const WindowBlock& pixels = plan.blocks[i];
    if (pixels.new_pixels == 0) return;
    const std::uint32_t planes = plan.window.planes;
    if (plan_.window->in_strips()) {
      add_rows(strip, pixels, start);
      return;
    }
    const std::uint32_t now = is_partly(block) ? overlaps_.early_tiles : planes;
    list_.add(
        load_window(plan, pixels, 0, now, layout_.activations, start, layout_.plane_pixels, pass),
        phase_of(block));
    if (now == planes) return;
    list_.add(load_window(plan, pixels, now, planes - now, layout_.activations, false,
                          layout_.plane_pixels),
              Phase::kRest);
  }

  /// The same of a strip, row by row.
  void add_rows(const WindowStrip& strip, const WindowBlock& pixels, bool start) {
    const WindowPlan& plan = strip.plan;
    const Window& whole = plan_.window->window;
    const std::uint64_t width = plan.window.width;
    for (std::uint32_t plane = 0; plane < plan.window.planes; ++plane) {
      for (std::uint64_t pixel = pixels.first_pixel; pixel < pixels.loaded(); pixel += width) {
        WindowBlock row;
        row.first_pixel = pixel;
        row.new_pixels = plan.window.width;
        LoadActivationsCommand command =
            load_window(plan, row, plane, 1, 0, std::exchange(start, false));
        command.address =
            layout_.activations +
            (plane * whole.pixels() + pixel / width * whole.width + strip.in_column) * plan_.array;
        list_.add(command, Phase::kRest);
      }
    }
  }

  void add_strip(const WindowStrip& strip, std::uint64_t before) {
    const WindowPlan& plan = strip.plan;
    std::size_t loaded = 0;  // blocks whose pixels are asked for
    std::uint64_t freed = 0;
    bool start = plan.starts, set = false;
    for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
      const WindowBlock& block = plan.blocks[i];
      // The pixels of the next block are asked for before this one is dispatched, so that a full
      // queue of MATMULs does not hold them up; more would hold up the MATMULs. Early commands do
      // not wait for late ones, nor do any for room that only later ones make.
      for (; loaded <= std::min(i + 1, plan.blocks.size() - 1); ++loaded) {
        if (loaded > i && (phase_of(before + loaded) != phase_of(before + i) ||
                           plan.blocks[loaded].loaded() - freed > plan.capacity)) {
          break;
        }
        add_pixels(strip, loaded, before + loaded, start);
        if (plan.blocks[loaded].new_pixels != 0) start = false;
      }
      const Phase phase = phase_of(before + i);
      if (!std::exchange(set, true)) {
        list_.add(set_window(plan, plan_.window->convolution.zero), phase);
      }
      MatmulCommand matmul = matmul_window(plan, block);
      if (plan_.retains_weights && before + i + 1 != plan_.row_blocks()) {
        matmul.flags |= flag::kRetainWeights;
      }
      list_.add(matmul, phase);
      freed += block.freed_pixels;
      if (before + i == 0 && plan_.results().takes_parameters()) {
        add_load<LoadParametersCommand>(layout_.parameters,
                                        plan_.parameter_set_bytes() / plan_.array,
                                        plan_.row_blocks(), Phase::kAhead);
      }
      for (; next_store_ < stores_.size() && stores_[next_store_].block == before + i;
           ++next_store_) {
        const Store& store = stores_[next_store_];
        list_.add_store(plan_, layout_, store.blocks, store.first_tile, store.tiles,
                        store_phase(before + i));
      }
    }
  }

  /// Bands; in each the passes; in each its blocks. The last block of a pass frees its tiles.
  void add_bands() {
    const WindowPlan& plan = plan_.window->strips[0].plan;
    const std::size_t blocks = plan.blocks.size();
    const std::size_t turns = plan.reads_again ? blocks * plan_.n_tiles : blocks;
    std::size_t loaded = 0;              // turns of blocks whose pixels are asked for
    std::uint64_t asked = 0, freed = 0;  // pixels
    // No load waits for space that only later commands make.
    const auto load_next = [&] {
      if (loaded == turns) return false;
      const std::size_t i = loaded % blocks;
      if (asked + plan.blocks[i].new_pixels - freed > plan.capacity) return false;
      add_pixels(plan_.window->strips[0], i, i, plan.starts && asked == 0,
                 static_cast<std::uint32_t>(loaded / blocks));
      asked += plan.blocks[i].new_pixels;
      ++loaded;
      return true;
    };
    list_.add(set_window(plan, plan_.window->convolution.zero), Phase::kRest);
    for (std::size_t begin = 0; begin < plan.blocks.size(); begin += plan.band) {
      const std::size_t end = std::min<std::size_t>(begin + plan.band, plan.blocks.size());
      for (std::uint32_t pass = 0; pass < plan_.n_tiles; ++pass) {
        add_pass(plan, begin, end, pass, [&](std::size_t block) {
          // Ahead of a MATMUL come the pixels of the next block; once the band has all of its own,
          // those of the next band, a block at a time.
          if (plan.reads_again) {
            const std::size_t turn = pass * blocks + block;
            while (loaded < std::min(turn + 2, turns) && load_next()) {
            }
          } else if (pass != 0) {
            load_next();
          } else {
            while (loaded < std::min(block + 2, end) && load_next()) {
            }
          }
          if (plan.reads_again || pass + 1 == plan_.n_tiles) {
            freed += plan.blocks[block].freed_pixels;
          }
        });
      }
    }
  }

  /// One pass of a band. A STORE of as many blocks as have one height follows the first of
  /// them, since the accumulator has space for two. Of a block that fills both banks each has one.
  template <typename Loads>
  void add_pass(const WindowPlan& plan, std::size_t begin, std::size_t end, std::uint32_t pass,
                Loads&& loads) {
    const std::uint32_t bank = plan.bank_rows;
    std::size_t covered = begin;  // blocks with a STORE
    for (std::size_t block = begin; block < end; ++block) {
      loads(block);
      MatmulCommand matmul = matmul_window(plan, plan.blocks[block], pass);
      if (block + 1 != end) matmul.flags |= flag::kRetainWeights;
      list_.add(matmul, Phase::kRest);
      if (block == begin && plan_.results().takes_parameters()) {
        const std::uint64_t set = std::uint64_t{kParameterSetWords} * plan_.array;
        std::uint64_t stored = end - begin;
        for (std::size_t i = begin; i < end; ++i) stored += plan.blocks[i].rows > bank ? 1 : 0;
        add_load<LoadParametersCommand>(layout_.parameters + pass * set, kParameterSetWords, stored,
                                        begin + pass == 0 ? Phase::kAhead : Phase::kRest);
      }
      if (block != covered) continue;
      RowGroup group{plan.blocks[block].first, plan.blocks[block].rows, 0, true};
      if (group.rows > bank) {
        const std::uint32_t rest = group.rows - bank;
        const std::uint32_t halves = rest == bank ? 2 : 1;
        list_.add_store(plan_, layout_, {group.first_row, bank, halves, true}, pass, 1,
                        Phase::kRest);
        if (rest != bank) {
          list_.add_store(plan_, layout_, {group.first_row + bank, rest, 1, true}, pass, 1,
                          Phase::kRest);
        }
        ++covered;
        continue;
      }
      for (; covered < end && plan.blocks[covered].rows == group.rows; ++covered) ++group.blocks;
      list_.add_store(plan_, layout_, group, pass, 1, Phase::kRest);
    }
  }

  const Plan& plan_;
  const Layout& layout_;
  const Overlaps& overlaps_;
  JobCommands list_;
  std::vector<Store> stores_;
  std::size_t next_store_ = 0;
};

}  // namespace

JobCommands window_commands(const Plan& plan, const Layout& layout, const Overlaps& overlaps) {
  return WindowCommands(plan, layout, overlaps).make();
}

}  // namespace gemm64
