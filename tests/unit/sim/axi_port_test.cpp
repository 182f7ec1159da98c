// SPDX-License-Identifier: Apache-2.0
// What a port that is read and one that is written have in common.
#include "sim/memory/axi_port.hpp"

#include "tests/test.hpp"
#include "tests/unit/sim/axi_master.hpp"

namespace gemm64 {
namespace {

template <class Master>
class AxiPorts : public testing::Test {
 protected:
  /// What a new port says against an address, by the port's name, its channel and the rule.
  static std::string violation(const AxiAddress& address, unsigned width = 64) {
    return Master(width).violation(Master::offer(address));
  }
};
using Masters = testing::Types<ReadMaster, WriteMaster>;
TYPED_TEST_SUITE(AxiPorts, Masters);

TYPED_TEST(AxiPorts, KeepsOrderAndDataUnderStalls) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TypeParam master(seed % 2 == 0 ? 64 : 4);
    if constexpr (std::is_same_v<TypeParam, WriteMaster>) master.data_waits = true;
    master.port.set_latency(1 + seed);
    master.port.set_stalls(0.05 * seed - 0.05, seed);
    constexpr unsigned kBursts = 50;
    for (unsigned i = 0; i < kBursts; ++i) {
      master.burst(0x1000 * i, 1 + (i * seed) % 64, i % 2);
    }
    std::uint32_t noise = seed;
    while (master.answers() < master.answers_to(kBursts) && master.clock < master.kClockLimit) {
      noise = noise * 1664525u + 1013904223u;
      master.step((noise >> 28) % 4 != 0);
    }
    master.check();
  }
}

TYPED_TEST(AxiPorts, RepeatsItsStallsFromTheSeed) {
  std::vector<std::vector<std::uint64_t>> cycles;
  for (const std::uint32_t seed : {7u, 7u, 8u}) {
    TypeParam master(8);
    if constexpr (std::is_same_v<TypeParam, WriteMaster>) master.data_waits = true;
    master.port.set_stalls(0.5, seed);
    for (unsigned i = 0; i < 20; ++i) master.burst(512 * i, 64);
    master.run_until(master.answers_to(20));
    cycles.push_back(master.beat_cycles);
  }
  EXPECT_EQ(cycles[0], cycles[1]);
  EXPECT_NE(cycles[0], cycles[2]);
}

TYPED_TEST(AxiPorts, CarriesThrottledBytesOnAverage) {
  for (const unsigned bytes : {1u, 16u, 31u, 32u, 48u, 63u}) {
    TypeParam master(64);
    master.port.set_latency(1);
    master.port.set_bytes_per_cycle(bytes);
    constexpr unsigned kBursts = 16, kBeats = 64 * kBursts;
    for (unsigned i = 0; i < kBursts; ++i) master.burst(4096 * i, 64);
    master.run_until(master.answers_to(kBursts));
    // The first beat finds the credit of one beat saved; each further one must earn its 64 bytes.
    const std::uint64_t first = master.beat_cycles.front();
    for (unsigned i = 0; i < kBeats; ++i) {
      const std::uint64_t passed = master.beat_cycles[i] - first;
      EXPECT_LE(64u * i, bytes * (passed + 1)) << "bytes " << bytes << " beat " << i;
    }
    const std::uint64_t passed = master.beat_cycles.back() - first;
    EXPECT_LE(bytes * passed, 64u * kBeats + bytes) << "bytes " << bytes;
    master.check();
  }
}

TYPED_TEST(AxiPorts, FailsBurstWithGivenError) {
  TypeParam master(64);
  master.fail(0, AxiResponse::kDecodeError);
  master.burst(0x1000, 2);
  master.run_until(master.answers_to(1));
  EXPECT_EQ(master.first_response(), AxiResponse::kDecodeError);
}

