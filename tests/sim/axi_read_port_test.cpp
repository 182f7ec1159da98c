// SPDX-License-Identifier: Apache-2.0
#include "sim/axi_read_port.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "host/error.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kMemoryBytes = 1 << 20;
constexpr std::uint64_t kClockLimit = 200000;

struct Beat {
  std::uint64_t clock = 0;
  unsigned id = 0;
  AxiResponse response = AxiResponse::kOkay;
  bool last = false;
  std::vector<std::uint8_t> data;
};

/// A master that holds each address until it is taken, and records each beat that it takes.
class Master {
 public:
  explicit Master(unsigned width) : memory(kMemoryBytes), port("weights", memory, width) {
    for (std::uint64_t i = 0; i < kMemoryBytes; ++i) {
      memory.data()[i] = static_cast<std::uint8_t>((i * 2654435761u) >> 13);
    }
  }

  AxiAddress address(std::uint64_t at, unsigned length, unsigned id = 0) const {
    AxiAddress a;
    a.address = at;
    a.length = static_cast<std::uint8_t>(length - 1);
    while ((1u << a.size) < port.width()) ++a.size;
    a.burst = 1;
    a.id = static_cast<std::uint8_t>(id);
    return a;
  }

  void request(std::uint64_t at, unsigned length, unsigned id = 0) {
    requests.push_back(address(at, length, id));
  }

  /// One clock; `rready` is what the master drives.
  void step(bool rready = true) {
    port.begin_clock(clock);
    AxiReadMaster drive;
    drive.arvalid = requested < requests.size();
    if (drive.arvalid) drive.ar = requests[requested];
    drive.rready = rready;
    if (port.rvalid()) {
      Beat beat{clock, port.rid(), port.rresp(), port.rlast(),
                std::vector<std::uint8_t>(port.rdata(), port.rdata() + port.width())};
      if (held) {
        EXPECT_EQ(beat.id, held_beat.id) << "clock " << clock;
        EXPECT_EQ(beat.response, held_beat.response) << "clock " << clock;
        EXPECT_EQ(beat.last, held_beat.last) << "clock " << clock;
        EXPECT_EQ(beat.data, held_beat.data) << "clock " << clock;
      }
      held = !rready;
      held_beat = beat;
      if (rready) beats.push_back(std::move(beat));
    } else {
      EXPECT_FALSE(held) << "rvalid withdrawn at clock " << clock;
    }
    const bool taken = drive.arvalid && port.arready();
    port.end_clock(drive);
    if (taken) {
      ++requested;
      accepted.push_back(clock);
    }
    ++clock;
  }

  void run(std::uint64_t clocks) {
    for (; clocks != 0; --clocks) step();
  }

  void run_until(std::size_t count) {
    while (beats.size() < count && clock < kClockLimit) step();
    ASSERT_EQ(beats.size(), count) << "clock limit reached";
  }

  /// Checks that the beats are those of the requests, in order.
  void check_data() const {
    std::size_t next = 0;
    for (const AxiAddress& a : requests) {
      for (unsigned i = 0; i <= a.length; ++i, ++next) {
        ASSERT_LT(next, beats.size());
        const Beat& beat = beats[next];
        EXPECT_EQ(beat.id, a.id) << "beat " << next;
        EXPECT_EQ(beat.last, i == a.length) << "beat " << next;
        EXPECT_EQ(std::memcmp(beat.data.data(), memory.data() + a.address + i * port.width(),
                              port.width()),
                  0)
            << "beat " << next;
      }
    }
    EXPECT_EQ(next, beats.size());
  }

  Memory memory;
  AxiReadPort port;
  std::uint64_t clock = 0;
  std::vector<AxiAddress> requests;
  std::size_t requested = 0;
  std::vector<std::uint64_t> accepted;
  std::vector<Beat> beats;
  bool held = false;
  Beat held_beat;
};

