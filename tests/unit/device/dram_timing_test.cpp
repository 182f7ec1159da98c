// SPDX-License-Identifier: Apache-2.0
// Words of DRAM channels, and figures of the standards in their presets.
#include "host/device/dram_timing.hpp"

#include "host/device/memory_timing.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(DramTiming, PresetsHaveTheirPeak) {
  EXPECT_DOUBLE_EQ(dram_timing("dram:lpddr4").peak_bytes_per_cycle(), 12.8);
  EXPECT_DOUBLE_EQ(dram_timing("dram:ddr4").peak_bytes_per_cycle(), 19.2);
  EXPECT_DOUBLE_EQ(dram_timing("dram:lpddr5").peak_bytes_per_cycle(), 25.6);
  EXPECT_DOUBLE_EQ(dram_timing("dram:lpddr4,clock=500").peak_bytes_per_cycle(), 25.6);
  EXPECT_DOUBLE_EQ(dram_timing("dram:lpddr4,width=16").peak_bytes_per_cycle(), 6.4);
  for (const std::string& preset : dram_presets()) {
    const DramTiming t = dram_timing("dram:" + preset);
    EXPECT_NO_THROW(check(t)) << preset;
    EXPECT_EQ(t.burst_bytes(), 64u) << preset;
    // A burst takes as long as its transfers, and bursts of different bank groups leave no gap.
    EXPECT_EQ(t.t_burst * t.data_rate, t.burst_length * t.ck) << preset;
    EXPECT_EQ(t.t_ccd_s, t.t_burst) << preset;
  }
}

// In nanoseconds, as JESD209-4, JESD79-4 and JESD209-5 have them: rounded up to cycles of CK, and
// tREFI down.
TEST(DramTiming, PresetsHaveTimesOfStandards) {
  struct Nanoseconds {
    const char* word;
    double rcd, rp, ras, rtp, wr, rrd_s, faw, wtr_l, rfc, refi;
  };
  const Nanoseconds standards[] = {
      {"dram:lpddr4", 18, 21, 42, 7.5, 18, 10, 40, 10, 280, 3904},
      {"dram:ddr4", 14.16, 14.16, 32, 7.5, 15, 3.3, 21, 7.5, 350, 7800},
      {"dram:lpddr5", 18, 21, 42, 7.5, 34, 5, 20, 12, 280, 3906}};
  for (const Nanoseconds& ns : standards) {
    SCOPED_TRACE(ns.word);
    const DramTiming t = dram_timing(ns.word);
    const double ck = 1000.0 / t.ck;
    const auto rounds_up = [&](const char* name, std::uint32_t cycles, double time) {
      EXPECT_GE(cycles * ck, time - 1e-9) << name;
      EXPECT_LT((cycles - 1) * ck, time + 1e-9) << name;
    };
    rounds_up("tRCD", t.t_rcd, ns.rcd);
    rounds_up("tRP", t.t_rp, ns.rp);
    rounds_up("tRAS", t.t_ras, ns.ras);
    rounds_up("tRTP", t.t_rtp, ns.rtp);
    rounds_up("tWR", t.t_wr, ns.wr);
    rounds_up("tRRD_S", t.t_rrd_s, ns.rrd_s);
    rounds_up("tFAW", t.t_faw, ns.faw);
    rounds_up("tWTR_L", t.t_wtr_l, ns.wtr_l);
    rounds_up("tRFC", t.t_rfc, ns.rfc);
    EXPECT_LE(t.t_refi * ck, ns.refi);
    EXPECT_GT((t.t_refi + 1) * ck, ns.refi);
  }
}

TEST(DramTiming, WordsRoundTrip) {
  for (const char* word : {"dram:lpddr4", "dram:ddr4,clock=1", "dram:lpddr5,clock=800,width=64"}) {
    EXPECT_EQ(dram_timing(word).word(), word);
  }
  EXPECT_EQ(dram_timing("dram:lpddr4,width=32,clock=1000").word(), "dram:lpddr4");
  EXPECT_EQ(dram_timing("dram:ddr4,width=32").row_bytes, 4096u);
  EXPECT_TRUE(is_dram_word("dram"));
  EXPECT_FALSE(is_dram_word("drama"));
}

TEST(DramTiming, RefusesIllFormedWords) {
  const std::pair<const char*, const char*> faults[] = {
      {"dram", "dram:lpddr4, dram:ddr4, dram:lpddr5"},
      {"dram:", "no DRAM is called ''"},
      {"dram:hbm2", "use one of dram:lpddr4, dram:ddr4, dram:lpddr5"},
      {"dram:lpddr4,", "'' is no parameter; use clock=MHZ or width=PINS"},
      {"dram:lpddr4,channels=2", "'channels=2' is no parameter"},
      {"dram:lpddr4,clock", "clock is ''; it is a whole number"},
      {"dram:lpddr4,clock=1GHz", "clock is '1GHz'"},
      {"dram:lpddr4,clock=-1", "clock is '-1'"},
      {"dram:lpddr4,clock=0", "it is from 1 to 4000 MHz"},
      {"dram:lpddr4,clock=99999999999", "it is a whole number"},
      {"dram:lpddr4,width=24", "it is one of 16, 32, 64 pins"},
      {"dram:LPDDR4", "no DRAM is called 'LPDDR4'"}};
  for (const auto& [word, message] : faults) {
    EXPECT_THAT([word = word] { dram_timing(word); }, Fails(word, message));
  }
}

TEST(DramTiming, RefusesChannelsThatCannotWork) {
  const auto refused = [](const auto& change) {
    DramTiming t = dram_timing("dram:lpddr4");
    change(t);
    return message_of([&] { check(t); });
  };
  EXPECT_EQ(refused([](DramTiming&) {}), "");
  EXPECT_THAT(refused([](DramTiming& t) { t.banks = 3; }), Says("power of two"));
  EXPECT_THAT(refused([](DramTiming& t) { t.row_bytes = 32; }), Says("a row holds no burst"));
  EXPECT_THAT(refused([](DramTiming& t) { t.write_buffer = 32; }), Says("write buffer"));
  EXPECT_THAT(refused([](DramTiming& t) { t.t_ccd_s = 7; }), Says("tCCD_S"));
  EXPECT_THAT(refused([](DramTiming& t) { t.t_faw = 5000; }), Says("tFAW"));
  EXPECT_THAT(refused([](DramTiming& t) { t.t_refi = 600; }), Says("tREFI"));
  EXPECT_THAT(refused([](DramTiming& t) { t.t_rcd = 0; }), Says("tRCD"));
  EXPECT_THAT(refused([](DramTiming& t) { t.clock = 0; }), Says("0 MHz"));
  MemoryTiming memory;
  EXPECT_TRUE(set_memory(memory, "dram:lpddr4"));
  EXPECT_NO_THROW(check(memory));
  memory.bytes_per_cycle = 8;
  EXPECT_THAT([&] { check(memory); }, Fails("dram:lpddr4", "bytes per cycle"));
  EXPECT_FALSE(set_memory(memory, "fast"));
}

}  // namespace
}  // namespace gemm64
