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
        pipeline_(geometry.pipeline()) {}

  bool advance() override;
  Clock idle() const override;
  void finish(Clock total) override { wait_for_work(total); }
  std::optional<Blocked> blocked() override;

  bool waits_for_command() const override { return !walk_ && !lanes_ && !has_order(); }
  Clock not_before() const override { return free_ - 1; }

  /// The starts of these MATMULs, indices in the program in ascending order, will be asked for.
  void watch(std::vector<std::size_t> matmuls) { watched_ = std::move(matmuls); }
  /// The clocks in which their first tiles start, as far as is known.
  const std::vector<Clock>& starts() const { return starts_; }

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
    Clock weights, activations, bank;
  };
  Ready ready();
  Clock claimed() const;
  Clock holds_weights(Clock words);
  Clock tiles_that_follow(Clock start) const;
  bool take();
  void note_start(Clock start);
  bool start_tile();
  bool enter_rows();
  void enter(Clock at, Clock rows);
  void end_tile();
  void wait_for_work(Clock until);

  /// A DEPTHWISE, from the clock on in which the lanes may begin.
  struct Lanes {
    DepthwiseCommand command;
    DepthwiseWalk walk;
    Clock weights_free;                // first clock in which a word of weights may be read
    Clock weights_read = 0;            // words
    std::vector<Clock> weights_there;  // of each plane whose weights have all been read
    std::vector<Clock> planes_end;     // the clock of each plane's last sum
    Clock row = 0;                     // of its block
  };
  void begin_lanes(const DepthwiseCommand& command);
  bool read_weights();
  Ready lanes_ready();
  bool move_lanes();

  Memories& memories_;
  Clock n_, pipeline_;
  Layer layer_;
  std::optional<MatmulWalk> walk_;  // of the MATMUL under way
  bool window_ = false;             // it is one of a window
  std::optional<Lanes> lanes_;
  Clock new_pixels_ = 0, freed_pixels_ = 0;
  Tap tap_;                     // of it
  Clock loaded_ = 0;            // first clock in which the walk over the window knows its row
  Clock pixel_words_ = 0;       // claimed by all tiles before
  Clock row_ = 0;               // rows of its tile that have entered; 0 between tiles
  Clock weight_words_ = 0;      // of all tiles before, those that are retained not counted
  Clock weights_read_ = 0;      // words that have been read, retained or not
  Clock activation_words_ = 0;  // of all MATMULs before
  Clock columns_ = 0;           // first clock in which the last tile's weights have moved in
  Clock free_ = 0;              // first clock in which a row may enter the array
  Clock drained_ = 0;           // first clock in which the array is empty
  std::vector<std::size_t> watched_;
  std::vector<Clock> starts_;  // of the first of them
};

}  // namespace gemm64::cycles
