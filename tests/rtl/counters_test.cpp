// SPDX-License-Identifier: Apache-2.0
#include <Vcounters_c5.h>

#include <array>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kCounters = 5;
constexpr unsigned kBytes = 3;  // the first that counts beats of 4 bytes

TEST(Counters, CountEventsAClockLaterAndBeatsInBytes) {
  for_seeds(10, [](std::mt19937& random) {
    Bench<Vcounters_c5> bench;
    std::array<std::uint64_t, kCounters> wanted{};
    for (unsigned t = 0; t < 500; ++t) {
      const unsigned events = draw(random, 0, 31);
      const bool clear = random() % 100 == 0;
      bench->event_i = static_cast<std::uint8_t>(events);
      bench->clear_i = clear;
      for (unsigned i = 0; i < kCounters; ++i) {
        bench->select_i = static_cast<std::uint8_t>(i);
        bench.settle();  // the value follows the selection at once
        ASSERT_EQ(bench->value_o, wanted[i]) << "counter " << i << " in clock " << t;
        if ((events >> i) & 1u) wanted[i] += i < kBytes ? 1 : 4;
        if (clear) wanted[i] = 0;
      }
      bench.edge();
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
