// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/job_runner.hpp"

#include <chrono>
#include <future>

#include "host/cycles/cycle_model.hpp"
#include "host/numerics/reference.hpp"
#include "tests/test.hpp"
#include "tests/unit/runtime/small_device.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

class JobRunnerTest : public testing::Test {
 protected:
  JobRunnerTest() : driver_(device_), a_(random(6, 20)), w_(random(11, 20)) {}

  LayerReport run(JobRunner& runner, const std::string& name = "one",
                  const ProgressShare& progress = ProgressShare()) {
    return runner.run(runner.job(name, GemmShape{6, 20, 11}), a_, w_, sums_, progress);
  }
  LayerReport run(const RunOptions& options = {}) {
    JobRunner runner(device_, driver_, options);
    return run(runner);
  }

  MatrixI8 random(Eigen::Index rows, Eigen::Index columns) {
    return MatrixI8::NullaryExpr(rows, columns,
                                 [this] { return static_cast<std::int8_t>(random_() & 0xffu); });
  }

  std::mt19937 random_{1};
  DamagedDevice device_;
  Driver driver_;
  MatrixI8 a_, w_;
  MatrixI32 sums_;
};

TEST_F(JobRunnerTest, ReturnsSumsAndReport) {
  const LayerReport layer = run();
  EXPECT_EQ(sums_, reference_gemm(a_, w_));
  EXPECT_EQ(layer.name, "one");
  EXPECT_EQ(layer.shape.m, 6U);
  EXPECT_EQ(layer.padded.m, 6U);
  EXPECT_EQ(layer.padded.k, 24U);
  EXPECT_EQ(layer.padded.n, 16U);
  EXPECT_EQ(layer.tiles, 3U * 2U);
  EXPECT_EQ(layer.mismatches.count, 0U);
  EXPECT_EQ(layer.counters[counter::kBytesWeights], 3U * 2 * 64);
  EXPECT_EQ(layer.predicted[counter::kBytesWeights], 3U * 2 * 64);
  EXPECT_GT(layer.predicted[counter::kTotalClocks], 0U);
  EXPECT_FALSE(layer.skipped);
}

TEST_F(JobRunnerTest, EqualsWithAnyAccumulation) {
  const LayerReport on_device = run();
  const MatrixI32 sums = sums_;
  RunOptions options;
  options.accumulate = Accumulate::kHost;
  const LayerReport on_host = run(options);
  EXPECT_EQ(sums_, sums);
  EXPECT_FALSE(on_device.on_device);
  ASSERT_TRUE(on_host.on_device);  // what the device would have done
  EXPECT_EQ((*on_host.on_device)[counter::kBytesResults], 6U * 16 * 4);
  EXPECT_EQ(on_host.counters[counter::kBytesResults], 3U * 6 * 16 * 4);
}

TEST_F(JobRunnerTest, NoticesAFlippedBit) {
  device_.damage = true;
  const LayerReport layer = run();
  EXPECT_EQ(layer.mismatches.count, 1U);
  EXPECT_EQ(layer.mismatches.expected, reference_gemm(a_, w_)(0, 0));
  EXPECT_EQ(layer.mismatches.expected ^ layer.mismatches.found, 1);
  EXPECT_EQ(sums_(0, 0), layer.mismatches.found) << "the device's sums, not the right ones";
}

TEST_F(JobRunnerTest, DiagnosesFirstFailedJob) {
  RunOptions options;
  std::vector<std::string> asked;
  options.investigate = [&](const JobRun& run, Failure& failure) {
    asked.push_back(run.job.name);
    EXPECT_EQ(run.packed.size(), run.job.plan.weight_bytes());
    EXPECT_EQ(failure.product, run.job.name);
    EXPECT_EQ(failure.index, 1U);
    EXPECT_EQ(failure.shape.k, 20U);
    EXPECT_EQ(failure.mismatches.count, 1U);
    failure.note = "found it";
  };
  JobRunner runner(device_, driver_, options);
  run(runner, "good");
  EXPECT_FALSE(runner.failure());
  device_.damage = true;
  run(runner, "bad");
  run(runner, "worse");
  EXPECT_THAT(asked, ElementsAre("bad"));
  EXPECT_EQ(runner.failure().value().note, "found it");
}

