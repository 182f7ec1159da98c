// SPDX-License-Identifier: Apache-2.0
// Who comes first, as sim/README.md says of the memory. That whole programs agree is for
// tests/system.
#include "host/cycles/arbiter.hpp"

#include "tests/test.hpp"

namespace gemm64::cycles {
namespace {

constexpr Cycle kLatency = 10;

/// What was served, in order.
struct Served {
  char who;
  Cycle first, last;

  bool operator==(const Served& other) const {
    return who == other.who && first == other.first && last == other.last;
  }
};

std::ostream& operator<<(std::ostream& out, const Served& served) {
  return out << served.who << ' ' << served.first << '-' << served.last;
}

/// Asks for bursts of `beats` in given cycles.
class Asks : public Requester {
 public:
  Asks(char who, std::deque<Cycle> cycles, Cycle beats, std::vector<Served>& log,
       bool writes = false)
      : who_(who), cycles_(std::move(cycles)), beats_(beats), log_(log), writes_(writes) {}

  Cycle next_request() override { return cycles_.empty() ? kUnknown : cycles_.front(); }
  void ask(Cycle at) override {
    asked_ = at;
    cycles_.pop_front();
  }
  void serve(MemoryPort& port) override {
    const auto log = [this](const Beats& beats) {
      log_.push_back({who_, beats.first, beats.last});
    };
    if (writes_) {
      port.write(asked_ + 1, 0, beats_, log);
    } else {
      port.read(0, beats_, log);
    }
  }

 private:
  char who_;
  std::deque<Cycle> cycles_;
  Cycle beats_;
  std::vector<Served>& log_;
  bool writes_;
  Cycle asked_ = 0;
};

/// Weights, data and results in front of one memory.
std::vector<Served> serve(MemorySharing sharing, const std::deque<Cycle>& weights,
                          const std::deque<Cycle>& data, const std::deque<Cycle>& results) {
  std::vector<Served> log;
  Asks w('w', weights, 4, log), d('d', data, 2, log), r('r', results, 3, log, true);
  Budget budget{Rate()};
  const bool in_order = sharing == MemorySharing::kShared;
  MemoryPort a(kLatency, in_order, budget), b(kLatency, in_order, budget),
      c(kLatency, in_order, budget);
  Arbiter arbiter(sharing, {{a, {&w}}, {b, {&d}}, {c, {&r}}});
  while (arbiter.advance() || arbiter.advance_when_stuck()) {
  }
  return log;
}

TEST(Arbiter, SharedMemoryKeepsRequestOrder) {
  const std::vector<Served> expected{{'d', 12, 13}, {'w', 16, 19}, {'r', 20, 22}, {'w', 23, 26}};
  EXPECT_EQ(serve(MemorySharing::kShared, {5, 8}, {1}, {6}), expected);
}

TEST(Arbiter, SharedMemoryOrdersPortsInACycle) {
  const std::vector<Served> expected{{'w', 12, 15}, {'d', 16, 17}, {'r', 18, 20}};
  EXPECT_EQ(serve(MemorySharing::kShared, {1}, {1}, {1}), expected);
}

// A write's first beat comes a cycle after its address: only then is its burst the oldest.
TEST(Arbiter, SharedMemoryWritesAfterAddress) {
  const std::vector<Served> expected{{'r', 3, 5}};
  EXPECT_EQ(serve(MemorySharing::kShared, {}, {}, {1}), expected);
}

// The data port waits in cycle 2 and owns the memory from cycle 3 on; its last beat comes in 14.
// Weights and results wait by then: weights have waited for longer, but it is the results' turn.
TEST(Arbiter, OfAnExclusiveMemoryServesPortsByTurns) {
  const std::vector<Served> expected{
      {'d', 13, 14},  // accepted in 3
      {'r', 15, 17},  // accepted in 15, answered in 27
      {'w', 38, 41},  // accepted in 28
  };
  EXPECT_EQ(serve(MemorySharing::kExclusive, {4}, {1}, {9}), expected);
}

// A request that comes with the last answer is the owner's still; one that comes later is not.
TEST(Arbiter, ExclusiveMemoryKeepsItsOwner) {
  const std::vector<Served> stays{{'d', 13, 14}, {'d', 24, 25}, {'w', 36, 39}};
  EXPECT_EQ(serve(MemorySharing::kExclusive, {4}, {1, 13}, {}), stays);
  const std::vector<Served> goes{{'d', 13, 14}, {'w', 25, 28}, {'d', 39, 40}};
  EXPECT_EQ(serve(MemorySharing::kExclusive, {4}, {1, 14}, {}), goes);
}

// The second request is handed over when the first has been accepted.
TEST(Arbiter, ExclusiveMemoryQueuesOnePerPort) {
  const std::vector<Served> expected{{'w', 13, 16}, {'w', 17, 20}, {'d', 31, 32}};
  EXPECT_EQ(serve(MemorySharing::kExclusive, {1, 1}, {2}, {}), expected);
}

}  // namespace
}  // namespace gemm64::cycles
