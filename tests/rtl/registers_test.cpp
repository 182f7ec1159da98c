// SPDX-License-Identifier: Apache-2.0
#include "host/device/registers.hpp"

#include <Vregisters_n8.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kOkay = 0, kSlaveError = 2;

struct Answer {
  std::uint32_t data;
  unsigned response;
};

class Registers : public testing::Test {
 protected:
  Registers() {
    bench_->awvalid_i = bench_->wvalid_i = bench_->bready_i = bench_->arvalid_i = bench_->rready_i =
        0;
    bench_->ring_clear_i = bench_->finish_i = bench_->fail_i = bench_->resetting_i = 0;
  }

  /// A write whose channels act as the gates allow; the answer must come a cycle after both were
  /// taken, and each is taken when it is offered, whatever the other does.
  unsigned write(std::uint32_t offset, std::uint32_t value, unsigned strobes = 0xf,
                 Gate address = Gate(), Gate data = Gate(), Gate answer = Gate()) {
    StaysPut<unsigned> stays("B");
    bool address_taken = false, data_taken = false;
    for (;;) {
      bench_->awvalid_i = !address_taken && address();
      bench_->wvalid_i = !data_taken && data();
      bench_->awaddr_i = static_cast<std::uint16_t>(bench_->awvalid_i ? offset : reg::kWatchdog);
      bench_->wdata_i = bench_->wvalid_i ? value : ~value;
      bench_->wstrb_i = static_cast<std::uint8_t>(bench_->wvalid_i ? strobes : 0xf);
      bench_->bready_i = answer();
      bench_.settle();
      stays(bench_->bvalid_o, bench_->bready_i, bench_->bresp_o);
      EXPECT_EQ(bench_->bvalid_o, address_taken && data_taken)
          << "answered a cycle after both channels, not sooner";
      EXPECT_EQ(bench_->awready_o, !address_taken || data_taken) << "one waits for the other";
      EXPECT_EQ(bench_->wready_o, !data_taken || address_taken) << "one waits for the other";
      address_taken |= bench_->awvalid_i != 0;
      data_taken |= bench_->wvalid_i != 0;
      const bool answered = bench_->bvalid_o && bench_->bready_i;
      const unsigned response = bench_->bresp_o;
      bench_.edge();
      bench_->awvalid_i = bench_->wvalid_i = 0;
      if (answered || HasFailure()) return response;
    }
  }

  Answer read(std::uint32_t offset, Gate address = Gate(), Gate answer = Gate()) {
    StaysPut<unsigned> stays("R");
    bool taken = false, offers = false;
    for (;;) {
      bench_->arvalid_i = offers = !taken && (offers || address());
      bench_->araddr_i = static_cast<std::uint16_t>(bench_->arvalid_i ? offset : reg::kId);
      bench_->rready_i = answer();
      bench_.settle();
      bench_->counter_value_i = 0x100000000u * (bench_->counter_o + 100u) + bench_->counter_o;
      bench_.settle();
      stays(bench_->rvalid_o, bench_->rready_i, bench_->rdata_o);
      EXPECT_EQ(bench_->rvalid_o, taken) << "answered a cycle after its address";
      taken |= bench_->arvalid_i && bench_->arready_o;
      const bool answered = bench_->rvalid_o && bench_->rready_i;
      const Answer result{bench_->rdata_o, bench_->rresp_o};
      bench_.edge();
      if (taken) bench_->arvalid_i = 0;
      if (answered || HasFailure()) return result;
    }
  }

  Bench<Vregisters_n8> bench_{10000000};
};

TEST_F(Registers, AskForNothingAfterAReset) {
  for (unsigned t = 0; t < 3; ++t) {
    bench_.settle();
    EXPECT_EQ(bench_->reset_o, 0) << t;
    EXPECT_EQ(bench_->clear_counters_o, 0) << t;
    EXPECT_EQ(bench_->irq_o, 0) << t;
    bench_.edge();
  }
}

