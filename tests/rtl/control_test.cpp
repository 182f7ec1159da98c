// SPDX-License-Identifier: Apache-2.0
#include <Vcontrol_flips.h>
#include <Vcontrol_one.h>

#include "host/device/registers.hpp"
#include "tests/rtl/flips.hpp"
#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

std::uint32_t error(ErrorCode code, Engine engine, unsigned command) {
  return command << 16 | static_cast<unsigned>(engine) << 4 | static_cast<unsigned>(code);
}

std::uint8_t bit(unsigned place) { return static_cast<std::uint8_t>(1 << place); }

constexpr unsigned kBusTag = 65530;  // of the first engine's command, all 16 bits in use

template <class Model>
class ControlOf : public testing::Test {
 protected:
  ControlOf() { quiet_inputs(); }

  void quiet_inputs() {
    bench_->reset_i = bench_->progress_i = 0;
    bench_->busy_i = bench_->quiet_i = 1;
    bench_->watchdog_i = 0;
    bench_->bus_error_i = bench_->bus_decode_i = bench_->fault_i = 0;
    bench_->fault_code_i = 0;
    bench_->next_tag_i = 9;
    for (unsigned i = 0; i < kEngines.size(); ++i) {
      set_lane(bench_->bus_tag_i, i, static_cast<std::uint16_t>(kBusTag + i));
      set_lane(bench_->fault_tag_i, i, static_cast<std::uint16_t>(10 + i));
    }
  }

  /// One cycle with what was set; then nothing is reported any more.
  void report() {
    bench_.settle();
    EXPECT_EQ(bench_->fail_o, 1);
    EXPECT_EQ(bench_->stop_o, 0);
    bench_.edge();
    quiet_inputs();
    bench_.settle();
    EXPECT_EQ(bench_->fail_o, 0) << "one cycle";
    EXPECT_EQ(bench_->stop_o, 1) << "a cycle after the error";
    EXPECT_EQ(bench_->halted_o, 1);
  }

  Bench<Model> bench_;
};

using Control = ControlOf<Vcontrol_one>;
using ControlFlips = ControlOf<Vcontrol_flips>;

TEST_F(Control, RecordsCodeEngineAndCommandOfError) {
  for (const EngineEntry& entry : kEngines) {
    SCOPED_TRACE(entry.name);
    const unsigned place = static_cast<unsigned>(entry.value);
    for (const bool decode : {false, true}) {
      bench_.reset();
      bench_->bus_error_i = bit(place);
      bench_->bus_decode_i = decode ? bit(place) : ~bit(place) & 0x3f;  // of others
      report();
      EXPECT_EQ(bench_->error_o, error(decode ? ErrorCode::kBusDecode : ErrorCode::kBusSlave,
                                       entry.value, kBusTag + place));
    }
    for (const ErrorCode code :
         {ErrorCode::kBadOpcode, ErrorCode::kBadOperand, ErrorCode::kUnbalanced}) {
      bench_.reset();
      bench_->fault_i = bit(place);
      bench_->fault_code_i = static_cast<unsigned>(code) << 4 * place;
      report();
      EXPECT_EQ(bench_->error_o, error(code, entry.value, 10 + place));
    }
  }
}

TEST_F(Control, BusErrorPrecedesBadCommand) {
  bench_->fault_i = 0x3f;
  bench_->bus_error_i = bit(0);
  report();
  EXPECT_EQ(bench_->error_o, error(ErrorCode::kBusSlave, Engine::kCommands, kBusTag));
}

TEST_F(Control, ReportsLowestEngineFirst) {
  for (unsigned engines = 1; engines < 0x40; ++engines) {
    const unsigned others = engines & ~1u;
    const unsigned first = others == 0 ? 0 : static_cast<unsigned>(__builtin_ctz(others));
    bench_.reset();
    bench_->bus_error_i = static_cast<std::uint8_t>(engines);
    report();
    EXPECT_EQ(bench_->error_o, error(ErrorCode::kBusSlave, Engine{first}, kBusTag + first))
        << engines;
    bench_.reset();
    bench_->fault_i = static_cast<std::uint8_t>(engines);
    bench_->fault_code_i = 0x777777;
    report();
    EXPECT_EQ(bench_->error_o, error(ErrorCode::kUnbalanced, Engine{first}, 10 + first)) << engines;
  }
}

TEST_F(Control, KeepsTheFirstError) {
  bench_->bus_error_i = bit(4);
  report();
  bench_->bus_error_i = bit(1);
  bench_.settle();
  EXPECT_EQ(bench_->fail_o, 0);
  bench_.edge();
  EXPECT_EQ(bench_->error_o, error(ErrorCode::kBusSlave, Engine::kResults, kBusTag + 4));
}

