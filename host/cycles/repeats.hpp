// SPDX-License-Identifier: Apache-2.0
// Work that repeats, skipped: from a state that was there before, with the same commands next, the
// model goes on as it did then.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/cycles/bus.hpp"
#include "host/cycles/commands.hpp"
#include "host/cycles/compute.hpp"
#include "host/cycles/memories.hpp"
#include "host/cycles/results.hpp"

namespace gemm64::cycles {

/// The parts of a model.
struct Parts {
  Memories& memories;
  std::array<std::pair<EngineModel*, Engine>, 6> engines;
  Compute& compute;
  Results& results;
  Commands& commands;
  Bus& bus;
  Counters& counters;
};

/// States after blocks of sums, and how the model has gone on from one to the next. A way is taken
/// again where the engines have the same steps next in their commands.
class Repeats {
 public:
  /// `margin`: more cycles than any event is after what it waits for.
  Repeats(const Parts& parts, const std::vector<Command>& program, Clock margin);

  /// Blocks are complete that were not at the call before, and no counters are still to be asked
  /// for that are known already. Skips what repeats. Returns whether that is anything.
  bool skip();
  /// The state at hand is none to begin from.
  void forget();

 private:
  struct Way;
  struct Node {
    std::vector<Clock> state;
    std::vector<std::unique_ptr<Way>> ways;
  };
  /// From a node to the next.
  struct Way {
    std::array<Steps, 6> steps;
    Commands::Passed commands;
    Clock cycles = 0;
    std::vector<Clock> origins;  // how far they move on
    Counters counters{};         // spent
    std::array<Ledger::Passage, 7> passages;
    std::vector<Clock> stored;  // in cycles after the first
    Node* to = nullptr;
  };

  std::optional<Clock> now();
  void visit(State& state);
  Node& node_of(const std::vector<Clock>& state);
  void record_way(Node& to, Clock now, const std::vector<Clock>& origins);
  const Way* find_way(const Node& node);
  void go(const Way& way, Clock& now, std::vector<Clock>& origins);
  void begin(Node& from, Clock now, const std::vector<Clock>& origins);
  template <class Each>
  void each_ledger(Each&& each);

  static constexpr std::size_t kMostNodes = 2048;

  Parts parts_;
  const std::vector<Command>& program_;
  const Clock margin_;
  // A state that is written costs as much as some blocks that are followed. Where few are skipped,
  // no state is written for a while.
  static constexpr int kCost = 2, kMostCredit = 2000, kTrial = 200, kPause = 2000;
  int credit_ = 3 * kTrial, pause_ = 0;
  std::optional<Shapes> shapes_;
  std::unordered_multimap<std::size_t, std::unique_ptr<Node>> nodes_;

  Node* from_ = nullptr;  // where the way at hand began
  Clock began_ = 0;
  std::vector<Clock> origins_;
  Counters counters_{};
  std::array<Clock, 7> accounted_{};
  std::array<Counters, 7> spent_{};
  std::size_t stored_ = 0, starts_ = 0;
};

}  // namespace gemm64::cycles