TEST_F(Registers, HaveTheirResetValuesAndTellTheShape) {
  bench_->busy_i = 1;
  bench_->halted_i = 0;
  bench_->resetting_i = 1;
  bench_->error_i = 0xabcd0012;
  bench_->fault_tile_i = 0x89abcdef;
  bench_->fault_row_i = 0x4321;
  bench_->fault_memory_i = 0x12345607;
  bench_->ring_head_i = 0x1234;
  const std::map<std::uint32_t, std::uint32_t> wanted{
      {reg::kId, 0x67363463},
      {reg::kVersion, kVersionMajor << 16 | kVersionMinor},
      {reg::kArray, 4u << 16 | 2u << 8 | 8u},
      {reg::kScratchpadWords, 77},
      {reg::kAccumulatorRows, 16},
      {reg::kBus, 64u << 24 | 2u << 16 | 4u << 8 | 8u},
      {reg::kAddressWidth, 40},
      {reg::kControl, 0},
      {reg::kStatus, 5},
      {reg::kInterrupt, 0},
      {reg::kError, 0xabcd0012},
      {reg::kWatchdog, 1048576},
      {reg::kRingBaseLow, 0},
      {reg::kRingBaseHigh, 0},
      {reg::kRingMask, 63},
      {reg::kRingTail, 0},
      {reg::kRingHead, 0x1234},
      {reg::kInterruptEnable, 3},
      {reg::kParameterSets, 32},
      {reg::kSelfCheck, 7},
      {reg::kFaultTile, 0x89abcdef},
      {reg::kFaultRow, 0x4321},
      {reg::kFaultMemory, 0x12345607},
      {reg::kTensorWords, 11},
      {reg::kTensorMemory, 0}};
  for (std::uint32_t offset = 0; offset < 0x1000; ++offset) {
    const bool counter = offset % 4 == 0 && offset >= kCounters.front().offset &&
                         offset < kCounters.back().offset + 8;
    const Answer answer = read(offset);
    if (counter) {
      const std::uint32_t index = (offset - kCounters.front().offset) / 8;
      EXPECT_EQ(answer.data, offset % 8 == 0 ? index : index + 100) << offset;
    } else {
      EXPECT_EQ(answer.data, wanted.count(offset) ? wanted.at(offset) : 0u) << offset;
    }
    EXPECT_EQ(answer.response, counter || wanted.count(offset) ? kOkay : kSlaveError) << offset;
  }
}

TEST_F(Registers, KeepWhatIsWrittenByteByByte) {
  ASSERT_EQ(write(reg::kRingMask, 0xffffffff), kOkay);
  for (const std::uint32_t offset : {reg::kWatchdog, reg::kRingBaseLow, reg::kRingTail}) {
    const bool half = offset == reg::kRingTail;
    for (unsigned strobes = 0; strobes < 16; ++strobes) {
      ASSERT_EQ(write(offset, 0x11223344), kOkay);
      ASSERT_EQ(write(offset, 0xaabbccdd, strobes), kOkay);
      std::uint32_t wanted = 0;
      for (unsigned byte = 0; byte < (half ? 2 : 4); ++byte) {
        wanted |= ((strobes >> byte & 1u) ? 0xaabbccddu : 0x11223344u) & (0xffu << 8 * byte);
      }
      EXPECT_EQ(read(offset).data, wanted) << offset << " strobes " << strobes;
    }
  }
  EXPECT_EQ(bench_->watchdog_o, 0xaabbccdd);
  EXPECT_EQ(bench_->ring_base_o, 0xaabbccdd);
  EXPECT_EQ(bench_->ring_tail_o, 0xccdd);
}

TEST_F(Registers, RejectRingBaseAboveTheBus) {
  EXPECT_EQ(write(reg::kRingBaseLow, 0x89abcdef), kOkay);
  EXPECT_EQ(write(reg::kRingBaseHigh, 0x11223312), kSlaveError);
  EXPECT_EQ(write(reg::kRingBaseHigh, 0x11223312, 1), kOkay) << "only the low byte";
  for (unsigned strobes = 2; strobes < 16; ++strobes) {
    EXPECT_EQ(write(reg::kRingBaseHigh, 0x44556677, strobes), kSlaveError) << strobes;
  }
  EXPECT_EQ(write(reg::kRingBaseHigh, 0x00556677, 8), kOkay) << "a byte of zero";
  EXPECT_EQ(bench_->ring_base_o, 0x1289abcdefu);
}