TEST_F(JobRunnerTest, CallsItsObservers) {
  JobNotes first, second;
  RunOptions options;
  options.observers = {&first, &second};
  JobRunner runner(device_, driver_, options);
  runner.announce({runner.job("a", GemmShape{1, 2, 3}), runner.job("b", GemmShape{6, 20, 11})});
  run(runner, "b");
  for (const JobNotes* notes : {&first, &second}) {
    EXPECT_THAT(notes->notes, ElementsAre("announce a b", "begin b", "end"));
    ASSERT_EQ(notes->announced.size(), 2U);
    EXPECT_EQ(notes->announced[1].plan.shape.k, 20U);
  }
}

TEST_F(JobRunnerTest, RunsOneJobByItself) {
  RunOptions options;
  std::vector<std::uint64_t> resets;
  options.only = OneJob{1, 5000, [&](std::uint64_t clock) { resets.push_back(clock); }};
  JobRunner runner(device_, driver_, options);
  device_.damage = true;  // who runs is seen from its sums
  EXPECT_TRUE(run(runner).skipped);
  EXPECT_EQ(sums_, reference_gemm(a_, w_));
  EXPECT_THAT(resets, ElementsAre());
  EXPECT_FALSE(run(runner).skipped);
  EXPECT_NE(sums_, reference_gemm(a_, w_));
  EXPECT_THAT(resets, ElementsAre(5000U));
}

TEST_F(JobRunnerTest, ReportsGrowingProgress) {
  JobRunner runner(device_, driver_, {});
  std::vector<double> reported;
  ProgressShare share([&](const std::string& name, double done) {
    EXPECT_EQ(name, "one");
    reported.push_back(done);
  });
  share.next(0.25);
  run(runner, "one", share);
  EXPECT_EQ(reported.front(), 0);
  EXPECT_EQ(reported.back(), 0.25);
}

TEST_F(JobRunnerTest, RefusesWhatTheMemoryCannotHold) {
  const JobRunner runner(device_, driver_, {});
  EXPECT_THAT(
      [&] {
        runner.job("huge", GemmShape{4096, 4096, 4096});
      },
      Fails("4096x4096x4096 needs"));
  EXPECT_THROW(runner.job("none", GemmShape{0, 1, 1}), UsageError);
}

TEST_F(JobRunnerTest, BeginsReportOfItsDevice) {
  RunOptions options;
  options.precision = Precision::kFloat32;
  options.accumulate = Accumulate::kHost;
  options.memory.latency = 7;
  const RunReport report = JobRunner(device_, driver_, options).report("net", 3);
  EXPECT_EQ(report.model, "net");
  EXPECT_EQ(report.batch, 3U);
  EXPECT_EQ(report.device, "reference");
  EXPECT_EQ(report.geometry.n, 8U);
  EXPECT_EQ(report.precision, Precision::kFloat32);
  EXPECT_EQ(report.accumulate, Accumulate::kHost);
  EXPECT_EQ(report.memory.latency, 7U);
  EXPECT_TRUE(report.layers.empty());
}

TEST_F(JobRunnerTest, RunsJobsAsOneProgram) {
  JobNotes notes;
  RunOptions options;
  options.one_program = true;
  options.observers.push_back(&notes);
  JobRunner runner(device_, driver_, options);
  std::vector<LayerReport> layers{run(runner, "one"), run(runner, "two")};
  EXPECT_EQ(device_.runs, 0);
  EXPECT_EQ(sums_, reference_gemm(a_, w_));
  runner.finish(layers, ProgressShare());
  EXPECT_EQ(device_.runs, 1);
  EXPECT_THAT(notes.notes, ElementsAre("begin together one two", "end"));
  const RunReport report = runner.report("both", 1);
  EXPECT_TRUE(report.one_program);
  std::uint64_t cycles = 0;
  for (const LayerReport& layer : layers) {
    EXPECT_EQ(layer.mismatches.count, 0u);
    cycles += layer.predicted[counter::kTotalClocks];
  }
  // Each moves its own bytes of activations; the FENCE between them writes a snapshot.
  EXPECT_EQ(layers[0].counters[counter::kBytesActivations], 6u * 3 * 8);
  EXPECT_EQ(layers[1].counters[counter::kBytesActivations], 6u * 3 * 8);
  EXPECT_EQ(layers[0].counters[counter::kBytesResults] + layers[1].counters[counter::kBytesResults],
            2 * 6u * 16 * 4 + 320);
  const Job single = runner.job("one", GemmShape{6, 20, 11});
  const std::uint64_t apart =
      2 * predict_counters(single.program, small_geometry(), MemoryTiming{})[counter::kTotalClocks];
  EXPECT_LT(cycles, apart) << "loads while the one before ends";
}

