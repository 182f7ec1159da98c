// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/axi_write_port.hpp"

#include "tests/test.hpp"
#include "tests/unit/sim/axi_master.hpp"

namespace gemm64 {
namespace {

using Master = WriteMaster;

class AxiWritePortWidth : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Widths, AxiWritePortWidth, testing::Values(2u, 4u, 8u, 16u, 32u, 64u));

TEST_P(AxiWritePortWidth, RespondsAfterLatency) {
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

class AxiWritePortTest : public testing::Test {
 protected:
  Master master{64};
};

TEST_F(AxiWritePortTest, LatencyBeginsWithTheLater) {
  for (const unsigned address_from : {0u, 3u, 7u, 8u, 30u}) {
    for (const unsigned data_from : {0u, 5u}) {
      Master one(64);
      one.port.set_latency(10);
      one.address_from = address_from;
      one.data_from = data_from;
      one.burst(0x1000, 8);
      one.run_until(1);
      const std::uint64_t last = data_from + 7;
      EXPECT_EQ(one.responses[0].clock, 10 + std::max<std::uint64_t>(address_from, last))
          << "address from " << address_from << ", data from " << data_from;
      one.check();
    }
  }
}

TEST_F(AxiWritePortTest, WritesBeatAtHandshake) {
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

TEST_F(AxiWritePortTest, WritesEarlyBeatsWithAddress) {
  master.address_from = 6;
  master.burst(0x1000, 4);
  master.run(6);
  EXPECT_EQ(master.beat_cycles.size(), 4u);
  EXPECT_EQ(master.memory.data()[0x1000], 0);
  master.run(1);
  master.run_until(1);
  master.check();
}

TEST_F(AxiWritePortTest, WritesByStrobes) {
  for (const unsigned width : {2u, 8u, 64u}) {
    Master one(width);
    one.burst(0x100, 3);
    one.data[0].strobe = 0;
    one.data[1].strobe = 0xaaaaaaaaaaaaaaa1u;
    for (unsigned i = 0; i < 4 * width; ++i) one.memory.data()[0x100 + i] = 0;
    one.run_until(1);
    for (unsigned i = 0; i < width; ++i) {
      const bool enabled = (0xaaaaaaaaaaaaaaa1u >> i) & 1u;
      EXPECT_EQ(one.memory.data()[0x100 + i], 0);
      EXPECT_EQ(one.memory.data()[0x100 + width + i], enabled ? one.data[1].data[i] : 0);
      EXPECT_EQ(one.memory.data()[0x100 + 2 * width + i], one.data[2].data[i]);
    }
  }
}

TEST_F(AxiWritePortTest, AcceptsBeatPerCycle) {
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

TEST_F(AxiWritePortTest, RespondsOncePerCycle) {
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

TEST_F(AxiWritePortTest, StallsWithGivenProbability) {
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

TEST_F(AxiWritePortTest, ReportsBeatsOutsideMemory) {
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

TEST_F(AxiWritePortTest, FailsChosenBurst) {
  master.port.fail_burst(1);
  for (unsigned i = 0; i < 3; ++i) master.burst(0x1000 * i, 2);
  master.run_until(3);
  EXPECT_EQ(master.responses[0].response, AxiResponse::kOkay);
  EXPECT_EQ(master.responses[1].response, AxiResponse::kSlaveError);
  EXPECT_EQ(master.responses[2].response, AxiResponse::kOkay);
  EXPECT_EQ(master.memory.data()[0x1000], 0);
  EXPECT_EQ(master.memory.data()[0x2000], master.data[4].data[0]);
}

TEST_F(AxiWritePortTest, LosesAnAddress) {
  master.port.upset(AxiChannel::kAddress, AxiUpset::kLost);
  master.burst(0x1000, 1);
  master.run(500);
  EXPECT_EQ(master.address_cycles.size(), 1u);
  EXPECT_EQ(master.responses.size(), 0u);
  EXPECT_EQ(master.memory.data()[0x1000], 0);
}

TEST_F(AxiWritePortTest, RepeatedAddressIsTwoBursts) {
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

TEST_F(AxiWritePortTest, LosesAResponse) {
  master.port.upset(AxiChannel::kResponse, AxiUpset::kLost);
  master.burst(0x1000, 1, 1);
  master.burst(0x2000, 1, 2);
  master.run(500);
  ASSERT_EQ(master.responses.size(), 1u);
  EXPECT_EQ(master.responses[0].id, 2u);
  EXPECT_EQ(master.port.outstanding(), 0u);
}

TEST_F(AxiWritePortTest, RepeatsAResponse) {
  master.port.upset(AxiChannel::kResponse, AxiUpset::kRepeated);
  master.burst(0x1000, 1, 1);
  master.burst(0x2000, 1, 2);
  master.run(500);
  ASSERT_EQ(master.responses.size(), 3u);
  EXPECT_EQ(master.responses[1].id, 1u);
  EXPECT_EQ(master.responses[2].id, 2u);
}

TEST_F(AxiWritePortTest, FlipsBitOfNextBeat) {
  master.port.flip(40, 3);
  master.burst(0x1000, 2);
  master.run_until(1);
  EXPECT_EQ(master.memory.data()[0x1000 + 40], master.data[0].data[40] ^ 8);
  master.memory.data()[0x1000 + 40] ^= 8;
  master.check();
}

TEST_F(AxiWritePortTest, ForgetsDataOnReset) {
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

TEST_F(AxiWritePortTest, RejectsBrokenBursts) {
  struct Case {
    const char* message;
    std::function<void(Master&)> begin;
    unsigned good = 0;  // cycles before it is found
  };
  const Case cases[] = {
      {"wlast is 1 at beat 2 of a burst of 3",
       [](Master& m) {
         m.port.upset(AxiChannel::kData, AxiUpset::kLost);
         m.burst(0x1000, 3);
       }},
      {"wlast is 0 at beat 3 of a burst of 3",
       [](Master& m) {
         m.port.upset(AxiChannel::kData, AxiUpset::kRepeated);
         m.burst(0x1000, 3);
       }},
      {"cycle 2: wlast is 1 at beat 3 of a burst of 4",
       [](Master& m) { m.burst(0, 4), m.data[2].last = true; }},
      {"cycle 3: wlast is 0 at beat 4 of a burst of 4",
       [](Master& m) { m.burst(0, 4), m.data[3].last = false; }},
      {"cycle 10: wlast is 0 at beat 2 of a burst of 2",
       [](Master& m) { m.burst(0, 4), m.addresses[0].length = 1, m.address_from = 10; }, 10},
      {"cycle 10: wlast is 1 at beat 4 of a burst of 8",
       [](Master& m) { m.burst(0, 4), m.addresses[0].length = 7, m.address_from = 10; }, 10},
      {"cycle 3: w data of a second burst ahead of its address",
       [](Master& m) { m.burst(0, 3), m.burst(0x1000, 1), m.address_from = 100; }, 3},
      {"wlast missing after 64 beats", [](Master& m) { m.burst(0, 65), m.address_from = 1000; },
       64}};
  for (const Case& c : cases) {
    Master one(64);
    c.begin(one);
    one.run(c.good);
    EXPECT_THAT([&] { one.run(9); }, Fails<std::logic_error>(c.message));
  }
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

TEST_F(StalledWrite, MustStay) {
  const auto after = [this](auto change) {
    const AxiWriteMaster before = offer_;
    change();
    const std::string found = next();
    offer_ = before;
    return found;
  };
  EXPECT_THAT(after([this] { offer_.wvalid = false; }), Says("wvalid dropped before wready"));
  EXPECT_THAT(after([this] { offer_.wstrb = 1; }),
              Says("w payload changed before wready: wstrb was"));
  EXPECT_THAT(after([this] { offer_.wlast = false; }),
              Says("w payload changed before wready: wlast was 1, is 0"));
  EXPECT_THAT(after([this] { data_[63] = 8; }),
              Says("w payload changed before wready: wdata byte 63 was 7, is 8"));
}

TEST_F(StalledWrite, IsForgottenByReset) {
  master_.port.reset();
  offer_ = AxiWriteMaster{};
  EXPECT_EQ(next(), "");
}

}  // namespace
}  // namespace gemm64