TEST_F(Registers, ATailDuringASoftResetIsRefused) {
  EXPECT_EQ(write(reg::kRingTail, 3), kOkay);
  bench_->resetting_i = 1;
  EXPECT_EQ(write(reg::kRingTail, 5), kSlaveError);
  EXPECT_EQ(bench_->ring_tail_o, 3);
  EXPECT_EQ(write(reg::kWatchdog, 77), kOkay) << "settings outlive the reset";
  bench_->resetting_i = 0;
  EXPECT_EQ(write(reg::kRingTail, 5), kOkay);
  EXPECT_EQ(bench_->ring_tail_o, 5);
}

TEST_F(Registers, TheTensorMemoryIsEnabledAtRest) {
  bench_->busy_i = 1;
  EXPECT_EQ(write(reg::kTensorMemory, 1), kSlaveError);
  EXPECT_EQ(bench_->tensor_o, 0);
  bench_->busy_i = 0;
  for (const std::uint32_t enabled : {1u, 0u, 1u}) {
    unsigned resets = 0;
    bench_.settle();
    EXPECT_EQ(write(reg::kTensorMemory, 0xfffffffe | enabled), kOkay);
    for (unsigned i = 0; i < 4; ++i) {
      resets += bench_->reset_o;
      bench_.step();
    }
    EXPECT_LE(resets, 1u) << "a pulse";
    EXPECT_EQ(bench_->tensor_o, enabled);
    EXPECT_EQ(read(reg::kTensorMemory).data, enabled);
    EXPECT_EQ(read(reg::kScratchpadWords).data, enabled != 0 ? 66u : 77u);
  }
  EXPECT_EQ(write(reg::kTensorMemory, 0, 0xe), kOkay) << "not its byte";
  EXPECT_EQ(bench_->tensor_o, 1);
  bench_.reset();
  EXPECT_EQ(bench_->tensor_o, 0);
}

TEST_F(Registers, OnlyEnabledCausesRaiseTheLine) {
  for (const bool error : {false, true}) {
    bench_->finish_i = !error;
    bench_->fail_i = error;
    bench_.step();
    bench_->finish_i = bench_->fail_i = 0;
    const unsigned cause = error ? 2 : 1;
    for (unsigned enabled = 0; enabled < 4; ++enabled) {
      EXPECT_EQ(write(reg::kInterruptEnable, 0xfffffffc | enabled), kOkay);
      EXPECT_EQ(read(reg::kInterruptEnable).data, enabled) << "there are two causes";
      EXPECT_EQ(write(reg::kInterruptEnable, 3 - enabled, 0xe), kOkay) << "not its byte";
      EXPECT_EQ(bench_->irq_o, (enabled & cause) != 0);
      EXPECT_EQ(read(reg::kInterrupt).data, cause) << "reported whatever is enabled";
    }
    EXPECT_EQ(write(reg::kInterrupt, 3), kOkay);
  }
}

TEST_F(Registers, TailStaysWithinTheRing) {
  write(reg::kRingMask, 7);
  write(reg::kRingTail, 13);
  EXPECT_EQ(bench_->ring_tail_o, 5);
  bench_->ring_clear_i = 1;
  bench_.step();
  bench_->ring_clear_i = 0;
  EXPECT_EQ(read(reg::kRingTail).data, 0u);
  EXPECT_EQ(read(reg::kRingMask).data, 7u) << "a soft reset keeps the settings";
}

TEST_F(Registers, RefuseWritesToWhatOnlyReads) {
  for (std::uint32_t offset = 0; offset < 0x1000; ++offset) {
    const bool writable =
        offset == reg::kControl || offset == reg::kInterrupt ||
        (offset >= reg::kWatchdog && offset <= reg::kRingTail && offset % 4 == 0) ||
        offset == reg::kInterruptEnable;
    EXPECT_EQ(write(offset, 0), writable ? kOkay : kSlaveError) << offset;
  }
}

TEST_F(Registers, AnswerOnceUnderStalls) {
  std::uint32_t value = 1;
  for (unsigned answer = 1; answer < 16; ++answer) {
    for_all_patterns(4, [&](Gate address, Gate data) {
      EXPECT_EQ(write(reg::kRingBaseLow, ++value, 0xf, address, data, Gate(answer, 4)), kOkay);
      EXPECT_EQ(bench_->ring_base_o, value);
      EXPECT_EQ(bench_->watchdog_o, 1048576u) << "another register changed";
      EXPECT_EQ(read(reg::kRingBaseLow, address, Gate(answer, 4)).data, value);
    });
  }
}

