// SPDX-License-Identifier: Apache-2.0
#include <Vcounters_c5.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kCounters = 5;
constexpr unsigned kBytes = 3;  // the first that counts beats of 4 bytes

TEST(Counters, CountEventsACycleLaterInBytes) {
  for_seeds(1, 10, [](std::mt19937& random) {
    Bench<Vcounters_c5> bench;
    bench->take_i = bench->next_i = 0;
    std::array<std::uint64_t, kCounters> wanted{};
    for (unsigned t = 0; t < 500; ++t) {
      const unsigned events = draw(random, 0, 31);
      const bool clear = random() % 100 == 0;
      bench->event_i = static_cast<std::uint8_t>(events);
      bench->clear_i = clear;
      for (unsigned i = 0; i < kCounters; ++i) {
        bench->select_i = static_cast<std::uint8_t>(i);
        bench.settle();  // the value follows the selection at once
        ASSERT_EQ(bench->value_o, wanted[i]) << "counter " << i << " in cycle " << t;
        if ((events >> i) & 1u) wanted[i] += i < kBytes ? 1 : 4;
        if (clear) wanted[i] = 0;
      }
      bench.edge();
    }
  });
}

// Five counters of 8 bytes are ten beats of 4: those of the cycle in which it is taken, whatever
// they count meanwhile.
TEST(Counters, SnapshotIsTakenInOneCycle) {
  for_seeds(1, 10, [](std::mt19937& random) {
    Bench<Vcounters_c5> bench;
    bench->clear_i = bench->take_i = bench->next_i = 0;
    std::array<std::uint64_t, kCounters> counted{}, kept{};
    const auto step = [&](bool take, bool next) {
      bench->take_i = take;
      bench->next_i = next;
      const unsigned events = draw(random, 0, 31);
      bench->event_i = static_cast<std::uint8_t>(events);
      if (take) kept = counted;
      for (unsigned i = 0; i < kCounters; ++i) {
        if ((events >> i) & 1u) counted[i] += i < kBytes ? 1 : 4;
      }
      bench.step();
    };
    for (unsigned i = draw(random, 0, 200); i > 0; --i) step(false, false);
    for (unsigned repeat = 0; repeat < 3; ++repeat) {
      step(true, false);
      for (unsigned beat = 0; beat < 2 * kCounters; ++beat) {
        for (unsigned i = draw(random, 0, 3); i > 0; --i) step(false, false);
        bench.settle();
        ASSERT_EQ(bench->beat_o, static_cast<std::uint32_t>(kept[beat / 2] >> (32 * (beat % 2))))
            << "beat " << beat;
        step(false, true);
      }
    }
  });
}

TEST(Counters, ResetSetsThemToZero) {
  Bench<Vcounters_c5> bench;
  bench->clear_i = 0;
  bench->event_i = 31;
  for (unsigned t = 0; t < 9; ++t) bench.step();
  bench->event_i = 0;
  bench.reset();
  for (unsigned i = 0; i < kCounters; ++i) {
    bench->select_i = static_cast<std::uint8_t>(i);
    bench.settle();
    EXPECT_EQ(bench->value_o, 0u) << i;
  }
}

}  // namespace
}  // namespace gemm64::rtl_test
