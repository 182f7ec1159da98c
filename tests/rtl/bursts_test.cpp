// SPDX-License-Identifier: Apache-2.0
#include <Vbursts_n4.h>
#include <Vbursts_n64.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

/// Runs of `run` words, `stride` words apart; `count` of them a pass. Blocks are `step` words
/// apart.
struct Walk {
  std::uint64_t address;
  std::uint64_t run;
  std::uint32_t passes = 1, blocks = 1;
  std::uint32_t count = 1;
  std::uint64_t stride = 0;
  std::uint32_t step = 0;
};

struct Burst {
  std::uint64_t address = 0;
  unsigned beats = 0;
  bool first = false, last = false, end = false;
  unsigned tag = 0;
  bool operator==(const Burst& o) const {
    return address == o.address && beats == o.beats && first == o.first && last == o.last &&
           end == o.end && tag == o.tag;
  }
};

/// Goes through the walk word by word and ends a burst where a rule says so.
std::vector<Burst> expected(const Walk& walk, unsigned width, unsigned tag) {
  const unsigned most = width == 4 ? 8 : 64;  // MAX_BEATS
  std::vector<Burst> bursts;
  for (std::uint32_t block = 0; block < walk.blocks; ++block) {
    for (std::uint32_t pass = 0; pass < walk.passes; ++pass) {
      for (std::uint32_t run = 0; run < walk.count; ++run) {
        for (std::uint64_t i = 0; i < walk.run; ++i) {
          const std::uint64_t word = std::uint64_t{block} * walk.step + run * walk.stride + i;
          const std::uint64_t address = walk.address + word * width;
          if (i == 0 || address % 4096 == 0 || bursts.back().beats == most) {
            bursts.push_back({address, 0, i == 0, false, false, tag});
          }
          ++bursts.back().beats;
        }
        bursts.back().last = true;
      }
    }
  }
  bursts.back().end = true;
  return bursts;
}

template <class Model>
void start(Bench<Model>& bench, const Walk& walk, unsigned tag) {
  bench->start_valid_i = 1;
  bench->address_i = walk.address;
  bench->run_i = walk.run;
  bench->count_i = walk.count;
  bench->stride_i = walk.stride;
  bench->step_i = walk.step;
  bench->passes_i = walk.passes;
  bench->blocks_i = walk.blocks;
  bench->tag_i = static_cast<std::uint16_t>(tag);
}

template <class Model>
Burst offered(Bench<Model>& bench) {
  return {bench->address_o,   bench->beats_o,    bench->first_o != 0,
          bench->last_o != 0, bench->end_o != 0, bench->tag_o};
}

/// Two walks, one after the other as fast as they are taken.
template <class Model>
void run(const Walk& walk, unsigned width, Gate offer, Gate take) {
  SCOPED_TRACE("address " + std::to_string(walk.address) + " run " + std::to_string(walk.run) +
               " count " + std::to_string(walk.count) + " stride " + std::to_string(walk.stride) +
               " passes " + std::to_string(walk.passes) + " blocks " + std::to_string(walk.blocks));
  Bench<Model> bench;
  StaysPut<Burst> stays("burst");
  std::vector<Burst> wanted = expected(walk, width, 7);
  const std::size_t first_walk = wanted.size();
  for (const Burst& burst : expected(walk, width, 8)) wanted.push_back(burst);
  std::size_t taken = 0;
  unsigned started = 0;
  while (taken < wanted.size()) {
    // A start that was offered stays; between walks the inputs are of another walk that no one
    // means.
    const bool offering = started < 2 && (bench->start_valid_i || offer());
    start(bench, offering ? walk : Walk{64, 3, 2, 2, 2, 5, 9}, 7 + started);
    bench->start_valid_i = offering;
    bench->ready_i = take();
    bench.settle();
    const Burst burst = offered(bench);
    stays(bench->valid_o, bench->ready_i, burst);
    EXPECT_EQ(bench->start_ready_o, taken == (started == 2 ? wanted.size() : started * first_walk))
        << "ready from the last burst to the next start";
    if (bench->valid_o) {
      check_burst(burst.address, burst.beats - 1, width == 4 ? 2 : 6, 1, width);
      ASSERT_TRUE(burst == wanted[taken])
          << "burst " << taken << ": address " << burst.address << " beats " << burst.beats
          << " first " << burst.first << " last " << burst.last << " tag " << burst.tag << ", not "
          << wanted[taken].address << " " << wanted[taken].beats;
    }
    if (bench->valid_o && bench->ready_i) ++taken;
    if (offering && bench->start_ready_o) ++started;
    const bool stays_offered = offering && !bench->start_ready_o;
    bench.edge();
    bench->start_valid_i = stays_offered;
  }
  bench.settle();
  EXPECT_EQ(bench->valid_o, 0) << "more bursts than the walk has";
}

