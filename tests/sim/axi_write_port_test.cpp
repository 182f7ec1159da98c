// SPDX-License-Identifier: Apache-2.0
#include "sim/axi_write_port.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace gemm64 {
namespace {

constexpr std::uint64_t kMemoryBytes = 1 << 20;
constexpr std::uint64_t kClockLimit = 200000;

struct WriteBeat {
  std::array<std::uint8_t, 64> data{};
  std::uint64_t strobe = ~std::uint64_t{0};
  bool last = false;
};

struct Response {
  std::uint64_t clock = 0;
  unsigned id = 0;
  AxiResponse response = AxiResponse::kOkay;
};

/// A master that holds addresses and data until they are taken, each channel on its own, from the
/// clock that `address_from` and `data_from` allow, and records the responses.
class Master {
 public:
  explicit Master(unsigned width) : memory(kMemoryBytes), port("results", memory, width) {}

  AxiAddress address(std::uint64_t at, unsigned length, unsigned id = 0) const {
    AxiAddress a;
    a.address = at;
    a.length = static_cast<std::uint8_t>(length - 1);
    while ((1u << a.size) < port.width()) ++a.size;
    a.burst = 1;
    a.id = static_cast<std::uint8_t>(id);
    return a;
  }

  void write(std::uint64_t at, unsigned beats, unsigned id = 0) {
    addresses.push_back(address(at, beats, id));
    for (unsigned i = 0; i < beats; ++i) {
      WriteBeat beat;
      for (std::uint8_t& byte : beat.data) {
        noise = noise * 1664525u + 1013904223u;
        byte = static_cast<std::uint8_t>((noise >> 24) | 1);  // never 0, the memory's first content
      }
      beat.last = i + 1 == beats;
      data.push_back(beat);
    }
  }

  void step(bool bready = true) {
    port.begin_clock(clock);
    AxiWriteMaster drive;
    drive.awvalid = next_address < addresses.size() && clock >= address_from;
    if (drive.awvalid) drive.aw = addresses[next_address];
    drive.wvalid = next_beat < data.size() && clock >= data_from;
    if (drive.wvalid) {
      drive.wdata = data[next_beat].data.data();
      drive.wstrb = data[next_beat].strobe;
      drive.wlast = data[next_beat].last;
    }
    drive.bready = bready;
    if (port.bvalid()) {
      if (held) {
        EXPECT_EQ(port.bid(), held_response.id) << "clock " << clock;
        EXPECT_EQ(port.bresp(), held_response.response) << "clock " << clock;
      }
      held = !bready;
      held_response = {clock, port.bid(), port.bresp()};
      if (bready) responses.push_back(held_response);
    } else {
      EXPECT_FALSE(held) << "bvalid withdrawn at clock " << clock;
    }
    const bool address_taken = drive.awvalid && port.awready();
    const bool beat_taken = drive.wvalid && port.wready();
    port.end_clock(drive);
    if (address_taken) address_clocks.push_back(clock), ++next_address;
    if (beat_taken) beat_clocks.push_back(clock), ++next_beat;
    ++clock;
  }

  void run(std::uint64_t clocks) {
    for (; clocks != 0; --clocks) step();
  }

  void run_until(std::size_t count) {
    while (responses.size() < count && clock < kClockLimit) step();
    ASSERT_EQ(responses.size(), count) << "clock limit reached";
  }

  /// Checks that every byte written is in the memory and the responses are in order.
  void check_memory() const {
    std::size_t next = 0;
    for (std::size_t b = 0; b < addresses.size(); ++b) {
      ASSERT_LT(b, responses.size());
      EXPECT_EQ(responses[b].id, addresses[b].id) << "burst " << b;
      for (unsigned i = 0; i <= addresses[b].length; ++i, ++next) {
        EXPECT_EQ(std::memcmp(memory.data() + addresses[b].address + i * port.width(),
                              data[next].data.data(), port.width()),
                  0)
            << "burst " << b << " beat " << i;
      }
    }
  }

