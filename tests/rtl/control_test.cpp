// SPDX-License-Identifier: Apache-2.0
#include <Vcontrol_one.h>

#include "host/device/registers.hpp"
#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

std::uint32_t error(ErrorCode code, Engine engine, unsigned command) {
  return command << 16 | static_cast<unsigned>(engine) << 4 | static_cast<unsigned>(code);
}

class Control : public testing::Test {
 protected:
  Control() { quiet_inputs(); }

  void quiet_inputs() {
    bench_->reset_i = bench_->progress_i = 0;
    bench_->busy_i = bench_->quiet_i = 1;
    bench_->watchdog_i = 0;
    bench_->commands_error_i = bench_->fetch_error_i = bench_->activations_error_i = 0;
    bench_->weights_error_i = bench_->parameters_error_i = bench_->results_error_i = 0;
    bench_->unbalanced_i = 0;
    bench_->data_decode_i = bench_->weights_decode_i = bench_->results_decode_i = 0;
    bench_->commands_code_i = 1;
    bench_->commands_tag_i = 10;
    bench_->next_tag_i = 9;
    bench_->weights_tag_i = 11;
    bench_->activations_tag_i = 12;
    bench_->parameters_tag_i = 13;
    bench_->results_tag_i = 14;
    bench_->fetch_tag_i = 65535;
    bench_->unbalanced_tag_i = 16;
  }

  /// One clock with what was set; then nothing is reported any more.
  void report() {
    bench_.settle();
    EXPECT_EQ(bench_->fail_o, 1);
    EXPECT_EQ(bench_->stop_o, 0);
    bench_.edge();
    quiet_inputs();
    bench_.settle();
    EXPECT_EQ(bench_->fail_o, 0) << "one clock";
    EXPECT_EQ(bench_->stop_o, 1) << "a clock after the error";
    EXPECT_EQ(bench_->halted_o, 1);
  }

  Bench<Vcontrol_one> bench_;
};

TEST_F(Control, KeepsCodeEngineAndCommandOfEachKindOfError) {
  for (unsigned decode = 0; decode < 2; ++decode) {
    const ErrorCode bus = decode ? ErrorCode::kBusDecode : ErrorCode::kBusSlave;
    bench_.reset();
    bench_->weights_error_i = 1;
    bench_->weights_decode_i = decode != 0;
    bench_->data_decode_i = bench_->results_decode_i = decode == 0;  // of others
    report();
    EXPECT_EQ(bench_->error_o, error(bus, Engine::kWeights, 11));

    bench_.reset();
    bench_->activations_error_i = 1;
    bench_->data_decode_i = decode != 0;
    bench_->weights_decode_i = bench_->results_decode_i = decode == 0;
    report();
    EXPECT_EQ(bench_->error_o, error(bus, Engine::kActivations, 12));

    bench_.reset();
    bench_->parameters_error_i = 1;
    bench_->data_decode_i = decode != 0;
    bench_->weights_decode_i = bench_->results_decode_i = decode == 0;
    report();
    EXPECT_EQ(bench_->error_o, error(bus, Engine::kParameters, 13));

    bench_.reset();
    bench_->results_error_i = 1;
    bench_->results_decode_i = decode != 0;
    bench_->data_decode_i = bench_->weights_decode_i = decode == 0;
    report();
    EXPECT_EQ(bench_->error_o, error(bus, Engine::kResults, 14));

    bench_.reset();
    bench_->fetch_error_i = 1;
    bench_->data_decode_i = decode != 0;
    bench_->weights_decode_i = bench_->results_decode_i = decode == 0;
    report();
    EXPECT_EQ(bench_->error_o, error(bus, Engine::kCommands, 65535));
  }
  for (unsigned code = 1; code <= 3; ++code) {
    bench_.reset();
    bench_->commands_error_i = 1;
    bench_->commands_code_i = static_cast<std::uint8_t>(code);
    report();
    EXPECT_EQ(bench_->error_o, error(static_cast<ErrorCode>(code), Engine::kCommands, 10));
  }
}

TEST_F(Control, ABusErrorGoesBeforeABadCommandInTheSameClock) {
  bench_->commands_error_i = bench_->fetch_error_i = 1;
  report();
  EXPECT_EQ(bench_->error_o, error(ErrorCode::kBusSlave, Engine::kCommands, 65535));
}

TEST_F(Control, NamesTheLoadThatFindsPixelsOfOthers) {
  bench_->unbalanced_i = bench_->commands_error_i = 1;
  report();
  EXPECT_EQ(bench_->error_o, error(ErrorCode::kUnbalanced, Engine::kActivations, 16));
}

TEST_F(Control, KeepsTheFirstError) {
  bench_->results_error_i = 1;
  report();
  bench_->weights_error_i = 1;
  bench_.settle();
  EXPECT_EQ(bench_->fail_o, 0);
  bench_.edge();
  EXPECT_EQ(bench_->error_o, error(ErrorCode::kBusSlave, Engine::kResults, 14));
}

TEST_F(Control, WatchdogBitesAfterAsManyClocksWithoutProgress) {
  const auto clocks_until_bite = [this](unsigned watchdog, unsigned progress_at, bool busy) {
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
  EXPECT_EQ(clocks_until_bite(10, 1000, true), 10);
  EXPECT_EQ(clocks_until_bite(10, 7, true), 18) << "progress begins the count anew";
  EXPECT_EQ(clocks_until_bite(1, 1000, true), 1);
  EXPECT_EQ(clocks_until_bite(0, 1000, true), -1) << "0 waits for ever";
  EXPECT_EQ(clocks_until_bite(10, 1000, false), -1) << "idle is no fault";
  bench_->busy_i = 1;
  clocks_until_bite(5, 1000, true);
  bench_->watchdog_i = 5;
  report();
  EXPECT_EQ(bench_->error_o, error(ErrorCode::kWatchdog, Engine::kCommands, 9));
}

TEST_F(Control, ClocksWithoutWorkAreNotCounted) {
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

TEST_F(Control, WatchdogThatIsSetBelowTheClocksAlreadyWaitedBitesAtOnce) {
  bench_->watchdog_i = 100;
  for (unsigned t = 0; t < 50; ++t) bench_.step();
  bench_->watchdog_i = 20;
  report();
}

TEST_F(Control, SoftResetWaitsForTheBusThenClearsForOneClock) {
  for (const bool after_error : {false, true}) {
    bench_.reset();
    quiet_inputs();
    if (after_error) {
      bench_->weights_error_i = 1;
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

TEST_F(Control, ErrorsDuringASoftResetAreOfNoInterest) {
  bench_->reset_i = 1;
  bench_->quiet_i = 0;
  bench_.step();
  bench_->reset_i = 0;
  bench_->weights_error_i = 1;
  bench_.settle();
  EXPECT_EQ(bench_->fail_o, 0);
  bench_.edge();
  EXPECT_EQ(bench_->halted_o, 0);
}

}  // namespace
}  // namespace gemm64::rtl_test
