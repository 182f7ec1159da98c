// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/axi_write_port.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "tests/unit/sim/axi_master.hpp"

namespace gemm64 {
namespace {

using Master = WriteMaster;

class AxiWritePortWidth : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Widths, AxiWritePortWidth, testing::Values(2u, 4u, 8u, 16u, 32u, 64u));

TEST_P(AxiWritePortWidth, RespondsTheLatencyAfterTheLastBeat) {
  for (const unsigned latency : {1u, 2u, 100u}) {
    Master master(GetParam());
    master.port.set_latency(latency);
    master.burst(0x3000, 16, 1);
    master.run_until(1);
    EXPECT_EQ(master.address_cycles[0], 0u);
    EXPECT_EQ(master.beat_cycles[15], 15u);
    EXPECT_EQ(master.responses[0].clock, 15 + latency);
    EXPECT_EQ(master.responses[0].response, AxiResponse::kOkay);
    master.check();
    EXPECT_EQ(master.memory.data()[0x3000 + 16 * GetParam()], 0);
  }
}

TEST(AxiWritePort, CountsTheLatencyFromTheLaterOfAddressAndLastBeat) {
  for (const unsigned address_from : {0u, 3u, 7u, 8u, 30u}) {
    for (const unsigned data_from : {0u, 5u}) {
      Master master(64);
      master.port.set_latency(10);
      master.address_from = address_from;
      master.data_from = data_from;
      master.burst(0x1000, 8);
      master.run_until(1);
      const std::uint64_t last = data_from + 7;
      EXPECT_EQ(master.responses[0].clock, 10 + std::max<std::uint64_t>(address_from, last))
          << "address from " << address_from << ", data from " << data_from;
      master.check();
    }
  }
}

TEST(AxiWritePort, WritesABeatAtItsHandshakeWhenTheAddressIsKnown) {
  Master master(64);
  master.data_from = 3;
  master.burst(0x1000, 2);
  master.run(3);
  EXPECT_EQ(master.memory.data()[0x1000], 0);
  master.run(1);
  EXPECT_EQ(master.memory.data()[0x1000], master.data[0].data[0]);
  EXPECT_EQ(master.memory.data()[0x1040], 0);
  master.run(1);
  EXPECT_EQ(master.memory.data()[0x1040], master.data[1].data[0]);
}

TEST(AxiWritePort, WritesEarlyBeatsAsSoonAsTheAddressComes) {
  Master master(64);
  master.address_from = 6;
  master.burst(0x1000, 4);
  master.run(6);
  EXPECT_EQ(master.beat_cycles.size(), 4u);
  EXPECT_EQ(master.memory.data()[0x1000], 0);
  master.run(1);
  master.run_until(1);
  master.check();
}

TEST(AxiWritePort, WritesHonouringTheStrobes) {
  for (const unsigned width : {2u, 8u, 64u}) {
    Master master(width);
    master.burst(0x100, 3);
    master.data[0].strobe = 0;
    master.data[1].strobe = 0xaaaaaaaaaaaaaaa1u;
    for (unsigned i = 0; i < 4 * width; ++i) master.memory.data()[0x100 + i] = 0;
    master.run_until(1);
    for (unsigned i = 0; i < width; ++i) {
      const bool enabled = (0xaaaaaaaaaaaaaaa1u >> i) & 1u;
      EXPECT_EQ(master.memory.data()[0x100 + i], 0);
      EXPECT_EQ(master.memory.data()[0x100 + width + i], enabled ? master.data[1].data[i] : 0);
      EXPECT_EQ(master.memory.data()[0x100 + 2 * width + i], master.data[2].data[i]);
    }
  }
}

TEST(AxiWritePort, TakesABeatEveryClockAndRespondsInOrder) {
  Master master(64);
  master.port.set_latency(100);
  for (unsigned i = 0; i < 80; ++i) master.burst(0x1000 * (80 - i), 1 + i % 7, i % 2);
  master.run_until(80);
  for (std::size_t i = 0; i < 80; ++i) EXPECT_EQ(master.address_cycles[i], i);
  std::size_t beat = 0;
  std::uint64_t earliest = 0;
  for (std::size_t i = 0; i < 80; ++i) {
    beat += master.addresses[i].length + 1u;
    EXPECT_EQ(master.beat_cycles[beat - 1], beat - 1);
    earliest = std::max(earliest + 1, std::uint64_t{beat - 1 + 100});
    EXPECT_EQ(master.responses[i].clock, earliest) << "burst " << i;
  }
  master.check();
  EXPECT_EQ(master.port.outstanding(), 0u);
}

TEST(AxiWritePort, GivesOneResponseAClockAfterBackpressure) {
  Master master(64);
  master.port.set_latency(1);
  for (unsigned i = 0; i < 4; ++i) master.burst(0x1000 * i, 1, i % 2);
  for (int i = 0; i < 20; ++i) master.step(false);
  EXPECT_EQ(master.responses.size(), 0u);
  master.run_until(4);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(master.responses[i].clock, 20u + i);
    EXPECT_EQ(master.responses[i].id, i % 2);
  }
}