  Memory memory;
  AxiWritePort port;
  std::uint64_t clock = 0;
  std::uint64_t address_from = 0;
  std::uint64_t data_from = 0;
  std::vector<AxiAddress> addresses;
  std::vector<WriteBeat> data;
  std::size_t next_address = 0;
  std::size_t next_beat = 0;
  std::vector<std::uint64_t> address_clocks;
  std::vector<std::uint64_t> beat_clocks;
  std::vector<Response> responses;
  std::uint32_t noise = 1;
  bool held = false;
  Response held_response;
};

std::string violation(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

void expect_in(const std::string& part, const std::string& message) {
  EXPECT_NE(message.find(part), std::string::npos) << "message: " << message;
}

class AxiWritePortWidth : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Widths, AxiWritePortWidth, testing::Values(2u, 4u, 8u, 16u, 32u, 64u));

TEST_P(AxiWritePortWidth, RespondsTheLatencyAfterTheLastBeat) {
  for (const unsigned latency : {1u, 2u, 100u}) {
    Master master(GetParam());
    master.port.set_latency(latency);
    master.write(0x3000, 16, 1);
    master.run_until(1);
    EXPECT_EQ(master.address_clocks[0], 0u);
    EXPECT_EQ(master.beat_clocks[15], 15u);
    EXPECT_EQ(master.responses[0].clock, 15 + latency);
    EXPECT_EQ(master.responses[0].response, AxiResponse::kOkay);
    master.check_memory();
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
      master.write(0x1000, 8);
      master.run_until(1);
      const std::uint64_t last = data_from + 7;
      EXPECT_EQ(master.responses[0].clock, 10 + std::max<std::uint64_t>(address_from, last))
          << "address from " << address_from << ", data from " << data_from;
      master.check_memory();
    }
  }
}

TEST(AxiWritePort, WritesABeatAtItsHandshakeWhenTheAddressIsKnown) {
  Master master(64);
  master.data_from = 3;
  master.write(0x1000, 2);
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
  master.write(0x1000, 4);
  master.run(6);
  EXPECT_EQ(master.beat_clocks.size(), 4u);
  EXPECT_EQ(master.memory.data()[0x1000], 0);
  master.run(1);
  master.run_until(1);
  master.check_memory();
}

TEST(AxiWritePort, WritesHonouringTheStrobes) {
  for (const unsigned width : {2u, 8u, 64u}) {
    Master master(width);
    master.write(0x100, 3);
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
  for (unsigned i = 0; i < 80; ++i) master.write(0x1000 * (80 - i), 1 + i % 7, i % 2);
  master.run_until(80);
  for (std::size_t i = 0; i < 80; ++i) EXPECT_EQ(master.address_clocks[i], i);
  std::size_t beat = 0;
  std::uint64_t earliest = 0;
  for (std::size_t i = 0; i < 80; ++i) {
    beat += master.addresses[i].length + 1u;
    EXPECT_EQ(master.beat_clocks[beat - 1], beat - 1);
    earliest = std::max(earliest + 1, std::uint64_t{beat - 1 + 100});
    EXPECT_EQ(master.responses[i].clock, earliest) << "burst " << i;
  }
  master.check_memory();
  EXPECT_EQ(master.port.outstanding(), 0u);
}

TEST(AxiWritePort, GivesOneResponseAClockAfterBackpressure) {
  Master master(64);
  master.port.set_latency(1);
  for (unsigned i = 0; i < 4; ++i) master.write(0x1000 * i, 1, i % 2);
  for (int i = 0; i < 20; ++i) master.step(false);
  EXPECT_EQ(master.responses.size(), 0u);
  master.run_until(4);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(master.responses[i].clock, 20u + i);
    EXPECT_EQ(master.responses[i].id, i % 2);
  }
}