std::string violation(Master& master, const AxiReadMaster& drive) {
  try {
    master.port.begin_clock(master.clock);
    ++master.clock;
    master.port.end_clock(drive);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

std::string violation(const AxiAddress& address) {
  Master master(64);
  return violation(master, {true, address, true});
}

class AxiReadPortWidth : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Widths, AxiReadPortWidth, testing::Values(2u, 4u, 8u, 16u, 32u, 64u));

TEST_P(AxiReadPortWidth, AnswersEachAddressAfterTheLatencyAndThenABeatAClock) {
  for (const unsigned latency : {1u, 2u, 7u, 100u}) {
    Master master(GetParam());
    master.port.set_latency(latency);
    master.request(0x2000, 16);
    master.run_until(16);
    ASSERT_EQ(master.accepted, std::vector<std::uint64_t>{0});
    for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(master.beats[i].clock, latency + i);
    master.check_data();
  }
}

TEST(AxiReadPort, StartsTheLatencyAtTheHandshakeNotAtReset) {
  Master master(64);
  master.port.set_latency(9);
  master.run(33);
  master.request(0, 1);
  master.run_until(1);
  EXPECT_EQ(master.accepted[0], 33u);
  EXPECT_EQ(master.beats[0].clock, 42u);
}

TEST(AxiReadPort, AnswersBackToBackInOrderAcrossIds) {
  Master master(64);
  master.port.set_latency(20);
  for (unsigned i = 0; i < 12; ++i) master.request(0x1000 * (12 - i), 1 + i % 5, i % 2);
  std::size_t total = 0;
  for (const AxiAddress& a : master.requests) total += a.length + 1u;
  master.run_until(total);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(master.accepted[i], i);
  for (std::size_t i = 0; i < total; ++i) EXPECT_EQ(master.beats[i].clock, 20 + i);
  master.check_data();
}

TEST(AxiReadPort, DoesNotAnswerALaterBurstBeforeItsOwnLatency) {
  Master master(64);
  master.port.set_latency(10);
  master.request(0, 2);
  master.run(5);
  master.request(0x1000, 2);
  master.run_until(4);
  EXPECT_EQ(master.beats[1].clock, 11u);
  EXPECT_EQ(master.beats[2].clock, 15u);
}

TEST(AxiReadPort, HidesTheLatencyWhenEnoughBurstsAreOutstanding) {
  Master master(64);
  master.port.set_latency(100);
  for (unsigned i = 0; i < 200; ++i)
    master.request(64 * 16 * i, 16);  // more than the ring starts with
  master.run_until(3200);
  EXPECT_EQ(master.beats.back().clock, 100u + 3199);
  master.check_data();
  EXPECT_EQ(master.port.outstanding(), 0u);
}

TEST(AxiReadPort, UsesANewLatencyForLaterRequestsOnly) {
  Master master(64);
  master.port.set_latency(30);
  master.request(0, 1);
  master.run(1);
  master.port.set_latency(3);
  master.request(64, 1);
  master.run_until(2);
  EXPECT_EQ(master.beats[0].clock, 30u);
  EXPECT_EQ(master.beats[1].clock, 31u);
  master.request(128, 1);
  master.run_until(3);
  EXPECT_EQ(master.beats[2].clock, 32u + 3);
}

TEST(AxiReadPort, HoldsAWaitingBeatThoughTheMemoryChanges) {
  Master master(64);
  master.port.set_latency(1);
  master.request(0, 2);
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

TEST(AxiReadPort, KeepsOrderAndDataUnderStallsAndBackpressure) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Master master(seed % 2 == 0 ? 64 : 4);
    master.port.set_latency(1 + seed);
    master.port.set_stalls(0.05 * seed - 0.05, seed);
    std::size_t total = 0;
    for (unsigned i = 0; i < 60; ++i) {
      const unsigned beats = 1 + (i * seed) % 64;
      master.request(0x1000 * (i % 50), beats, i % 2);
      total += beats;
    }
    std::uint32_t noise = seed;
    while (master.beats.size() < total && master.clock < kClockLimit) {
      noise = noise * 1664525u + 1013904223u;
      master.step((noise >> 28) % 4 != 0);
    }
    ASSERT_EQ(master.beats.size(), total);
    master.check_data();
  }
}

TEST(AxiReadPort, WithholdsReadyAndNewValidWithTheGivenProbability) {
  Master master(64);
  master.port.set_latency(1);
  master.port.set_stalls(0.25, 5);
  constexpr unsigned kClocks = 100000;
  unsigned ready = 0;
  unsigned valid = 0;
  for (unsigned i = 0; i < kClocks; ++i) {
    if (master.requested == master.requests.size()) master.request(0, 64);
    master.step();
    ready += master.port.arready();
  }
  valid = static_cast<unsigned>(master.beats.size());
  EXPECT_NEAR(ready, 0.75 * kClocks, 0.01 * kClocks);
  EXPECT_NEAR(valid, 0.75 * kClocks, 0.01 * kClocks);
}