TEST(AxiWritePort, WithholdsEachReadyWithTheGivenProbability) {
  Master master(64);
  master.port.set_stalls(0.25, 3);
  constexpr unsigned kCycles = 100000;
  unsigned address = 0;
  unsigned data = 0;
  unsigned both = 0;
  for (unsigned i = 0; i < kCycles; ++i) {
    master.step();
    address += master.port.awready();
    data += master.port.wready();
    both += master.port.awready() && master.port.wready();
  }
  EXPECT_NEAR(address, 0.75 * kCycles, 0.01 * kCycles);
  EXPECT_NEAR(data, 0.75 * kCycles, 0.01 * kCycles);
  EXPECT_NEAR(both, 0.5625 * kCycles, 0.01 * kCycles) << "the channels do not stall together";
}

TEST(AxiWritePort, AnswersBeatsOutsideTheMemoryWithDecodeErrorAndKeepsTheOthers) {
  Memory memory(4096 + 64);
  AxiWritePort port("results", memory, 64);
  port.set_latency(1);
  std::array<std::uint8_t, 64> data;
  data.fill(5);
  port.begin_clock(0);
  port.end_clock({true, {4096, 1, 6, 1, 1}, true, data.data(), ~0ull, false, true});
  port.begin_clock(1);
  port.end_clock({false, {}, true, data.data(), ~0ull, true, true});
  port.begin_clock(2);
  ASSERT_TRUE(port.bvalid());
  EXPECT_EQ(port.bresp(), AxiResponse::kDecodeError);
  EXPECT_EQ(port.bid(), 1);
  EXPECT_EQ(memory.data()[4096], 5);
}

TEST(AxiWritePort, FailsTheChosenBurstAndWritesNothingOfIt) {
  Master master(64);
  master.port.fail_burst(1);
  for (unsigned i = 0; i < 3; ++i) master.burst(0x1000 * i, 2);
  master.run_until(3);
  EXPECT_EQ(master.responses[0].response, AxiResponse::kOkay);
  EXPECT_EQ(master.responses[1].response, AxiResponse::kSlaveError);
  EXPECT_EQ(master.responses[2].response, AxiResponse::kOkay);
  EXPECT_EQ(master.memory.data()[0x1000], 0);
  EXPECT_EQ(master.memory.data()[0x2000], master.data[4].data[0]);
}

TEST(AxiWritePort, LosesAnAddress) {
  Master master(64);
  master.port.upset(AxiChannel::kAddress, AxiUpset::kLost);
  master.burst(0x1000, 1);
  master.run(500);
  EXPECT_EQ(master.address_cycles.size(), 1u);
  EXPECT_EQ(master.responses.size(), 0u);
  EXPECT_EQ(master.memory.data()[0x1000], 0);
}