TEST(AxiWritePort, KeepsOrderAndDataUnderStallsAndBackpressure) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Master master(seed % 2 == 0 ? 64 : 4);
    master.port.set_latency(1 + seed);
    master.port.set_stalls(0.045 * seed, seed);
    // Data waits for the address: alone, it could run more than a burst ahead of a stalled one.
    constexpr unsigned kBursts = 40;
    for (unsigned i = 0; i < kBursts; ++i) {
      master.write(0x1000 * i, 1 + (i * seed) % 64, i % 2);
      std::uint32_t noise = seed + i;
      while (master.responses.size() + 1 < i && master.clock < kClockLimit) {
        noise = noise * 1664525u + 1013904223u;
        master.step((noise >> 28) % 4 != 0);
      }
      while (master.next_address < master.addresses.size() && master.clock < kClockLimit) {
        master.step();
      }
    }
    master.run_until(kBursts);
    master.check_memory();
  }
}

TEST(AxiWritePort, WithholdsEachReadyWithTheGivenProbability) {
  Master master(64);
  master.port.set_stalls(0.25, 3);
  constexpr unsigned kClocks = 100000;
  unsigned address = 0;
  unsigned data = 0;
  unsigned both = 0;
  for (unsigned i = 0; i < kClocks; ++i) {
    master.step();
    address += master.port.awready();
    data += master.port.wready();
    both += master.port.awready() && master.port.wready();
  }
  EXPECT_NEAR(address, 0.75 * kClocks, 0.01 * kClocks);
  EXPECT_NEAR(data, 0.75 * kClocks, 0.01 * kClocks);
  EXPECT_NEAR(both, 0.5625 * kClocks, 0.01 * kClocks) << "the channels do not stall together";
}

TEST(AxiWritePort, CarriesExactlyTheThrottledBytesOnAverage) {
  for (const unsigned bytes : {1u, 16u, 48u, 63u}) {
    Master master(64);
    master.port.set_latency(1);
    master.port.set_bytes_per_cycle(bytes);
    for (unsigned i = 0; i < 16; ++i) master.write(4096 * i, 64);
    master.run_until(16);
    for (std::size_t i = 0; i < master.beat_clocks.size(); ++i) {
      EXPECT_LE(64 * i, bytes * (master.beat_clocks[i] + 1)) << "bytes " << bytes << " beat " << i;
    }
    EXPECT_LE(bytes * master.beat_clocks.back(), 64u * 1024 + bytes) << "bytes " << bytes;
    master.check_memory();
  }
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
  for (unsigned i = 0; i < 3; ++i) master.write(0x1000 * i, 2);
  master.run_until(3);
  EXPECT_EQ(master.responses[0].response, AxiResponse::kOkay);
  EXPECT_EQ(master.responses[1].response, AxiResponse::kSlaveError);
  EXPECT_EQ(master.responses[2].response, AxiResponse::kOkay);
  EXPECT_EQ(master.memory.data()[0x1000], 0);
  EXPECT_EQ(master.memory.data()[0x2000], master.data[4].data[0]);
}

TEST(AxiWritePort, FailsABurstWithTheErrorThatWasAskedFor) {
  Master master(64);
  master.port.fail_burst(0, AxiResponse::kDecodeError);
  master.write(0x1000, 1);
  master.run_until(1);
  EXPECT_EQ(master.responses[0].response, AxiResponse::kDecodeError);
}

TEST(AxiWritePort, LosesAnAddress) {
  Master master(64);
  master.port.upset(AxiChannel::kAddress, AxiUpset::kLost);
  master.write(0x1000, 1);
  master.run(500);
  EXPECT_EQ(master.address_clocks.size(), 1u);
  EXPECT_EQ(master.responses.size(), 0u);
  EXPECT_EQ(master.memory.data()[0x1000], 0);
}

TEST(AxiWritePort, TakesARepeatedAddressForTwoBursts) {
  Master master(64);
  master.port.upset(AxiChannel::kAddress, AxiUpset::kRepeated);
  master.write(0x1000, 1, 3);
  master.write(0x2000, 1, 4);
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
  master.write(0x1000, 3);
  expect_in("wlast is 1 at beat 2 of a burst of 3", violation([&] { master.run(9); }));
}