TEST(AxiReadPort, RepeatsItsStallsFromTheSeed) {
  std::vector<std::vector<std::uint64_t>> clocks;
  for (const std::uint32_t seed : {7u, 7u, 8u}) {
    Master master(8);
    master.port.set_stalls(0.5, seed);
    for (unsigned i = 0; i < 20; ++i) master.request(512 * i, 64);
    master.run_until(20 * 64);
    clocks.emplace_back();
    for (const Beat& beat : master.beats) clocks.back().push_back(beat.clock);
  }
  EXPECT_EQ(clocks[0], clocks[1]);
  EXPECT_NE(clocks[0], clocks[2]);
}

TEST(AxiReadPort, DrivesNoiseWhileStallingWithoutValid) {
  Master master(64);
  master.port.set_stalls(0.5, 1);
  master.port.begin_clock(0);
  EXPECT_TRUE(master.port.payload_changed());
  const std::vector<std::uint8_t> first(master.port.rdata(), master.port.rdata() + 64);
  master.port.end_clock({});
  master.port.begin_clock(1);
  EXPECT_NE(std::memcmp(first.data(), master.port.rdata(), 64), 0);
}

TEST(AxiReadPort, CarriesExactlyTheThrottledBytesOnAverage) {
  for (const unsigned bytes : {1u, 16u, 31u, 32u, 48u, 63u}) {
    Master master(64);
    master.port.set_latency(1);
    master.port.set_bytes_per_cycle(bytes);
    constexpr unsigned kBeats = 64 * 16;
    for (unsigned i = 0; i < kBeats / 64; ++i) master.request(4096 * i, 64);
    master.run_until(kBeats);
    // The first beat finds the credit of one beat saved; each further one must earn its 64 bytes.
    const std::uint64_t first = master.beats.front().clock;
    for (unsigned i = 0; i < kBeats; ++i) {
      const std::uint64_t passed = master.beats[i].clock - first;
      EXPECT_LE(64u * i, bytes * (passed + 1)) << "bytes " << bytes << " beat " << i;
    }
    const std::uint64_t passed = master.beats.back().clock - first;
    EXPECT_LE(bytes * passed, 64u * kBeats + bytes) << "bytes " << bytes;
    master.check_data();
  }
}

TEST(AxiReadPort, SavesNoMoreThanABeatOfCreditWhileIdle) {
  Master master(64);
  master.port.set_latency(1);
  master.port.set_bytes_per_cycle(8);
  master.run(1000);
  master.request(0, 3);
  master.run_until(3);
  EXPECT_EQ(master.beats[0].clock, 1001u);
  EXPECT_EQ(master.beats[1].clock, 1009u);
  EXPECT_EQ(master.beats[2].clock, 1017u);
}

TEST(AxiReadPort, IsUnthrottledByAsManyBytesAsItIsWide) {
  for (const unsigned bytes : {0u, 64u, 1000u}) {
    Master master(64);
    master.port.set_bytes_per_cycle(bytes);
    master.request(0, 64);
    master.run_until(64);
    EXPECT_EQ(master.beats.back().clock, 163u);
  }
}