TEST_F(Registers, ReadsAndWritesRunAtTheRateAccepted) {
  bench_->awvalid_i = bench_->wvalid_i = bench_->bready_i = bench_->arvalid_i = bench_->rready_i =
      1;
  bench_->wstrb_i = 0xf;
  for (unsigned t = 0; t < 20; ++t) {
    bench_->awaddr_i = reg::kRingBaseLow;
    bench_->araddr_i = reg::kRingBaseLow;
    bench_->wdata_i = t;
    bench_.settle();
    EXPECT_TRUE(bench_->awready_o && bench_->wready_o && bench_->arready_o);
    EXPECT_EQ(bench_->bvalid_o && bench_->rvalid_o, t > 0);
    if (t > 1) {
      EXPECT_EQ(bench_->rdata_o, t - 2) << "the value before this cycle's write";
    }
    bench_.edge();
  }
}

// Each channel keeps one request while an answer waits, as it was when it was accepted, and
// holds the one after it back.
TEST_F(Registers, HoldARequestWhileAnAnswerWaits) {
  bench_->wstrb_i = 0xf;
  const auto offer = [this](unsigned address, unsigned value) {
    bench_->awvalid_i = bench_->wvalid_i = bench_->arvalid_i = 1;
    bench_->awaddr_i = bench_->araddr_i = static_cast<std::uint16_t>(address);
    bench_->wdata_i = value;
  };
  offer(reg::kWatchdog, 5);
  bench_.step();
  offer(reg::kRingMask, 6);
  bench_->wstrb_i = 1;
  bench_.step();
  offer(reg::kId, 7);  // one that must not be written
  bench_->wstrb_i = 0xf;
  for (unsigned t = 0; t < 5; ++t) {
    bench_.settle();
    EXPECT_FALSE(bench_->awready_o || bench_->wready_o || bench_->arready_o) << t;
    EXPECT_TRUE(bench_->bvalid_o && bench_->rvalid_o) << t;
    EXPECT_EQ(bench_->bresp_o, kOkay) << t;
    EXPECT_EQ(bench_->rdata_o, 1048576u) << t;
    EXPECT_EQ(bench_->ring_mask_o, 63) << t;
    bench_.edge();
  }
  bench_->bready_i = bench_->rready_i = 1;
  bench_.step();
  bench_.settle();
  EXPECT_TRUE(bench_->bvalid_o && bench_->rvalid_o);
  EXPECT_EQ(bench_->bresp_o, kOkay);
  EXPECT_EQ(bench_->ring_mask_o, 6);
  EXPECT_EQ(bench_->rdata_o, 63u);
  bench_.step();
  bench_->awvalid_i = bench_->wvalid_i = bench_->arvalid_i = 0;
  bench_.settle();
  EXPECT_TRUE(bench_->bvalid_o && bench_->rvalid_o);
  EXPECT_EQ(bench_->bresp_o, kSlaveError);
  EXPECT_EQ(bench_->rdata_o, 0x67363463u);
  EXPECT_EQ(bench_->watchdog_o, 5u);
  bench_.step();
  bench_.settle();
  EXPECT_FALSE(bench_->bvalid_o || bench_->rvalid_o) << "answered once";
}

// A reset forgets a request that was accepted and not answered.
TEST_F(Registers, NothingOutlivesAReset) {
  bench_->wstrb_i = 0xf;
  bench_->awvalid_i = 1;
  bench_->awaddr_i = reg::kWatchdog;
  bench_.step();
  bench_->awvalid_i = 0;
  bench_.reset();
  bench_->bready_i = bench_->wvalid_i = 1;
  bench_->wdata_i = 5;
  bench_.step();
  bench_->wvalid_i = 0;
  bench_.reset();
  bench_->awvalid_i = 1;
  bench_.step();
  bench_->awvalid_i = 0;
  for (unsigned t = 0; t < 3; ++t) {
    bench_.settle();
    EXPECT_FALSE(bench_->bvalid_o) << t;
    bench_.edge();
  }
  EXPECT_EQ(bench_->watchdog_o, 1048576u);
}