TEST(AxiWritePort, FindsARepeatedBeatByTheLastThatIsMissing) {
  Master master(64);
  master.port.upset(AxiChannel::kData, AxiUpset::kRepeated);
  master.write(0x1000, 3);
  expect_in("wlast is 0 at beat 3 of a burst of 3", violation([&] { master.run(9); }));
}

TEST(AxiWritePort, LosesAResponse) {
  Master master(64);
  master.port.upset(AxiChannel::kResponse, AxiUpset::kLost);
  master.write(0x1000, 1, 1);
  master.write(0x2000, 1, 2);
  master.run(500);
  ASSERT_EQ(master.responses.size(), 1u);
  EXPECT_EQ(master.responses[0].id, 2u);
  EXPECT_EQ(master.port.outstanding(), 0u);
}

TEST(AxiWritePort, RepeatsAResponse) {
  Master master(64);
  master.port.upset(AxiChannel::kResponse, AxiUpset::kRepeated);
  master.write(0x1000, 1, 1);
  master.write(0x2000, 1, 2);
  master.run(500);
  ASSERT_EQ(master.responses.size(), 3u);
  EXPECT_EQ(master.responses[1].id, 1u);
  EXPECT_EQ(master.responses[2].id, 2u);
}

TEST(AxiWritePort, FlipsABitOfTheNextBeatAlone) {
  Master master(64);
  master.port.flip(40, 3);
  master.write(0x1000, 2);
  master.run_until(1);
  EXPECT_EQ(master.memory.data()[0x1000 + 40], master.data[0].data[40] ^ 8);
  master.memory.data()[0x1000 + 40] ^= 8;
  master.check_memory();
}

TEST(AxiWritePort, ForgetsUpsetsAndFlipsOnReset) {
  Master master(64);
  master.port.upset(AxiChannel::kData, AxiUpset::kLost);
  master.port.flip(0, 0);
  master.port.reset();
  master.write(0x1000, 2);
  master.run_until(1);
  master.check_memory();
}

TEST(AxiWritePort, HangsFromTheChosenBurstUntilReset) {
  Master master(64);
  master.port.set_latency(1);
  master.port.hang_after(1);
  for (unsigned i = 0; i < 3; ++i) master.write(0x1000 * i, 2);
  master.run(5000);
  EXPECT_EQ(master.responses.size(), 1u);
  EXPECT_EQ(master.beat_clocks.size(), 6u);
  EXPECT_EQ(master.port.outstanding(), 2u);
  master.port.reset();
  EXPECT_EQ(master.port.outstanding(), 0u);
  master.write(0x5000, 1);
  master.run_until(2);
  EXPECT_EQ(master.memory.data()[0x5000], master.data[6].data[0]);
}

TEST(AxiWritePort, ForgetsEarlyDataAndHalfABurstOnReset) {
  Master master(64);
  master.address_from = 100;
  master.write(0x1000, 2);
  master.run(5);
  master.port.reset();
  EXPECT_FALSE(master.port.awready());
  EXPECT_FALSE(master.port.wready());
  master.address_from = 0;
  master.addresses.clear();
  master.write(0x2000, 1);
  master.run_until(1);
  EXPECT_EQ(master.memory.data()[0x2000], master.data[2].data[0]);
  EXPECT_EQ(master.memory.data()[0x1000], 0);

  master.write(0x3000, 2);
  master.data_from = master.clock + 1;
  master.data.pop_back();
  master.run(5);
  master.port.reset();
  master.write(0x4000, 1);
  master.run_until(2);
  EXPECT_EQ(master.memory.data()[0x4000], master.data.back().data[0]);
}

TEST(AxiWritePort, CountsBurstsAndBeats) {
  Master master(64);
  for (unsigned i = 0; i < 3; ++i) master.write(0x1000 * i, 7);
  master.run_until(3);
  EXPECT_EQ(master.port.statistics().bursts, 3u);
  EXPECT_EQ(master.port.statistics().beats, 21u);
  master.port.clear_statistics();
  EXPECT_EQ(master.port.statistics().beats, 0u);
}