TEST(AxiWritePort, TakesARepeatedAddressForTwoBursts) {
  Master master(64);
  master.port.upset(AxiChannel::kAddress, AxiUpset::kRepeated);
  master.burst(0x1000, 1, 3);
  master.burst(0x2000, 1, 4);
  master.run(500);
  // The second burst's data go to the first one's address.
  ASSERT_EQ(master.responses.size(), 2u);
  EXPECT_EQ(master.responses[1].id, 3u);
  EXPECT_EQ(master.memory.data()[0x1000], master.data[1].data[0]);
  EXPECT_EQ(master.memory.data()[0x2000], 0);
}

TEST(AxiWritePort, FindsALostBeatByTheLastThatComesEarly) {
  Master master(64);
  master.port.upset(AxiChannel::kData, AxiUpset::kLost);
  master.burst(0x1000, 3);
  EXPECT_THAT([&] { master.run(9); },
              Fails<std::logic_error>("wlast is 1 at beat 2 of a burst of 3"));
}

TEST(AxiWritePort, FindsARepeatedBeatByTheLastThatIsMissing) {
  Master master(64);
  master.port.upset(AxiChannel::kData, AxiUpset::kRepeated);
  master.burst(0x1000, 3);
  EXPECT_THAT([&] { master.run(9); },
              Fails<std::logic_error>("wlast is 0 at beat 3 of a burst of 3"));
}

TEST(AxiWritePort, LosesAResponse) {
  Master master(64);
  master.port.upset(AxiChannel::kResponse, AxiUpset::kLost);
  master.burst(0x1000, 1, 1);
  master.burst(0x2000, 1, 2);
  master.run(500);
  ASSERT_EQ(master.responses.size(), 1u);
  EXPECT_EQ(master.responses[0].id, 2u);
  EXPECT_EQ(master.port.outstanding(), 0u);
}

TEST(AxiWritePort, RepeatsAResponse) {
  Master master(64);
  master.port.upset(AxiChannel::kResponse, AxiUpset::kRepeated);
  master.burst(0x1000, 1, 1);
  master.burst(0x2000, 1, 2);
  master.run(500);
  ASSERT_EQ(master.responses.size(), 3u);
  EXPECT_EQ(master.responses[1].id, 1u);
  EXPECT_EQ(master.responses[2].id, 2u);
}

TEST(AxiWritePort, FlipsABitOfTheNextBeatAlone) {
  Master master(64);
  master.port.flip(40, 3);
  master.burst(0x1000, 2);
  master.run_until(1);
  EXPECT_EQ(master.memory.data()[0x1000 + 40], master.data[0].data[40] ^ 8);
  master.memory.data()[0x1000 + 40] ^= 8;
  master.check();
}

TEST(AxiWritePort, ForgetsEarlyDataAndHalfABurstOnReset) {
  Master master(64);
  master.address_from = 100;
  master.burst(0x1000, 2);
  master.run(5);
  master.port.reset();
  EXPECT_FALSE(master.port.awready());
  EXPECT_FALSE(master.port.wready());
  master.address_from = 0;
  master.addresses.clear();
  master.burst(0x2000, 1);
  master.run_until(1);
  EXPECT_EQ(master.memory.data()[0x2000], master.data[2].data[0]);
  EXPECT_EQ(master.memory.data()[0x1000], 0);

  master.burst(0x3000, 2);
  master.data_from = master.clock + 1;
  master.data.pop_back();
  master.run(5);
  master.port.reset();
  master.burst(0x4000, 1);
  master.run_until(2);
  EXPECT_EQ(master.memory.data()[0x4000], master.data.back().data[0]);
}

TEST(AxiWritePort, RejectsAnEarlyLast) {
  Master master(64);
  master.burst(0, 4);
  master.data[2].last = true;
  EXPECT_THAT([&] { master.run(9); },
              Fails<std::logic_error>("cycle 2: wlast is 1 at beat 3 of a burst of 4"));
}

