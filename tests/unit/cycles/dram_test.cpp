// SPDX-License-Identifier: Apache-2.0
// When a DRAM channel issues its bursts: each time between commands by itself, worked out by hand.
#include "host/cycles/dram.hpp"

#include "tests/test.hpp"

namespace gemm64::cycles {
namespace {

constexpr std::uint64_t kColumns = 4;  // bursts in a row

/// No two times are alike, nor are the sums of the tests below.
DramTiming timing() {
  DramTiming t;
  t.groups = 2;
  t.banks = 4;
  t.burst_length = 8;
  t.width = 16;
  t.row_bytes = 64;
  t.wl = 15;
  t.t_burst = 8;
  t.t_ccd_s = 5;
  t.t_ccd_l = 7;
  t.t_rcd = 29;
  t.t_rp = 37;
  t.t_ras = 71;
  t.t_rtp = 11;
  t.t_wr = 31;
  t.t_rrd_s = 13;
  t.t_rrd_l = 17;
  t.t_faw = 110;
  t.t_wtr_s = 19;
  t.t_wtr_l = 23;
  t.t_rtw = 41;
  t.t_rfc = 400;
  t.t_refi = 5000;
  return t;
}

/// Groups take turns burst by burst, then come columns, banks and rows.
std::uint64_t address(unsigned group, unsigned bank, unsigned row = 0, unsigned column = 0) {
  const DramTiming t = timing();
  const std::uint64_t rows = std::uint64_t{row} * t.banks + bank;
  return ((rows * kColumns + column) * t.groups + group) * t.burst_bytes();
}

TEST(DramChannel, KeepsColumnsAndActivatesApart) {
  DramChannel channel(timing());
  EXPECT_EQ(channel.read(address(0, 0), 10), 10 + 29);
  EXPECT_EQ(channel.read(address(0, 0, 0, 3), 10), 39 + 7) << "the same group";
  EXPECT_EQ(channel.read(address(1, 0), 10), 10 + 13 + 29) << "another group's ACT";
  EXPECT_EQ(channel.read(address(0, 1), 10), 23 + 13 + 29) << "the last ACT";
  EXPECT_EQ(channel.read(address(0, 0, 0, 1), 10), 65 + 7);
  EXPECT_EQ(channel.read(address(1, 0, 0, 1), 10), 72 + 5) << "another group";
  EXPECT_EQ(channel.read(address(1, 0, 0, 2), 300), 300) << "not before it is seen";
  EXPECT_EQ(channel.counts(), (DramCounts{7, 0, 4, 0}));
}

TEST(DramChannel, KeepsActivatesOfAGroupApart) {
  DramChannel channel(timing());
  channel.read(address(0, 0), 10);
  EXPECT_EQ(channel.read(address(0, 1), 10), 10 + 17 + 29);
}

TEST(DramChannel, ActivatesFourBanksInAWindow) {
  DramChannel channel(timing());
  EXPECT_EQ(channel.read(address(0, 0), 10), 39);
  EXPECT_EQ(channel.read(address(1, 0), 30), 59);
  EXPECT_EQ(channel.read(address(0, 1), 30), 43 + 29);
  EXPECT_EQ(channel.read(address(1, 1), 30), 56 + 29);
  EXPECT_EQ(channel.read(address(0, 2), 30), 10 + 110 + 29);
  EXPECT_EQ(channel.read(address(1, 2), 30), 30 + 110 + 29);
}

TEST(DramChannel, ClosesRowsAfterReadsAndWrites) {
  DramChannel reads(timing());
  reads.read(address(0, 0), 0);
  EXPECT_EQ(reads.read(address(0, 0, 1), 0), 71 + 37 + 29) << "after ACT";
  reads.read(address(0, 0, 1, 1), 400);
  EXPECT_EQ(reads.read(address(0, 0, 2), 0), 400 + 11 + 37 + 29) << "after the read";
  EXPECT_EQ(reads.read(address(0, 0, 3), 900), 900 + 37 + 29) << "when it is seen";
  EXPECT_EQ(reads.counts(), (DramCounts{5, 0, 1, 3}));
  DramChannel writes(timing());
  EXPECT_EQ(writes.write(address(0, 0), 0, 100), 100) << "when its data are there";
  EXPECT_EQ(writes.read(address(0, 0, 1), 0), 100 + 15 + 8 + 31 + 37 + 29);
  EXPECT_EQ(writes.counts(), (DramCounts{1, 1, 0, 1}));
}

TEST(DramChannel, TurnsTheDataPinsAround) {
  DramChannel channel(timing());
  EXPECT_EQ(channel.read(address(1, 0), 10), 39);
  EXPECT_EQ(channel.write(address(0, 0), 10, 10), 39 + 41);
  EXPECT_EQ(channel.write(address(0, 0, 0, 1), 10, 10), 80 + 7);
  EXPECT_EQ(channel.read(address(1, 0, 0, 1), 10), 87 + 15 + 8 + 19) << "another group";
  DramChannel same(timing());
  EXPECT_EQ(same.write(address(0, 0), 10, 60), 60);
  EXPECT_EQ(same.read(address(0, 0, 0, 1), 10), 60 + 15 + 8 + 23) << "the same group";
  DramChannel groups(timing());
  groups.write(address(0, 0), 0, 0);
  groups.write(address(1, 0), 0, 0);
  EXPECT_EQ(groups.write(address(0, 0, 0, 1), 0, 0), 42 + 5);
}

TEST(DramChannel, RefreshesBetweenBursts) {
  constexpr Tick kEnd = 5000 + 37 + 400;
  DramChannel closed(timing());
  EXPECT_EQ(closed.read(address(0, 0), 5000 - 71), 5000 - 71 + 29) << "ACT and PRE fit in";
  DramChannel late(timing());
  EXPECT_EQ(late.read(address(0, 0), 5000 - 70), kEnd + 29);
  DramChannel open(timing());
  open.read(address(0, 0), 0);
  EXPECT_EQ(open.read(address(0, 0, 0, 1), 4999), 4999);
  EXPECT_EQ(open.read(address(0, 0, 0, 2), 5000), 4999 + 11 + 37 + 400 + 29)
      << "the row is closed after the read";
  EXPECT_EQ(open.read(address(0, 0, 0, 3), 9999), 9999);
  EXPECT_EQ(open.read(address(0, 0), 10'000), 9999 + 11 + 37 + 400 + 29);
  EXPECT_EQ(open.counts(), (DramCounts{5, 0, 2, 0})) << "a row that REF closed is no conflict";
}

TEST(ClockCrossing, HandsOverAtTheNextEdge) {
  DramTiming t = timing();
  t.clock = 1000;
  t.ck = 1600;
  const ClockCrossing crossing(t);
  EXPECT_EQ(crossing.seen(0), 2);   // 1.6 ticks
  EXPECT_EQ(crossing.seen(4), 8);   // 8.0
  EXPECT_EQ(crossing.there(8), 5);  // 5.0 cycles
  EXPECT_EQ(crossing.there(9), 6);  // 5.6
  EXPECT_EQ(crossing.after(8), 6);
  EXPECT_EQ(crossing.after(9), 6);
}

}  // namespace
}  // namespace gemm64::cycles