TEST(AxiWritePort, RejectsBadAddressesUnderItsOwnName) {
  const AxiAddress bad[] = {
      {0x1fc0, 1, 6, 1, 0}, {0, 0, 5, 1, 0}, {0, 0, 6, 0, 0}, {8, 0, 6, 1, 0}};
  const char* const rules[] = {"aw burst crosses", "aw size code 5", "aw burst type 0",
                               "aw address not aligned"};
  for (unsigned i = 0; i < 4; ++i) {
    Master master(64);
    master.addresses.push_back(bad[i]);
    const std::string message = violation([&] { master.step(); });
    expect_in("AXI port results, clock 0: ", message);
    expect_in(rules[i], message);
  }
  Master master(2);
  master.addresses.push_back(master.address(0, 65));
  expect_in("aw burst of 65 beats", violation([&] { master.step(); }));
}

TEST(AxiWritePort, RejectsAnEarlyLast) {
  Master master(64);
  master.write(0, 4);
  master.data[2].last = true;
  expect_in("clock 2: wlast is 1 at beat 3 of a burst of 4", violation([&] { master.run(9); }));
}

TEST(AxiWritePort, RejectsAMissingLast) {
  Master master(64);
  master.write(0, 4);
  master.data[3].last = false;
  expect_in("clock 3: wlast is 0 at beat 4 of a burst of 4", violation([&] { master.run(9); }));
}

TEST(AxiWritePort, RejectsEarlyDataOfTheWrongLengthWhenTheAddressComes) {
  Master longer(64);
  longer.write(0, 4);
  longer.addresses[0].length = 1;
  longer.address_from = 10;
  expect_in("clock 10: wlast is 0 at beat 2 of a burst of 2", violation([&] { longer.run(20); }));

  Master shorter(64);
  shorter.write(0, 4);
  shorter.addresses[0].length = 7;
  shorter.address_from = 10;
  expect_in("clock 10: wlast is 1 at beat 4 of a burst of 8", violation([&] { shorter.run(20); }));
}

TEST(AxiWritePort, RejectsDataTwoBurstsAheadOfItsAddress) {
  Master master(64);
  master.write(0, 3);
  master.write(0x1000, 1);
  master.address_from = 100;
  master.run(3);
  expect_in("clock 3: w data of a second burst ahead of its address",
            violation([&] { master.step(); }));
}

TEST(AxiWritePort, RejectsEarlyDataWithoutALast) {
  Master master(64);
  master.write(0, 65);
  master.address_from = 1000;
  master.run(64);
  expect_in("wlast missing after 64 beats", violation([&] { master.step(); }));
}

/// A clock in which both channels are stalled, and the master offered an address and a beat.
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
    return violation([&] { master_.port.end_clock(offer_); });
  }

  Master master_;
  std::array<std::uint8_t, 64> data_{};
  AxiWriteMaster offer_;
};

TEST_F(StalledWrite, MayStay) { EXPECT_EQ(next(), ""); }

TEST_F(StalledWrite, MustNotDropItsAddress) {
  offer_.awvalid = false;
  expect_in("awvalid dropped before awready", next());
}

TEST_F(StalledWrite, MustNotChangeItsAddress) {
  offer_.aw.id = 1;
  expect_in("aw payload changed before awready", next());
}

TEST_F(StalledWrite, MustNotDropItsData) {
  offer_.wvalid = false;
  expect_in("wvalid dropped before wready", next());
}

TEST_F(StalledWrite, MustNotChangeItsData) {
  data_[63] = 8;
  expect_in("w payload changed before wready: wdata byte 63 was 7, is 8", next());
}

TEST_F(StalledWrite, MustNotChangeItsStrobes) {
  offer_.wstrb = 1;
  expect_in("w payload changed before wready: wstrb was", next());
}

TEST_F(StalledWrite, MustNotChangeItsLast) {
  offer_.wlast = false;
  expect_in("w payload changed before wready: wlast was 1, is 0", next());
}

TEST_F(StalledWrite, IsForgottenByReset) {
  master_.port.reset();
  offer_ = AxiWriteMaster{};
  EXPECT_EQ(next(), "");
}

}  // namespace
}  // namespace gemm64
