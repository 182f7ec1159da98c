// SPDX-License-Identifier: Apache-2.0
#include "host/check/hang_watch.hpp"

#include "host/device/registers.hpp"
#include "tests/test.hpp"
#include "tests/unit/check/fake_probe.hpp"

namespace gemm64 {
namespace {

class HangWatchTest : public testing::Test {
 protected:
  /// Shows the same events in `count` cycles.
  void show(Events events, std::uint64_t count) {
    probe_.now = events;
    for (; count != 0; --count) watch_.clock(clock_++, probe_);
  }

  Geometry geometry_;
  Job job_ = make_job("product", {64, 128, 64}, Accumulate::kDevice, geometry_);
  HangWatch watch_{job_, geometry_, /*memory_latency=*/0};
  FakeProbe probe_;
  std::uint64_t clock_ = 100;
};

constexpr Events kWaits =
    event_bit(counter::kWeightsWaitMemory) | event_bit(counter::kComputeWaitWeights);

TEST_F(HangWatchTest, FindsLastMoveBeforeHang) {
  show(event_bit(counter::kCommandsDispatch), 3);
  show(kWaits, 400);  // a slow memory
  show(event_bit(counter::kComputeCompute), 64 + 10);
  const std::uint64_t last = clock_ - 1;
  show(kWaits, 200000);
  show(event_bit(counter::kWeightsTransfer), 5);  // let go by a reset
  show(kWaits, 1000);
  const Finding finding = watch_.finding();
  EXPECT_EQ(finding.place, Finding::Place::kStandstill);
  EXPECT_EQ(finding.clock, last);
  EXPECT_EQ(finding.waits, kWaits);
  EXPECT_EQ(finding.tile, (TileIndex{0, 1, 0}));
  EXPECT_EQ(finding.tile_begin, last - 9);
  EXPECT_EQ(finding.before_begin, last - 9 - 64);
}

TEST_F(HangWatchTest, CountsHangThatHasNotEnded) {
  show(event_bit(counter::kResultsTransfer), 10);
  show(kWaits, 20000);
  EXPECT_EQ(watch_.finding().clock, 109u);
  EXPECT_EQ(watch_.finding().place, Finding::Place::kStandstill);
}

TEST_F(HangWatchTest, SlowMemoryIsNoHang) {
  HangWatch patient(job_, geometry_, /*memory_latency=*/20000);
  probe_.now = event_bit(counter::kResultsTransfer);
  patient.clock(100, probe_);
  probe_.now = kWaits;
  for (std::uint64_t clock = 101; clock < 100 + 30000; ++clock) patient.clock(clock, probe_);
  EXPECT_EQ(patient.finding().place, Finding::Place::kStopped);
  for (std::uint64_t clock = 100 + 30000; clock < 100 + 60000; ++clock) {
    patient.clock(clock, probe_);
  }
  EXPECT_EQ(patient.finding().place, Finding::Place::kStandstill);
}

TEST_F(HangWatchTest, ErrorIsNoHang) {
  show(event_bit(counter::kComputeCompute), 20);
  show(kWaits, 500);
  show(event_bit(counter::kComputeCompute), 20);
  const Finding finding = watch_.finding();
  EXPECT_EQ(finding.place, Finding::Place::kStopped);
  EXPECT_EQ(finding.clock, clock_ - 1);
}

TEST_F(HangWatchTest, FindsHangBeforeFirstMove) {
  show(kWaits, 50);
  EXPECT_EQ(watch_.finding().place, Finding::Place::kStopped);
}

}  // namespace
}  // namespace gemm64