TEST(Bursts, EndAtMaximumPageAndRun) {
  for (const unsigned before_page :
       {0u, 1u, 2u, 3u, 63u, 64u, 65u}) {  // words from the start to a page
    for (const std::uint32_t length : {1u, 2u, 63u, 64u, 65u, 66u, 127u, 128u, 129u, 300u}) {
      for (const auto& [passes, blocks] : {std::pair{1u, 1u}, {2u, 1u}, {1u, 3u}, {3u, 2u}}) {
        for (const auto& [count, stride] :
             {std::pair{1u, 0u}, {2u, length}, {3u, 3 * length + 1}}) {
          const Walk walk{0x30000 - before_page * 4, length, passes, blocks, count, stride, length};
          run<Vbursts_n4>(walk, 4, Gate(), Gate());
          Walk wide = walk;
          wide.address = 0x30000 - before_page * 64;
          run<Vbursts_n64>(wide, 64, Gate(), Gate());
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(Bursts, StayPutUntilTakenWhateverThePattern) {
  for_all_patterns(4, [](Gate offer, Gate take) {
    run<Vbursts_n4>({4096 - 8, 3, 2, 2, 2, 7, 3}, 4, offer, take);
    run<Vbursts_n4>({0, 1, 1, 1}, 4, offer, take);
    run<Vbursts_n64>({0xff80, 67, 2, 2, 3, 70, 67}, 64, offer, take);
  });
}

TEST(Bursts, StartAfterACycleThenOnePerCycle) {
  Bench<Vbursts_n64> bench;
  bench->ready_i = 1;
  start(bench, {0, 64, 2, 2, 5, 128, 64}, 1);
  bench.settle();
  EXPECT_EQ(bench->valid_o, 0);
  EXPECT_EQ(bench->start_ready_o, 1);
  bench.edge();
  bench->start_valid_i = 0;
  for (unsigned t = 1; t <= 21; ++t) {
    bench.settle();
    EXPECT_EQ(bench->valid_o, t <= 20) << t;
    EXPECT_EQ(bench->start_ready_o, t > 20) << t;
    bench.edge();
  }
}

TEST(Bursts, ReachTopAddressAndLongestRun) {
  run<Vbursts_n64>({(std::uint64_t{1} << 40) - 256 * 64, 64, 2, 2, 2, 64, 128}, 64, Gate(), Gate());
  Bench<Vbursts_n64> bench;
  start(bench, {0, 0xffffffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 1);
  bench.step();
  bench->start_valid_i = 0;
  bench->ready_i = 1;
  for (unsigned t = 0; t < 1000; ++t) {
    bench.settle();
    ASSERT_TRUE(bench->valid_o);
    ASSERT_EQ(bench->address_o, t * 4096u);
    ASSERT_FALSE(bench->last_o);
    bench.edge();
  }
}

TEST(Bursts, FollowAnyWalkAtRandom) {
  for_seeds(1, 100, [](std::mt19937& random) {
    const Walk walk{draw(random, 0, 1u << 20) * 64ull,
                    draw(random, 1, 200),
                    draw(random, 1, 3),
                    draw(random, 1, 3),
                    draw(random, 1, 4),
                    random() >> draw(random, 0, 31),
                    draw(random, 0, (1u << 20) - 1)};
    run<Vbursts_n64>(walk, 64, Gate::random(random), Gate::random(random));
    run<Vbursts_n4>(walk, 4, Gate::random(random), Gate::random(random));
  });
}

TEST(Bursts, GoAsFarAsTheLargestStrideReaches) {
  const std::uint64_t stride = 4 * 0xffffffffull;
  run<Vbursts_n4>({64, 2, 1, 1, 16, stride, 2}, 4, Gate(), Gate());
}

TEST(Bursts, ResetEndsAWalk) {
  Bench<Vbursts_n4> bench;
  start(bench, {0, 1000, 1, 1}, 1);
  bench.step();
  bench->start_valid_i = 0;
  bench.settle();
  EXPECT_EQ(bench->valid_o, 1);
  bench.reset();
  bench.settle();
  EXPECT_EQ(bench->valid_o, 0);
  EXPECT_EQ(bench->start_ready_o, 1);
}

}  // namespace
}  // namespace gemm64::rtl_test