// What AXI asks: a ready comes from a register, whatever else its clock brings.
TEST_F(Registers, NoReadyLooksAtItsClock) {
  for (unsigned taken = 0; taken < 8; ++taken) {
    bench_.reset();
    bench_->awvalid_i = taken & 1u;
    bench_->wvalid_i = taken >> 1 & 1u;
    bench_->arvalid_i = taken >> 2;
    bench_->bready_i = bench_->rready_i = 0;
    bench_.step();
    bench_.step();
    bench_.settle();
    const unsigned ready = bench_->awready_o | bench_->wready_o << 1 | bench_->arready_o << 2;
    for (unsigned inputs = 0; inputs < 32; ++inputs) {
      bench_->awvalid_i = inputs & 1u;
      bench_->wvalid_i = inputs >> 1 & 1u;
      bench_->arvalid_i = inputs >> 2 & 1u;
      bench_->bready_i = inputs >> 3 & 1u;
      bench_->rready_i = inputs >> 4;
      bench_.settle();
      EXPECT_EQ(bench_->awready_o | bench_->wready_o << 1 | bench_->arready_o << 2, ready)
          << taken << " " << inputs;
    }
    bench_->awvalid_i = bench_->wvalid_i = bench_->arvalid_i = 0;
  }
}

TEST_F(Registers, InterruptStaysHighUntilCleared) {
  const auto pulse = [this](bool finish, bool fail) {
    bench_->finish_i = finish;
    bench_->fail_i = fail;
    bench_.step();
    bench_->finish_i = bench_->fail_i = 0;
  };
  for (unsigned causes = 1; causes < 4; ++causes) {
    for (unsigned cleared = 0; cleared < 4; ++cleared) {
      write(reg::kInterrupt, 3);
      EXPECT_EQ(bench_->irq_o, 0);
      pulse(causes & 1u, causes & 2u);
      EXPECT_EQ(bench_->irq_o, 1);
      EXPECT_EQ(read(reg::kInterrupt).data, causes);
      write(reg::kInterrupt, cleared);
      EXPECT_EQ(read(reg::kInterrupt).data, causes & ~cleared);
      EXPECT_EQ(bench_->irq_o, (causes & ~cleared) != 0);
    }
  }
  for (const bool fail : {false, true}) {
    write(reg::kInterrupt, 3);
    bench_->awvalid_i = bench_->wvalid_i = 1;  // both bits are cleared in the cycle of the event
    bench_->awaddr_i = reg::kInterrupt;
    bench_->wdata_i = 3;
    bench_->wstrb_i = 0xf;
    pulse(!fail, fail);
    bench_->awvalid_i = bench_->wvalid_i = 0;
    EXPECT_EQ(read(reg::kInterrupt).data, fail ? 2u : 1u) << "an event was lost to the clearing";
    bench_->bready_i = 1;
    bench_.step();
  }
  bench_->ring_clear_i = 1;
  bench_.step();
  EXPECT_EQ(bench_->irq_o, 0) << "a soft reset clears it";
}

TEST_F(Registers, ControlMakesPulsesOfOneClock) {
  for (unsigned value = 0; value < 4; ++value) {
    for (const unsigned strobes : {0xfu, 0xeu}) {
      const unsigned wanted = strobes & 1u ? value : 0;
      unsigned resets = 0, clears = 0;
      bench_->awvalid_i = bench_->wvalid_i = bench_->bready_i = 1;
      bench_->awaddr_i = reg::kControl;
      bench_->wdata_i = value;
      bench_->wstrb_i = static_cast<std::uint8_t>(strobes);
      for (unsigned t = 0; t < 5; ++t) {
        bench_.step();
        bench_->awvalid_i = bench_->wvalid_i = 0;
        resets += bench_->reset_o;
        clears += bench_->clear_counters_o;
        if (t == 0) {
          EXPECT_EQ(bench_->reset_o, wanted & 1u) << "a cycle after the write";
        }
      }
      EXPECT_EQ(resets, wanted & 1u);
      EXPECT_EQ(clears, wanted >> 1);
    }
  }
}

}  // namespace
}  // namespace gemm64::rtl_test
