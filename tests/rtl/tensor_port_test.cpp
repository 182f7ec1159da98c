// SPDX-License-Identifier: Apache-2.0
#include <Vtensor_port_n4.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kMost = 2;  // bursts that a reader, or the results, have outstanding

struct Burst {
  unsigned reader = 0;
  unsigned first = 0, beats = 0;
  unsigned tag = 0;
};

/// Both readers and the results ask as often as their gates allow; each word is read in order, as
/// early as can be, and each is written where it belongs. In one of `reset_every` cycles (0: never)
/// a reset drops all that is outstanding: the word that is read in that cycle reaches no reader,
/// since the reader would store it as the first word of its next burst.
void run(std::array<Gate, 2> ask, Gate address, Gate data, unsigned reset_every,
         std::mt19937& random) {
  Bench<Vtensor_port_n4> bench;
  std::deque<Burst> reads, writes;
  std::array<unsigned, 2> outstanding{};
  std::array<Burst, 2> asked;
  std::array<bool, 2> asks{};
  unsigned read = 0, written = 0, unanswered = 0, done = 0;
  std::array<int, 2> shown{-1, -1};  // the reader of the word that was read, and whether it is last
  bool answered = false;
  bench->valid_i = 0;
  bench->awvalid_i = bench->wvalid_i = 0;
  while (done < 200 && !testing::Test::HasFailure()) {
    // In this cycle the words of these bursts can be read and written: those asked for before.
    const bool reads_now = !reads.empty(), writes_now = !writes.empty();
    const bool resets = reset_every != 0 && draw(random, 1, reset_every) == 1;
    bench->rst_ni = !resets;
    bench->valid_i = 0;
    bench->beats_i = bench->tag_i = 0;
    for (unsigned i = 0; i < 2; ++i) {
      if (!asks[i] && outstanding[i] < kMost && ask[i]()) {
        asks[i] = true;
        asked[i] = {i, draw(random, 0, 900), draw(random, 1, 64), draw(random, 0, 0xffff)};
      }
      if (asks[i]) bench->valid_i |= static_cast<std::uint8_t>(1u << i);
      bench->beats_i |= static_cast<std::uint16_t>(asked[i].beats << (7 * i));
      bench->tag_i |= asked[i].tag << (16 * i);
      const std::uint64_t at = (std::uint64_t{1} << 39) + std::uint64_t{asked[i].first} * 4;
      for (unsigned b = 0; b < 5; ++b) {
        set_lane(bench->address_i, 5 * i + b, static_cast<std::uint8_t>(at >> (8 * b)));
      }
    }
    Burst store;
    bench->awvalid_i = unanswered < kMost && address();
    if (bench->awvalid_i != 0) {
      store = {0, draw(random, 0, 900), draw(random, 1, 64), 0};
      bench->awaddr_i = (std::uint64_t{1} << 39) + std::uint64_t{store.first} * 4;
    }
    bench->wvalid_i = (writes_now || bench->awvalid_i != 0) && data();
    bench->wlast_i = writes_now && written + 1 == writes.front().beats;
    bench.settle();
    ASSERT_EQ(bench->read_o, reads_now);
    if (reads_now) ASSERT_EQ(bench->read_address_o, reads.front().first + read);
    ASSERT_EQ(bench->beat_o, shown[0] < 0 ? 0 : 1 << shown[0]);
    if (shown[0] >= 0) ASSERT_EQ(bench->last_o, shown[1]);
    ASSERT_EQ(bench->wready_o, writes_now);
    ASSERT_EQ(bench->write_o, writes_now && bench->wvalid_i != 0);
    if (bench->write_o != 0) ASSERT_EQ(bench->write_address_o, writes.front().first + written);
    ASSERT_EQ(bench->bvalid_o, answered);
    if (answered) --unanswered;
    answered = false;
    const unsigned taken = asks[0] ? 0 : 1;
    const bool takes = asks[0] || asks[1];
    if (takes) ASSERT_NE(bench->ready_o & 1u << taken, 0);
    if (asks[0]) ASSERT_EQ(bench->ready_o & 2u, 0u);
    shown = {-1, -1};
    if (reads_now) {
      const bool last = ++read == reads.front().beats;
      shown = {static_cast<int>(reads.front().reader), last};
      if (last) {
        --outstanding[reads.front().reader];
        reads.pop_front();
        read = 0;
        ++done;
      }
    }
    if (bench->write_o != 0 && ++written == writes.front().beats) {
      writes.pop_front();
      written = 0;
      answered = true;
      ++done;
    }
    if (takes) {
      reads.push_back(asked[taken]);
      ++outstanding[taken];
      asks[taken] = false;
    }
    if (bench->awvalid_i != 0) {
      writes.push_back(store);
      ++unanswered;
    }
    if (resets) {
      reads.clear();
      writes.clear();
      outstanding = {};
      asks = {};
      read = written = unanswered = 0;
      shown = {-1, -1};
      answered = false;
    }
    bench.edge();
  }
}

TEST(TensorPort, WordsMoveInOrderAndAtOnce) {
  for_seeds(1, 40, [](std::mt19937& random) {
    run({Gate::random(random), Gate::random(random)}, Gate::random(random), Gate::random(random), 0,
        random);
  });
  std::mt19937 random(7);
  run({Gate(), Gate()}, Gate(), Gate(), 0, random);
}

TEST(TensorPort, ResetDropsTheWordReadInItsCycle) {
  for_seeds(1, 40, [](std::mt19937& random) {
    run({Gate::random(random), Gate::random(random)}, Gate::random(random), Gate::random(random),
        draw(random, 20, 200), random);
  });
}

}  // namespace
}  // namespace gemm64::rtl_test
