// SPDX-License-Identifier: Apache-2.0
// The parts of which the recurrence is made.
#include <gtest/gtest.h>

#include "host/cycles/ledger.hpp"
#include "host/cycles/queue.hpp"
#include "host/cycles/runs.hpp"
#include "host/cycles/slots.hpp"

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
  EXPECT_EQ(slots.room(), 21);  // two are free, the one of clock 20 for longer
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
  EXPECT_LT(runs.at(4), 20);  // forgotten, but known to be before
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

}  // namespace
}  // namespace gemm64::cycles