TEST(AxiWritePort, RejectsAMissingLast) {
  Master master(64);
  master.burst(0, 4);
  master.data[3].last = false;
  EXPECT_THAT([&] { master.run(9); },
              Fails<std::logic_error>("cycle 3: wlast is 0 at beat 4 of a burst of 4"));
}

TEST(AxiWritePort, RejectsEarlyDataOfTheWrongLengthWhenTheAddressComes) {
  Master longer(64);
  longer.burst(0, 4);
  longer.addresses[0].length = 1;
  longer.address_from = 10;
  EXPECT_THAT([&] { longer.run(20); },
              Fails<std::logic_error>("cycle 10: wlast is 0 at beat 2 of a burst of 2"));

  Master shorter(64);
  shorter.burst(0, 4);
  shorter.addresses[0].length = 7;
  shorter.address_from = 10;
  EXPECT_THAT([&] { shorter.run(20); },
              Fails<std::logic_error>("cycle 10: wlast is 1 at beat 4 of a burst of 8"));
}

TEST(AxiWritePort, RejectsDataTwoBurstsAheadOfItsAddress) {
  Master master(64);
  master.burst(0, 3);
  master.burst(0x1000, 1);
  master.address_from = 100;
  master.run(3);
  EXPECT_THAT([&] { master.step(); },
              Fails<std::logic_error>("cycle 3: w data of a second burst ahead of its address"));
}

TEST(AxiWritePort, RejectsEarlyDataWithoutALast) {
  Master master(64);
  master.burst(0, 65);
  master.address_from = 1000;
  master.run(64);
  EXPECT_THAT([&] { master.step(); }, Fails<std::logic_error>("wlast missing after 64 beats"));
}

/// A cycle in which both channels are stalled, and the master offered an address and a beat.
class StalledWrite : public testing::Test {
 protected:
  StalledWrite() : master_(64) {
    master_.port.set_stalls(0.9, 1);
    data_.fill(7);
    offer_.awvalid = offer_.wvalid = true;
    offer_.aw = master_.address(0x40, 1);
    offer_.wdata = data_.data();
    offer_.wstrb = ~0ull;
    offer_.wlast = true;
    std::uint64_t clock = 0;
    do {
      master_.port.begin_clock(clock++);
      if (!master_.port.awready() && !master_.port.wready()) break;
      master_.port.end_clock({});
    } while (clock < 1000);
    master_.port.end_clock(offer_);
    master_.port.begin_clock(clock);
  }

  std::string next() {
    return message_of<std::logic_error>([&] { master_.port.end_clock(offer_); });
  }

  Master master_;
  std::array<std::uint8_t, 64> data_{};
  AxiWriteMaster offer_;
};

TEST_F(StalledWrite, MayStay) { EXPECT_EQ(next(), ""); }

TEST_F(StalledWrite, MustNotDropItsData) {
  offer_.wvalid = false;
  EXPECT_THAT(next(), Says("wvalid dropped before wready"));
}

TEST_F(StalledWrite, MustNotChangeItsData) {
  data_[63] = 8;
  EXPECT_THAT(next(), Says("w payload changed before wready: wdata byte 63 was 7, is 8"));
}

TEST_F(StalledWrite, MustNotChangeItsStrobes) {
  offer_.wstrb = 1;
  EXPECT_THAT(next(), Says("w payload changed before wready: wstrb was"));
}

TEST_F(StalledWrite, MustNotChangeItsLast) {
  offer_.wlast = false;
  EXPECT_THAT(next(), Says("w payload changed before wready: wlast was 1, is 0"));
}

TEST_F(StalledWrite, IsForgottenByReset) {
  master_.port.reset();
  offer_ = AxiWriteMaster{};
  EXPECT_EQ(next(), "");
}

}  // namespace
}  // namespace gemm64
