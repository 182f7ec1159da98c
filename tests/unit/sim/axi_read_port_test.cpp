// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/axi_read_port.hpp"

#include "tests/test.hpp"
#include "tests/unit/sim/axi_master.hpp"

namespace gemm64 {
namespace {

using Master = ReadMaster;

class AxiReadPortWidth : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Widths, AxiReadPortWidth, testing::Values(2u, 4u, 8u, 16u, 32u, 64u));

TEST_P(AxiReadPortWidth, AnswersAfterLatency) {
  for (const unsigned latency : {1u, 2u, 7u, 100u}) {
    Master master(GetParam());
    master.port.set_latency(latency);
    master.burst(0x2000, 16);
    master.run_until(16);
    ASSERT_EQ(master.address_cycles, std::vector<std::uint64_t>{0});
    for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(master.beats[i].clock, latency + i);
    master.check();
  }
}

class AxiReadPortTest : public testing::Test {
 protected:
  Master master{64};
};

TEST_F(AxiReadPortTest, LatencyBeginsAtHandshake) {
  master.port.set_latency(9);
  master.run(33);
  master.burst(0, 1);
  master.run_until(1);
  EXPECT_EQ(master.address_cycles[0], 33u);
  EXPECT_EQ(master.beats[0].clock, 42u);
}

TEST_F(AxiReadPortTest, AnswersInOrderAcrossIds) {
  master.port.set_latency(20);
  for (unsigned i = 0; i < 12; ++i) master.burst(0x1000 * (12 - i), 1 + i % 5, i % 2);
  std::size_t total = 0;
  for (const AxiAddress& a : master.addresses) total += a.length + 1u;
  master.run_until(total);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(master.address_cycles[i], i);
  for (std::size_t i = 0; i < total; ++i) EXPECT_EQ(master.beats[i].clock, 20 + i);
  master.check();
}

TEST_F(AxiReadPortTest, EachBurstHasItsLatency) {
  master.port.set_latency(10);
  master.burst(0, 2);
  master.run(5);
  master.burst(0x1000, 2);
  master.run_until(4);
  EXPECT_EQ(master.beats[1].clock, 11u);
  EXPECT_EQ(master.beats[2].clock, 15u);
}

TEST_F(AxiReadPortTest, HidesLatencyOfBursts) {
  master.port.set_latency(100);
  for (unsigned i = 0; i < 200; ++i)
    master.burst(64 * 16 * i, 16);  // more than the ring starts with
  master.run_until(3200);
  EXPECT_EQ(master.beats.back().clock, 100u + 3199);
  master.check();
  EXPECT_EQ(master.port.outstanding(), 0u);
}

TEST_F(AxiReadPortTest, NewLatencyIsForLaterRequests) {
  master.port.set_latency(30);
  master.burst(0, 1);
  master.run(1);
  master.port.set_latency(3);
  master.burst(64, 1);
  master.run_until(2);
  EXPECT_EQ(master.beats[0].clock, 30u);
  EXPECT_EQ(master.beats[1].clock, 31u);
  master.burst(128, 1);
  master.run_until(3);
  EXPECT_EQ(master.beats[2].clock, 32u + 3);
}

TEST_F(AxiReadPortTest, HoldsWaitingBeat) {
  master.port.set_latency(1);
  master.burst(0, 2);
  master.step();
  master.step(false);
  const std::vector<std::uint8_t> before = master.held_beat.data;
  master.memory.data()[0] ^= 0xff;
  master.memory.data()[64] ^= 0xff;
  for (int i = 0; i < 5; ++i) master.step(false);
  master.run(2);
  ASSERT_EQ(master.beats.size(), 2u);
  EXPECT_EQ(master.beats[0].data, before);
  EXPECT_EQ(master.beats[0].clock, 7u);
  EXPECT_EQ(master.beats[1].clock, 8u);
  EXPECT_EQ(master.beats[1].data[0], master.memory.data()[64]);
}

TEST_F(AxiReadPortTest, StallsWithGivenProbability) {
  master.port.set_latency(1);
  master.port.set_stalls(0.25, 5);
  constexpr unsigned kCycles = 100000;
  unsigned ready = 0;
  unsigned valid = 0;
  for (unsigned i = 0; i < kCycles; ++i) {
    if (master.address_cycles.size() == master.addresses.size()) master.burst(0, 64);
    master.step();
    ready += master.port.arready();
  }
  valid = static_cast<unsigned>(master.beats.size());
  EXPECT_NEAR(ready, 0.75 * kCycles, 0.01 * kCycles);
  EXPECT_NEAR(valid, 0.75 * kCycles, 0.01 * kCycles);
}

TEST_F(AxiReadPortTest, DrivesNoiseWithoutValid) {
  master.port.set_stalls(0.5, 1);
  master.port.begin_clock(0);
  EXPECT_TRUE(master.port.payload_changed());
  const std::vector<std::uint8_t> first(master.port.rdata(), master.port.rdata() + 64);
  master.port.end_clock({});
  master.port.begin_clock(1);
  EXPECT_NE(std::memcmp(first.data(), master.port.rdata(), 64), 0);
}

TEST_F(AxiReadPortTest, SavesAtMostABeatOfCredit) {
  master.port.set_latency(1);
  master.port.set_bytes_per_cycle(8);
  master.run(1000);
  master.burst(0, 3);
  master.run_until(3);
  EXPECT_EQ(master.beats[0].clock, 1001u);
  EXPECT_EQ(master.beats[1].clock, 1009u);
  EXPECT_EQ(master.beats[2].clock, 1017u);
}

TEST_F(AxiReadPortTest, IsUnthrottledByItsWidth) {
  for (const unsigned bytes : {0u, 64u, 1000u}) {
    Master one(64);
    one.port.set_bytes_per_cycle(bytes);
    one.burst(0, 64);
    one.run_until(64);
    EXPECT_EQ(one.beats.back().clock, 163u);
  }
}

TEST_F(AxiReadPortTest, ReportsBeatsOutsideMemory) {
  Memory memory(4096 + 128);  // ends after the second beat of the burst
  AxiReadPort port("weights", memory, 64);
  port.set_latency(1);
  memory.data()[4096 + 64] = 9;
  port.begin_clock(0);
  port.end_clock({true, {4096, 3, 6, 1, 0}, true});
  for (unsigned i = 0; i < 4; ++i) {
    port.begin_clock(1 + i);
    ASSERT_TRUE(port.rvalid());
    EXPECT_EQ(port.rresp(), i < 2 ? AxiResponse::kOkay : AxiResponse::kDecodeError) << i;
    EXPECT_EQ(port.rdata()[0], i == 1 ? 9 : 0) << i;
    EXPECT_EQ(port.rlast(), i == 3);
    port.end_clock({false, {}, true});
  }
}

TEST_F(AxiReadPortTest, ReportsTopOfAddressSpace) {
  master.burst((std::uint64_t{1} << 40) - 64, 1);
  master.run_until(1);
  EXPECT_EQ(master.beats[0].response, AxiResponse::kDecodeError);
}

TEST_F(AxiReadPortTest, FailsChosenBeat) {
  master.port.fail_burst(3, AxiReadPort::FailedBeat::kLast);
  master.port.fail_burst(1);
  for (unsigned i = 0; i < 5; ++i) master.burst(0x1000 * i, 4);
  master.run_until(20);
  for (unsigned i = 0; i < 20; ++i) {
    EXPECT_EQ(master.beats[i].response,
              i == 4 || i == 15 ? AxiResponse::kSlaveError : AxiResponse::kOkay)
        << "beat " << i;
  }
}

TEST_F(AxiReadPortTest, CountsBurstsToFailFromTheCall) {
  master.burst(0, 1);
  master.run_until(1);
  master.port.clear_statistics();
  master.burst(0, 1);
  master.run_until(2);
  master.port.fail_burst(0);
  master.burst(0, 1);
  master.burst(0, 1);
  master.run_until(4);
  EXPECT_EQ(master.beats[1].response, AxiResponse::kOkay);
  EXPECT_EQ(master.beats[2].response, AxiResponse::kSlaveError);
  EXPECT_EQ(master.beats[3].response, AxiResponse::kOkay);
}

TEST_F(AxiReadPortTest, LosesAddress) {
  master.port.upset(AxiChannel::kAddress, AxiUpset::kLost);
  master.burst(0x1000, 2);
  master.burst(0x2000, 2);
  master.run(500);
  EXPECT_EQ(master.address_cycles.size(), 2u);
  EXPECT_EQ(master.port.statistics().bursts, 1u);
  master.addresses.erase(master.addresses.begin());
  master.check();
}

TEST_F(AxiReadPortTest, AnswersARepeatedAddressTwice) {
  master.port.upset(AxiChannel::kAddress, AxiUpset::kRepeated);
  master.burst(0x1000, 2);
  master.burst(0x2000, 2);
  master.run(500);
  EXPECT_EQ(master.address_cycles.size(), 2u);
  master.addresses.insert(master.addresses.begin(), master.addresses[0]);
  master.check();
}

TEST_F(AxiReadPortTest, LosesABeat) {
  master.burst(0x1000, 4);
  master.run_until(1);
  master.port.upset(AxiChannel::kData, AxiUpset::kLost);
  master.run(500);
  ASSERT_EQ(master.beats.size(), 3u);
  EXPECT_EQ(std::memcmp(master.beats[1].data.data(), master.memory.data() + 0x1080, 64), 0);
  EXPECT_TRUE(master.beats[2].last);
  EXPECT_EQ(master.port.outstanding(), 0u);
}

TEST_F(AxiReadPortTest, LosesLastBeat) {
  master.port.upset(AxiChannel::kData, AxiUpset::kLost);
  master.burst(0x1000, 1);
  master.burst(0x2000, 2);
  master.run(500);
  master.addresses.erase(master.addresses.begin());
  master.check();
}

TEST_F(AxiReadPortTest, RepeatsABeat) {
  master.port.upset(AxiChannel::kData, AxiUpset::kRepeated);
  master.burst(0x1000, 3);
  master.run(500);
  ASSERT_EQ(master.beats.size(), 4u);
  EXPECT_EQ(master.beats[0].data, master.beats[1].data);
  EXPECT_FALSE(master.beats[1].last);
  EXPECT_TRUE(master.beats[3].last);
}

TEST_F(AxiReadPortTest, FlipsBitOfNextBeatWithByte) {
  Master one(8);
  one.burst(0x1000, 8, 1);
  one.burst(0x2000, 8, 0);
  one.burst(0x3000, 8, 0);
  one.port.flip(0, 64, 18, 5);
  one.run_until(24);
  for (unsigned i = 0; i < 24; ++i) {
    std::vector<std::uint8_t> expected(8);
    std::memcpy(expected.data(), one.memory.data() + 0x1000 * (1 + i / 8) + 8 * (i % 8), 8);
    if (i == 10) expected[2] ^= 0x20;
    EXPECT_EQ(one.beats[i].data, expected) << "beat " << i;
  }
}

TEST_F(AxiReadPortTest, ForgetsBurstsAndErrorsOnReset) {
  master.port.fail_burst(1);
  master.burst(0, 8);
  master.run(103);
  EXPECT_EQ(master.beats.size(), 3u);
  master.port.reset();
  EXPECT_FALSE(master.port.rvalid());
  EXPECT_FALSE(master.port.arready());
  master.run(500);
  EXPECT_EQ(master.beats.size(), 3u);
  master.burst(0x1000, 2);
  master.run_until(5);
  EXPECT_EQ(master.beats[3].response, AxiResponse::kOkay);
  EXPECT_FALSE(master.beats[3].last);
  EXPECT_TRUE(master.beats[4].last);
}

}  // namespace
}  // namespace gemm64