TYPED_TEST(AxiPorts, HangsFromTheChosenBurstUntilReset) {
  TypeParam master(64);
  master.port.set_latency(1);
  master.port.hang_after(2);
  for (unsigned i = 0; i < 4; ++i) master.burst(0x1000 * i, 2);
  master.run(5000);
  EXPECT_EQ(master.answers(), master.answers_to(2));
  EXPECT_EQ(master.address_cycles.size(), 4u);
  EXPECT_EQ(master.port.outstanding(), 2u);
  master.port.reset();
  EXPECT_EQ(master.port.outstanding(), 0u);
  master.burst(0x5000, 2);
  master.run_until(master.answers_to(3));
  master.addresses.erase(master.addresses.begin() + 2, master.addresses.begin() + 4);
  if constexpr (std::is_same_v<TypeParam, WriteMaster>) {
    EXPECT_EQ(master.beat_cycles.size(), 10u);
    master.data.erase(master.data.begin() + 4, master.data.begin() + 8);
  }
  master.check();
}

TYPED_TEST(AxiPorts, ForgetsUpsetsAndFlipsOnReset) {
  TypeParam master(64);
  master.port.upset(AxiChannel::kData, AxiUpset::kLost);
  master.flip();
  master.port.reset();
  master.burst(0x1000, 2);
  master.run_until(master.answers_to(1));
  master.check();
}

TYPED_TEST(AxiPorts, CountsBurstsAndBeats) {
  TypeParam master(64);
  for (unsigned i = 0; i < 3; ++i) master.burst(0x1000 * i, 7);
  master.run_until(master.answers_to(3));
  EXPECT_EQ(master.port.statistics().bursts, 3u);
  EXPECT_EQ(master.port.statistics().beats, 21u);
  master.port.clear_statistics();
  EXPECT_EQ(master.port.statistics().bursts, 0u);
  EXPECT_EQ(master.port.statistics().beats, 0u);
}

TYPED_TEST(AxiPorts, AcceptsLargestBurstAtBoundary) {
  EXPECT_EQ(TestFixture::violation({0x1000, 63, 6, 1, 0}), "");
  EXPECT_EQ(TestFixture::violation({0x1fc0, 0, 6, 1, 0}), "");
}

TYPED_TEST(AxiPorts, RejectsAnAddressThatBreaksARule) {
  EXPECT_THAT(TestFixture::violation({0x1fc0, 1, 6, 1, 0}),
              testing::MatchesRegex("AXI port (weights, cycle 0: ar|results, cycle 0: aw) burst "
                                    "crosses a 4096-byte boundary .addr 0x1fc0, len 1, size 6, "
                                    "burst 1, id 0."));
  EXPECT_THAT(TestFixture::violation({0, 64, 1, 1, 0}, 2), Says("burst of 65 beats; at most 64"));
  EXPECT_THAT(TestFixture::violation({0, 0, 5, 1, 0}),
              Says("size code 5; full-width beats have 6"));
  EXPECT_THAT(TestFixture::violation({0, 0, 6, 0, 0}), Says("burst type 0"));
  EXPECT_THAT(TestFixture::violation({0, 0, 6, 2, 0}), Says("burst type 2"));
  EXPECT_THAT(TestFixture::violation({0x20, 0, 6, 1, 0}), Says("not aligned"));
}

TYPED_TEST(AxiPorts, HoldsTheMasterToAnAddressThatWaits) {
  const AxiAddress address{0x40, 0, 6, 1, 0}, other{0x80, 0, 6, 1, 0};
  const auto waiting = [&] {  // for an address's ready
    auto master = std::make_unique<TypeParam>(64);
    master->port.set_stalls(0.9, 1);
    for (;;) {
      master->port.begin_clock(master->clock++);
      if (!master->address_ready()) break;
      master->port.end_clock({});
    }
    master->port.end_clock(TypeParam::offer(address));
    return master;
  };
  EXPECT_EQ(waiting()->violation(TypeParam::offer(address)), "");
  EXPECT_THAT(waiting()->violation(decltype(TypeParam::offer(address)){}),
              testing::ContainsRegex("a[rw]valid dropped before a[rw]ready"));
  EXPECT_THAT(waiting()->violation(TypeParam::offer(other)),
              testing::ContainsRegex("a[rw] payload changed before a[rw]ready: was .addr 0x40.*is "
                                     ".addr 0x80"));
  const auto after_reset = waiting();
  after_reset->port.reset();
  EXPECT_EQ(after_reset->violation(decltype(TypeParam::offer(address)){}), "");
}

TEST(AxiPortSettings, RefuseInvalidValues) {
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
