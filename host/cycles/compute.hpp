// SPDX-License-Identifier: Apache-2.0
// MATMUL: when each tile starts, and when each of its rows enters the array. DEPTHWISE: when the
// lanes take each word, and make each part of a sum.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "host/cycles/engine.hpp"
#include "host/cycles/memories.hpp"
#include "host/device/depthwise.hpp"
#include "host/device/geometry.hpp"
#include "host/device/matmul_walk.hpp"

namespace gemm64::cycles {

class Compute final : public EngineModel {
 public:
  Compute(const Geometry& geometry, Memories& memories, Counters& counters)
      : EngineModel(counters),
        memories_(memories),
        n_(geometry.n),
        bank_rows_(geometry.accumulator_rows),
        pipeline_(geometry.pipeline()) {}

  bool advance() override;
  Cycle idle() const override;
  void finish(Cycle total) override { wait_for_work(total); }
  std::optional<Blocked> blocked() override;

  bool waits_for_command() const override { return !walk_ && !lanes_ && !has_order(); }
  Cycle not_before() const override { return free_ - 1; }

  /// The starts of these MATMULs, indices in the program in ascending order, will be asked for.
  void watch(std::vector<std::size_t> matmuls) { watched_ = std::move(matmuls); }
  /// The cycles in which their first tiles start, as far as is known.
  const std::vector<Cycle>& starts() const { return starts_; }

 private:
  /// What MATMULs need of the SET_WINDOW before them.
  struct Layer {
    std::uint32_t taps = 1, group_passes = 1;
  };
  /// Where the next tile of a window is: its tap, and its pass of those that read the same planes.
  struct Tap {
    std::uint32_t tap = 0, pass = 0;
  };

  /// When all that the next tile waits for is there, each by itself.
  struct Ready {
    Cycle weights, activations, bank;
  };
  Ready ready();
  Cycle claimed() const;
  Cycle holds_weights(Cycle words);
  Cycle tiles_that_follow(Cycle start) const;
  bool take();
  void note_start(Cycle start);
  bool start_tile();
  bool enter_rows();
  void enter(Cycle at, Cycle rows);
  bool fills_both_banks() const { return walk_->rows() > bank_rows_; }
  void complete_first(Cycle at);
  void end_tile();
  void wait_for_work(Cycle until);

  /// A DEPTHWISE, from the clock on in which the lanes may begin.
  struct Lanes {
    DepthwiseCommand command;
    DepthwiseWalk walk;
    Cycle weights_free;                // first cycle in which a word of weights may be read
    Cycle weights_read = 0;            // words
    std::vector<Cycle> weights_there;  // of each plane whose weights have all been read
    std::vector<Cycle> planes_end;     // the clock of each plane's last sum
    Cycle row = 0;                     // of its block
  };
  void begin_lanes(const DepthwiseCommand& command);
  bool read_weights();
  Ready lanes_ready();
  bool move_lanes();

  Memories& memories_;
  Cycle n_, bank_rows_, pipeline_;
  Layer layer_;
  std::optional<MatmulWalk> walk_;  // of the current MATMUL
  bool window_ = false;             // it is one of a window
  std::optional<Lanes> lanes_;
  Cycle new_pixels_ = 0, freed_pixels_ = 0;
  Tap tap_;                     // of it
  Cycle loaded_ = 0;            // first cycle in which the walk over the window knows its row
  Cycle pixel_words_ = 0;       // claimed by all tiles before
  Cycle completed_ = 0;         // blocks of results of its tile that are complete
  Cycle row_ = 0;               // rows of its tile that have entered; 0 between tiles
  Cycle weight_words_ = 0;      // of all tiles before, those that are retained not counted
  Cycle weights_read_ = 0;      // words that have been read, retained or not
  Cycle activation_words_ = 0;  // of all MATMULs before
  Cycle columns_ = 0;           // first cycle in which the last tile's weights have moved in
  Cycle free_ = 0;              // first cycle in which a row may enter the array
  Cycle drained_ = 0;           // first cycle in which the array is empty
  std::vector<std::size_t> watched_;
  std::vector<Cycle> starts_;  // of the first of them
};

}  // namespace gemm64::cycles
