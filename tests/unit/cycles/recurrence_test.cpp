// SPDX-License-Identifier: Apache-2.0
// The parts of which the recurrence is made.

#include "host/cycles/banks.hpp"
#include "host/cycles/ledger.hpp"
#include "host/cycles/memories.hpp"
#include "host/cycles/pixels.hpp"
#include "host/cycles/queue.hpp"
#include "host/cycles/rate.hpp"
#include "host/cycles/requantizer.hpp"
#include "host/cycles/runs.hpp"
#include "host/cycles/slots.hpp"
#include "tests/test.hpp"

namespace gemm64::cycles {
namespace {

TEST(Slots, GiveRoomAClockAfterTheOldestEnds) {
  Slots slots(2);
  EXPECT_EQ(slots.room(), 0);
  EXPECT_EQ(slots.empty(), 0);
  slots.begin();
  slots.begin();
  EXPECT_EQ(slots.room(), kUnknown);
  slots.end(10);
  EXPECT_EQ(slots.room(), 11);
  slots.begin();
  EXPECT_EQ(slots.room(), kUnknown);
  slots.end(20);
  EXPECT_EQ(slots.room(), 21);
  EXPECT_EQ(slots.empty(), kUnknown);
  slots.end(30);
  EXPECT_EQ(slots.room(), 21);  // two are free, the one of cycle 20 for longer
  EXPECT_EQ(slots.empty(), 31);
}

TEST(Runs, KnowTheClockOfEachEvent) {
  Runs runs;
  EXPECT_EQ(runs.at(0), kUnknown);
  EXPECT_EQ(runs.after_last(), 0);
  runs.push(5, 3);   // 5, 6, 7
  runs.push(8, 2);   // 8, 9 without a gap
  runs.push(20, 2);  // 20, 21
  EXPECT_EQ(runs.count(), 7);
  EXPECT_EQ(runs.at(0), 5);
  EXPECT_EQ(runs.at(4), 9);
  EXPECT_EQ(runs.at(5), 20);
  EXPECT_EQ(runs.at(6), 21);
  EXPECT_EQ(runs.at(7), kUnknown);
  EXPECT_EQ(runs.after_last(), 22);
  EXPECT_LE(runs.at(4), 20);  // forgotten, but known to be before the latest
}

TEST(Runs, KeepGroupsWithGapsBetweenThem) {
  Runs runs;
  runs.push(10, 2, 5, 3);  // 10, 11, 15, 16, 20, 21
  runs.push(22, 2);
  EXPECT_EQ(runs.count(), 8);
  EXPECT_EQ(runs.after_last(), 24);
  EXPECT_EQ(runs.at(0), 10);
  EXPECT_EQ(runs.at(3), 16);
  EXPECT_EQ(runs.stretch(4), 2);
  EXPECT_EQ(runs.at(5), 21);
  EXPECT_EQ(runs.at(6), 22);
}

TEST(Runs, CountGroupsThatComeBeforeTheyAreAskedFor) {
  Runs runs;
  runs.push(10, 8);   // 10 to 17
  runs.push(40, 16);  // 40 to 55
  EXPECT_EQ(runs.groups(0, 4, 14, 4, 100), 2) << "the third comes in cycle 43";
  EXPECT_EQ(runs.groups(0, 4, 14, 15, 100), 6) << "and is asked for then";
  EXPECT_EQ(runs.groups(0, 4, 14, 15, 5), 5);
  EXPECT_EQ(runs.groups(0, 4, 13, 15, 100), 0);
  EXPECT_EQ(runs.groups(4, 4, 60, 4, 100), 5);
  Runs half(Rate(4, 2));  // a beat in two cycles
  half.push(Beats{10, 24, 8, 0});
  EXPECT_EQ(half.groups(0, 4, 17, 4, 100), 1) << "the fourth comes in cycle 16";
  EXPECT_EQ(half.groups(0, 4, 16, 4, 100), 0);
  EXPECT_EQ(half.groups(0, 4, 25, 4, 100), 2);
}

TEST(Runs, KnowHowManyEventsFollowEachOther) {
  Runs runs;
  runs.push(5, 3);
  runs.push(8, 2);
  runs.push(20, 2);
  EXPECT_EQ(runs.stretch(1), 4);
  EXPECT_EQ(runs.stretch(4), 1);
  EXPECT_EQ(runs.stretch(5), 2);
  runs.push(22, 1);
  EXPECT_EQ(runs.stretch(5), 3);
}

TEST(Runs, KnowTheCyclesOfBeatsAtARate) {
  const Rate rate(8, 3);
  Budget budget(rate);
  Runs runs(rate);
  std::vector<Cycle> cycles;
  for (const Cycle from : {5, 0, 0, 90, 90}) {
    const Beats beats = budget.move(from, 4);
    runs.push(beats);
    for (Cycle i = 0; i < 4; ++i) cycles.push_back(beats.first + rate.until(i, beats.left));
    EXPECT_EQ(cycles.back(), beats.last);
    EXPECT_EQ(runs.after_last(), beats.last + 1);
  }
  EXPECT_EQ(cycles[0], 5);
  EXPECT_EQ(cycles[3], 5 + 8);  // three beats of 8 bytes at 3 bytes per cycle
  EXPECT_EQ(cycles[11], 5 + 30);
  EXPECT_EQ(cycles[12], 90);
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    EXPECT_EQ(runs.at(static_cast<Cycle>(i)), cycles[i]) << i;
  }
}

TEST(Banks, GiveRoomForRowsAsTheOldOnesAreStored) {
  Banks banks{Rate()};
  for (const Cycle at : {100, 200}) {
    EXPECT_EQ(banks.last_room(), 0);
    EXPECT_EQ(banks.room(1), 0);
    banks.complete(at);
  }
  EXPECT_EQ(banks.complete(), 100);
  EXPECT_EQ(banks.last_room(), kUnknown);
  EXPECT_EQ(banks.room(0), kUnknown);
  banks.store(103, 3, 4, false);
  EXPECT_EQ(banks.room(0), 103) << "it was read a cycle before";
  EXPECT_FALSE(known(banks.room(1)));
  banks.send({103, 110, 8, 0});
  EXPECT_EQ(banks.room(1), 107) << "it is read with the last of four beats";
  EXPECT_EQ(banks.room(2), 111);
  EXPECT_FALSE(known(banks.room(3)));
  banks.send({120, 123, 4, 0});
  banks.stored(123);
  EXPECT_EQ(banks.room(3), 124) << "rows that the old block has not";
  EXPECT_EQ(banks.last_room(), 124);
  EXPECT_EQ(banks.complete(), 200);
  banks.complete(300);
  EXPECT_EQ(banks.last_room(), kUnknown);
  EXPECT_EQ(banks.empty(), kUnknown);
}

TEST(Banks, KnowCompleteBlocksBeforeOldLeave) {
  Banks banks{Rate()};
  banks.complete(10);
  banks.complete(20);
  banks.store(13, 9, 1, false);
  banks.send({13, 14, 2, 0});
  EXPECT_EQ(banks.room(0), 13);
  banks.complete(17);  // of one row
  EXPECT_EQ(banks.room(0), kUnknown);
  banks.send({15, 21, 7, 0});
  banks.stored(21);
  EXPECT_EQ(banks.room(0), kUnknown);
  banks.store(22, 9, 1, false);
  EXPECT_EQ(banks.room(0), 22);
  banks.send({22, 30, 9, 0});
  banks.stored(30);
  banks.store(31, 1, 1, false);
  banks.send({31, 31, 1, 0});
  banks.stored(31);
  EXPECT_EQ(banks.empty(), 32);
  EXPECT_EQ(banks.room(5), 27);
}

TEST(Banks, FreeRowsAsTheyAreRequantized) {
  Banks banks{Rate()};
  banks.complete(10);
  banks.complete(20);
  banks.store(12, 3, 1, true);
  banks.pass(12, 1);
  banks.pass(15, 1);
  EXPECT_EQ(banks.room(0), 12);
  EXPECT_EQ(banks.room(1), 13) << "it is read when the one before passes on";
  EXPECT_EQ(banks.stretch(1), 1) << "a gap follows";
  EXPECT_EQ(banks.room(2), 16);
  EXPECT_EQ(banks.stretch(2), 1) << "no other has passed";
  EXPECT_FALSE(known(banks.room(3)));
  banks.pass(16, 1);
  EXPECT_EQ(banks.stretch(2), 2);
  banks.stored(16);
  EXPECT_EQ(banks.last_room(), 17);
}

TEST(Requantizer, LetsRowsThroughInNineCycles) {
  Requantizer pipeline;
  EXPECT_EQ(pipeline.moves_from(5), 5);
  EXPECT_EQ(pipeline.end_of(5), 14);
  EXPECT_EQ(pipeline.scales_of(5), 8);
}

TEST(Requantizer, StandsStillWhileABeatWaits) {
  Requantizer pipeline;
  pipeline.hold(10, 10);  // taken at once
  pipeline.hold(10, 13);
  pipeline.hold(14, 20);
  EXPECT_EQ(pipeline.moves_from(9), 9);
  EXPECT_EQ(pipeline.moves_from(10), 13);
  EXPECT_EQ(pipeline.moves_from(12), 13);
  EXPECT_EQ(pipeline.moves(7), 3);
  EXPECT_EQ(pipeline.moves(13), 1);
  EXPECT_FALSE(known(pipeline.moves(20)));
  EXPECT_EQ(pipeline.moves_from(14), 20);
  EXPECT_EQ(pipeline.end_of(5), 23);     // 6, 7, 8, 9, 13, 20, 21, 22
  EXPECT_EQ(pipeline.scales_of(9), 21);  // 13, 20, 21
  EXPECT_EQ(pipeline.scales_of(6), 9);
  pipeline.forget(15);
  EXPECT_EQ(pipeline.moves_from(15), 20);
}

TEST(Pixels, HaveRoomAClockAfterOthersWereFreed) {
  Pixels pixels{Rate()};
  EXPECT_EQ(pixels.room(10, 10), 0);
  EXPECT_EQ(pixels.empty(), 0);
  pixels.keep(10);
  EXPECT_EQ(pixels.room(5, 15), 0);
  EXPECT_FALSE(known(pixels.room(6, 15)));
  EXPECT_FALSE(known(pixels.empty()));
  pixels.free(2, 100);
  pixels.free(3, 200);
  EXPECT_EQ(pixels.room(2, 10), 101);
  EXPECT_EQ(pixels.room(3, 10), 201);
  EXPECT_EQ(pixels.room(5, 10), 201);
  EXPECT_FALSE(known(pixels.room(6, 10)));
  pixels.free(5, 300);
  EXPECT_EQ(pixels.empty(), 301);
  pixels.free(0, 400);  // only the border
  EXPECT_EQ(pixels.empty(), 301);
  pixels.keep(4);
  EXPECT_FALSE(known(pixels.empty()));
}

TEST(Pixels, HoldWordsAClockAfterTheyCame) {
  Pixels pixels{Rate()};
  EXPECT_EQ(pixels.holds(0), 0);
  EXPECT_FALSE(known(pixels.holds(1)));
  pixels.fill({50, 59, 10, 0});
  EXPECT_EQ(pixels.holds(1), 51);
  EXPECT_EQ(pixels.holds(10), 60);
  EXPECT_FALSE(known(pixels.holds(11)));
}

TEST(WordBuffer, FreesPlacesOfManyWordsAtOnce) {
  WordBuffer buffer(16, 8, Rate());
  EXPECT_EQ(buffer.room(16), 0);
  EXPECT_FALSE(known(buffer.room(17)));
  buffer.fill({3, 18, 16, 0});
  EXPECT_EQ(buffer.holds(8), 11);
  buffer.free(30, 1);
  EXPECT_EQ(buffer.room(24), 31);
  EXPECT_FALSE(known(buffer.room(25)));
  EXPECT_FALSE(known(buffer.empty()));
  buffer.free(40, 1);
  EXPECT_EQ(buffer.empty(), 41);
}

// Against the rule itself, cycle by cycle (sim/README.md): a beat moves where there is credit for
// it, and a cycle without use leaves one beat of credit.
TEST(Budget, MovesBeatsAsTheMemoryDoes) {
  std::mt19937 random(1);
  for (Cycle bytes = 1; bytes <= 20; ++bytes) {
    constexpr Cycle kWidth = 16;
    Budget budget(Rate(kWidth, bytes));
    Cycle clock = 0, credit = kWidth;
    for (int burst = 0; burst < 50; ++burst) {
      const Cycle from = clock + static_cast<Cycle>(random() % 9);
      const auto count = static_cast<Cycle>(1 + random() % 5);
      const Beats beats = budget.move(from, count);
      for (Cycle moved = 0; moved < count; ++clock) {
        if (clock != 0) credit = credit < kWidth ? credit + bytes : kWidth;
        if (clock < from || credit < kWidth) continue;
        credit -= kWidth;
        if (moved == 0) ASSERT_EQ(beats.first, clock) << bytes;
        if (++moved == count) ASSERT_EQ(beats.last, clock) << bytes;
      }
    }
  }
}

TEST(Ledger, TellsBeatsFromTheCyclesBetweenThem) {
  Counters counters{};
  Ledger ledger(counters);
  ledger.spend(1, 10);
  ledger.spend(2, 3, {14, 20, 4, 0});
  ledger.spend(1, 22);
  EXPECT_EQ(counters[1], 11u);
  EXPECT_EQ(counters[2], 4u);
  EXPECT_EQ(counters[3], 7u);  // 10 to 13, and three between the beats
}

TEST(Ledger, AccountsForEachClockOnce) {
  Counters counters{};
  Ledger ledger(counters);
  ledger.spend(1, 10);
  ledger.spend(2, 8);
  ledger.spend(2, 12);
  ledger.spend(1, 13);
  EXPECT_EQ(counters[1], 11u);
  EXPECT_EQ(counters[2], 2u);
}

TEST(Queue, KeepsItsOrderWhileItForgets) {
  Queue<int> queue;
  int next = 0;
  for (int i = 0; i < 5000; ++i) {
    queue.push(2 * i);
    queue.push(2 * i + 1);
    ASSERT_EQ(queue[queue.size() - 1], 2 * i + 1);
    ASSERT_EQ(queue.front(), next++);
    queue.pop();
  }
  for (; !queue.empty(); queue.pop()) ASSERT_EQ(queue.front(), next++);
  EXPECT_EQ(next, 10000);
}

TEST(Ledger, CountsWhatWasSpentBeforeAnyClock) {
  // In an order of the causes as they are: a wait, beats at 3 of 8 bytes per cycle, another wait.
  constexpr std::size_t kTransfer = counter::kWeightsTransfer, kWait = counter::kWeightsWaitMemory,
                        kIdle = counter::kWeightsIdle;
  const Rate rate(8, 3);
  Budget budget(rate);
  Counters counters{};
  Ledger ledger(counters);
  ledger.keep_history(rate);
  std::vector<std::size_t> spent;  // cycle by cycle
  ledger.spend(kIdle, 4);
  spent.resize(4, kIdle);
  for (int burst = 0; burst < 3; ++burst) {
    const Beats beats = budget.move(burst == 2 ? 60 : 4, 5);
    ledger.spend(kTransfer, kWait, beats);
    spent.resize(static_cast<std::size_t>(beats.last) + 1, kWait);
    for (Cycle i = 0; i < beats.count; ++i) {
      const Cycle at = beats.first + (i == 0 ? 0 : rate.until(i, beats.left));
      spent[static_cast<std::size_t>(at)] = kTransfer;
    }
  }
  ledger.spend(kIdle, 99);
  spent.resize(99, kIdle);
  for (std::size_t clock = 0; clock <= spent.size(); ++clock) {
    Counters wanted{}, found{};
    for (std::size_t i = 0; i < clock; ++i) ++wanted[spent[i]];
    ledger.count_before(static_cast<Cycle>(clock), found);
    EXPECT_EQ(found, wanted) << "before cycle " << clock;
  }
  Counters all{};
  ledger.count_before(99, all);
  EXPECT_EQ(all, counters);
}

}  // namespace
}  // namespace gemm64::cycles