TEST_F(JobRunnerTest, FindsWhatIsWrongInOneProgram) {
  RunOptions options;
  options.one_program = true;
  std::vector<std::size_t> places;
  options.investigate = [&](const JobRun& run, Failure&) {
    ASSERT_NE(run.list, nullptr);
    places.push_back(run.place);
  };
  JobRunner runner(device_, driver_, options);
  std::vector<LayerReport> layers{run(runner, "one"), run(runner, "two")};
  device_.damage = true;
  runner.finish(layers, ProgressShare());
  EXPECT_EQ(layers[0].mismatches.count, 1u);
  EXPECT_EQ(layers[1].mismatches.count, 1u);
  EXPECT_THAT(places, ElementsAre(0u));
  ASSERT_TRUE(runner.failure());
  EXPECT_EQ(runner.failure()->product, "one");
}

class FailingDevice : public DamagedDevice {
 public:
  bool wait_interrupt(std::uint64_t) override { throw DeviceError("it stopped"); }
};

TEST_F(JobRunnerTest, SaysWhatFailed) {
  FailingDevice device;
  Driver driver(device, Timeouts());
  RunOptions options;
  options.investigate = [](const JobRun&, Failure&) {};
  JobRunner runner(device, driver, options);
  try {
    run(runner);
    FAIL();
  } catch (const DeviceError& error) {
    const std::string message = error.what();
    EXPECT_THAT(message, testing::StartsWith("it stopped\n"));
    EXPECT_EQ(message + "\n", "it stopped\n" + describe(*runner.failure()));
  }
}

TEST_F(JobRunnerTest, KeepsLayersWhereItFails) {
  FailingDevice device;
  Driver driver(device, Timeouts());
  RunOptions options;
  options.one_program = true;
  JobRunner runner(device, driver, options);
  std::vector<LayerReport> layers{run(runner, "one"), run(runner, "two")};
  EXPECT_THROW(runner.finish(layers, ProgressShare()), DeviceError);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[1].name, "two");
}

/// A device and what computes its results, each of which waits until the other runs.
class WaitingDevice : public DamagedDevice {
 public:
  bool wait_interrupt(std::uint64_t max_cycles) override {
    if (runs == 0) {
      running.set_value();
      EXPECT_EQ(computing.get_future().wait_for(kLimit), std::future_status::ready);
    }
    return DamagedDevice::wait_interrupt(max_cycles);
  }
  void compute() {
    computing.set_value();
    EXPECT_EQ(running.get_future().wait_for(kLimit), std::future_status::ready);
  }

 private:
  static constexpr std::chrono::seconds kLimit{30};
  std::promise<void> running, computing;
};

TEST_F(JobRunnerTest, ComputesExpectedMeanwhile) {
  for (const std::int32_t wrong : {0, 1}) {
    WaitingDevice device;
    Driver driver(device, Timeouts());
    JobRunner runner(device, driver, RunOptions());
    ProgramLayer layer;
    layer.job = runner.job("one", GemmShape{6, 20, 11});
    layer.a = a_;
    layer.w = w_;
    const ProgramResults found = runner.run_program({layer}, ProgressShare(), [&] {
      device.compute();
      MatrixI32 sums = reference_gemm(a_, w_);
      sums(5, 10) += wrong;
      return std::vector<LayerExpectation>{{std::move(sums), nullptr}};
    });
    EXPECT_EQ(found.layers[0].mismatches.count, static_cast<std::uint64_t>(wrong));
  }
}

}  // namespace
}  // namespace gemm64