TEST(AxiReadPort, AnswersBeatsOutsideTheMemoryWithDecodeErrorAndZeros) {
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

TEST(AxiReadPort, AnswersTheTopOfTheAddressSpaceWithDecodeError) {
  Master master(64);
  master.request((std::uint64_t{1} << 40) - 64, 1);
  master.run_until(1);
  EXPECT_EQ(master.beats[0].response, AxiResponse::kDecodeError);
}

TEST(AxiReadPort, FailsTheChosenBurstOnItsFirstOrLastBeat) {
  Master master(64);
  master.port.fail_burst(3, AxiReadPort::FailedBeat::kLast);
  master.port.fail_burst(1);
  for (unsigned i = 0; i < 5; ++i) master.request(0x1000 * i, 4);
  master.run_until(20);
  for (unsigned i = 0; i < 20; ++i) {
    EXPECT_EQ(master.beats[i].response,
              i == 4 || i == 15 ? AxiResponse::kSlaveError : AxiResponse::kOkay)
        << "beat " << i;
  }
}

TEST(AxiReadPort, CountsBurstsToFailFromTheCall) {
  Master master(64);
  master.request(0, 1);
  master.run_until(1);
  master.port.clear_statistics();
  master.request(0, 1);
  master.run_until(2);
  master.port.fail_burst(0);
  master.request(0, 1);
  master.request(0, 1);
  master.run_until(4);
  EXPECT_EQ(master.beats[1].response, AxiResponse::kOkay);
  EXPECT_EQ(master.beats[2].response, AxiResponse::kSlaveError);
  EXPECT_EQ(master.beats[3].response, AxiResponse::kOkay);
}

TEST(AxiReadPort, HangsFromTheChosenBurstUntilReset) {
  Master master(64);
  master.port.set_latency(1);
  master.port.hang_after(2);
  for (unsigned i = 0; i < 4; ++i) master.request(0x1000 * i, 2);
  master.run(5000);
  EXPECT_EQ(master.beats.size(), 4u);
  EXPECT_EQ(master.accepted.size(), 4u);
  master.port.reset();
  EXPECT_EQ(master.port.outstanding(), 0u);
  master.beats.clear();
  master.requests.assign({master.address(0x5000, 2)});
  master.requested = 0;
  master.run_until(2);
  master.check_data();
}

TEST(AxiReadPort, FailsABurstWithTheErrorThatWasAskedFor) {
  Master master(64);
  master.port.fail_burst(0, AxiReadPort::FailedBeat::kFirst, AxiResponse::kDecodeError);
  master.request(0, 2);
  master.run_until(2);
  EXPECT_EQ(master.beats[0].response, AxiResponse::kDecodeError);
  EXPECT_EQ(master.beats[1].response, AxiResponse::kOkay);
}

TEST(AxiReadPort, LosesAnAddressThatTheMasterTakesForAccepted) {
  Master master(64);
  master.port.upset(AxiChannel::kAddress, AxiUpset::kLost);
  master.request(0x1000, 2);
  master.request(0x2000, 2);
  master.run(500);
  EXPECT_EQ(master.accepted.size(), 2u);
  EXPECT_EQ(master.port.statistics().bursts, 1u);
  master.requests.erase(master.requests.begin());
  master.check_data();
}

TEST(AxiReadPort, AnswersARepeatedAddressTwice) {
  Master master(64);
  master.port.upset(AxiChannel::kAddress, AxiUpset::kRepeated);
  master.request(0x1000, 2);
  master.request(0x2000, 2);
  master.run(500);
  EXPECT_EQ(master.accepted.size(), 2u);
  master.requests.insert(master.requests.begin(), master.requests[0]);
  master.check_data();
}

TEST(AxiReadPort, LosesABeat) {
  Master master(64);
  master.request(0x1000, 4);
  master.run_until(1);
  master.port.upset(AxiChannel::kData, AxiUpset::kLost);
  master.run(500);
  ASSERT_EQ(master.beats.size(), 3u);
  EXPECT_EQ(std::memcmp(master.beats[1].data.data(), master.memory.data() + 0x1080, 64), 0);
  EXPECT_TRUE(master.beats[2].last);
  EXPECT_EQ(master.port.outstanding(), 0u);
}

TEST(AxiReadPort, LosesTheLastBeatAndGoesOnWithTheNextBurst) {
  Master master(64);
  master.port.upset(AxiChannel::kData, AxiUpset::kLost);
  master.request(0x1000, 1);
  master.request(0x2000, 2);
  master.run(500);
  master.requests.erase(master.requests.begin());
  master.check_data();
}

TEST(AxiReadPort, RepeatsABeat) {
  Master master(64);
  master.port.upset(AxiChannel::kData, AxiUpset::kRepeated);
  master.request(0x1000, 3);
  master.run(500);
  ASSERT_EQ(master.beats.size(), 4u);
  EXPECT_EQ(master.beats[0].data, master.beats[1].data);
  EXPECT_FALSE(master.beats[1].last);
  EXPECT_TRUE(master.beats[3].last);
}

TEST(AxiReadPort, FlipsABitOfTheNextBeatThatHoldsTheByte) {
  Master master(8);
  master.request(0x1000, 8, 1);
  master.request(0x2000, 8, 0);
  master.request(0x3000, 8, 0);
  master.port.flip(0, 64, 18, 5);
  master.run_until(24);
  for (unsigned i = 0; i < 24; ++i) {
    std::vector<std::uint8_t> expected(8);
    std::memcpy(expected.data(), master.memory.data() + 0x1000 * (1 + i / 8) + 8 * (i % 8), 8);
    if (i == 10) expected[2] ^= 0x20;
    EXPECT_EQ(master.beats[i].data, expected) << "beat " << i;
  }
}

TEST(AxiReadPort, ForgetsUpsetsAndFlipsOnReset) {
  Master master(64);
  master.port.upset(AxiChannel::kData, AxiUpset::kLost);
  master.port.flip(0, 64, 1, 1);
  master.port.reset();
  master.request(0x1000, 2);
  master.run_until(2);
  master.check_data();
}

TEST(AxiReadPort, ForgetsBurstsAndErrorsOnReset) {
  Master master(64);
  master.port.fail_burst(1);
  master.request(0, 8);
  master.run(103);
  EXPECT_EQ(master.beats.size(), 3u);
  master.port.reset();
  EXPECT_FALSE(master.port.rvalid());
  EXPECT_FALSE(master.port.arready());
  master.run(500);
  EXPECT_EQ(master.beats.size(), 3u);
  master.request(0x1000, 2);
  master.run_until(5);
  EXPECT_EQ(master.beats[3].response, AxiResponse::kOkay);
  EXPECT_FALSE(master.beats[3].last);
  EXPECT_TRUE(master.beats[4].last);
}

TEST(AxiReadPort, CountsBurstsAndBeats) {
  Master master(64);
  for (unsigned i = 0; i < 3; ++i) master.request(0x1000 * i, 7);
  master.run_until(21);
  EXPECT_EQ(master.port.statistics().bursts, 3u);
  EXPECT_EQ(master.port.statistics().beats, 21u);
  master.port.clear_statistics();
  EXPECT_EQ(master.port.statistics().bursts, 0u);
  EXPECT_EQ(master.port.statistics().beats, 0u);
}

TEST(AxiReadPort, AcceptsTheLargestBurstThatEndsAtTheBoundary) {
  EXPECT_EQ(violation({0x1000, 63, 6, 1, 0}), "");
  EXPECT_EQ(violation({0x1fc0, 0, 6, 1, 0}), "");
}

TEST(AxiReadPort, RejectsABurstAcrossFourKibibytes) {
  EXPECT_EQ(violation({0x1fc0, 1, 6, 1, 0}),
            "AXI port weights, clock 0: ar burst crosses a 4096-byte boundary (addr 0x1fc0, len 1, "
            "size 6, burst 1, id 0)");
}

TEST(AxiReadPort, RejectsMoreThanSixtyFourBeats) {
  Master master(2);
  EXPECT_NE(violation(master, {true, {0, 64, 1, 1, 0}, true}).find("burst of 65 beats; at most 64"),
            std::string::npos);
}

TEST(AxiReadPort, RejectsNarrowBeats) {
  EXPECT_NE(violation({0, 0, 5, 1, 0}).find("size code 5; full-width beats have 6"),
            std::string::npos);
}

TEST(AxiReadPort, RejectsFixedAndWrappingBursts) {
  EXPECT_NE(violation({0, 0, 6, 0, 0}).find("burst type 0"), std::string::npos);
  EXPECT_NE(violation({0, 0, 6, 2, 0}).find("burst type 2"), std::string::npos);
}

TEST(AxiReadPort, RejectsAnUnalignedAddress) {
  EXPECT_NE(violation({0x20, 0, 6, 1, 0}).find("not aligned"), std::string::npos);
}

class StalledRequest : public testing::Test {
 protected:
  StalledRequest() : master_(64) {  // a clock in which arvalid waits for arready
    master_.port.set_stalls(0.9, 1);
    do {
      master_.port.begin_clock(master_.clock++);
      if (!master_.port.arready()) break;
      master_.port.end_clock({});
    } while (master_.clock < 100);
    master_.port.end_clock({true, address_, true});
  }

  Master master_;
  AxiAddress address_{0x40, 0, 6, 1, 0};
};

TEST_F(StalledRequest, MayStay) { EXPECT_EQ(violation(master_, {true, address_, true}), ""); }

TEST_F(StalledRequest, MustNotBeDropped) {
  EXPECT_NE(violation(master_, {}).find("arvalid dropped before arready"), std::string::npos);
}

TEST_F(StalledRequest, MustNotChange) {
  AxiAddress other = address_;
  other.address = 0x80;
  const std::string message = violation(master_, {true, other, true});
  EXPECT_NE(message.find("ar payload changed before arready: was (addr 0x40"), std::string::npos);
  EXPECT_NE(message.find("is (addr 0x80"), std::string::npos);
}

TEST_F(StalledRequest, IsForgottenByReset) {
  master_.port.reset();
  EXPECT_EQ(violation(master_, {}), "");
}

TEST(AxiReadPort, RefusesSettingsThatMeanNothing) {
  Memory memory(4096);
  for (const unsigned width : {0u, 1u, 3u, 48u, 128u}) {
    EXPECT_THROW(AxiReadPort("weights", memory, width), UsageError) << width;
  }
  AxiReadPort port("weights", memory, 64);
  EXPECT_THROW(port.set_latency(0), UsageError);
  EXPECT_THROW(port.set_stalls(1.0, 1), UsageError);
  EXPECT_THROW(port.set_stalls(-0.1, 1), UsageError);
}

}  // namespace
}  // namespace gemm64