TEST_F(Control, WatchdogFiresWithoutProgress) {
  const auto cycles_until_bite = [this](unsigned watchdog, unsigned progress_at, bool busy) {
    bench_.reset();
    bench_->watchdog_i = watchdog;
    for (unsigned t = 0; t < 200; ++t) {
      bench_->busy_i = busy;
      bench_->progress_i = t == progress_at;
      bench_.settle();
      if (bench_->fail_o) return static_cast<int>(t);
      bench_.edge();
    }
    return -1;
  };
  EXPECT_EQ(cycles_until_bite(10, 1000, true), 10);
  EXPECT_EQ(cycles_until_bite(10, 7, true), 18) << "progress restarts the count";
  EXPECT_EQ(cycles_until_bite(1, 1000, true), 1);
  EXPECT_EQ(cycles_until_bite(0, 1000, true), -1) << "0 waits for ever";
  EXPECT_EQ(cycles_until_bite(10, 1000, false), -1) << "idle is no fault";
  bench_->busy_i = 1;
  cycles_until_bite(5, 1000, true);
  bench_->watchdog_i = 5;
  report();
  EXPECT_EQ(bench_->error_o, error(ErrorCode::kWatchdog, Engine::kCommands, 9));
}

TEST_F(Control, CyclesWithoutWorkAreNotCounted) {
  bench_->watchdog_i = 10;
  bench_->busy_i = 0;
  for (unsigned t = 0; t < 50; ++t) bench_.step();
  bench_->busy_i = 1;
  for (unsigned t = 0; t < 10; ++t) {
    bench_.settle();
    EXPECT_EQ(bench_->fail_o, 0) << t;
    bench_.edge();
  }
  report();
}

TEST_F(Control, WatchdogFiresWhenSetBelowElapsed) {
  bench_->watchdog_i = 100;
  for (unsigned t = 0; t < 50; ++t) bench_.step();
  bench_->watchdog_i = 20;
  report();
}

TEST_F(Control, SoftResetWaitsForBusThenClears) {
  for (const bool after_error : {false, true}) {
    bench_.reset();
    quiet_inputs();
    if (after_error) {
      bench_->bus_error_i = bit(1);
      report();
    }
    bench_->reset_i = 1;
    bench_->quiet_i = 0;
    bench_.step();
    bench_->reset_i = 0;
    for (unsigned t = 0; t < 10; ++t) {
      bench_.settle();
      EXPECT_EQ(bench_->stop_o, 1);
      EXPECT_EQ(bench_->resetting_o, 1);
      EXPECT_EQ(bench_->clear_o, 0);
      bench_.edge();
    }
    bench_->quiet_i = 1;
    bench_.settle();
    EXPECT_EQ(bench_->clear_o, 1);
    bench_.edge();
    bench_.settle();
    EXPECT_EQ(bench_->clear_o, 0);
    EXPECT_EQ(bench_->stop_o, 0);
    EXPECT_EQ(bench_->halted_o, 0);
    EXPECT_EQ(bench_->resetting_o, 0);
    EXPECT_EQ(bench_->error_o, 0u);
  }
}

// Whatever is flipped, the work goes on, or stops with an error and its interrupt.
TEST_F(ControlFlips, ThatStopTheEnginesAreErrors) {
  Flips flips(bench_.context());
  ASSERT_EQ(flips.bits(), 7u);
  for (std::size_t i = 0; i < flips.bits(); ++i) {
    SCOPED_TRACE(flips.in_words(i));
    bench_.reset();
    quiet_inputs();
    bench_->quiet_i = 0;
    for (unsigned t = 0; t < 3; ++t) bench_.step();
    flips.flip(i);
    bench_.settle();
    EXPECT_EQ(bench_->fail_o, 1);
    EXPECT_EQ(bench_->resetting_o, 0);
    bench_.edge();
    bench_.settle();
    EXPECT_EQ(bench_->fail_o, 0);
    EXPECT_EQ(bench_->halted_o, 1);
    EXPECT_EQ(bench_->stop_o, 1);
    EXPECT_EQ(bench_->error_o, error(ErrorCode::kParity, Engine::kCommands, 9));
    bench_->reset_i = 1;
    bench_.step();
    bench_->reset_i = 0;
    bench_->quiet_i = 1;
    bench_.settle();
    EXPECT_EQ(bench_->clear_o, 1);
    bench_.edge();
    bench_.settle();
    EXPECT_EQ(bench_->halted_o, 0);
    EXPECT_EQ(bench_->error_o, 0u);
  }
}

TEST_F(ControlFlips, LeaveHaltedDeviceWithError) {
  Flips flips(bench_.context());
  for (std::size_t i = 0; i < flips.bits(); ++i) {
    SCOPED_TRACE(flips.in_words(i));
    bench_.reset();
    quiet_inputs();
    bench_->bus_error_i = bit(1);
    report();
    flips.flip(i);
    bench_.step();
    bench_.settle();
    EXPECT_EQ(bench_->halted_o, 1);
    EXPECT_EQ(bench_->resetting_o, 0);
    EXPECT_NE(bench_->error_o & 15, 0u);
  }
}

TEST_F(Control, ErrorsDuringASoftResetAreOfNoInterest) {
  bench_->reset_i = 1;
  bench_->quiet_i = 0;
  bench_.step();
  bench_->reset_i = 0;
  bench_->bus_error_i = bit(1);
  bench_.settle();
  EXPECT_EQ(bench_->fail_o, 0);
  bench_.edge();
  EXPECT_EQ(bench_->halted_o, 0);
}

}  // namespace
}  // namespace gemm64::rtl_test
