// SPDX-License-Identifier: Apache-2.0
// Faults put inside the accelerator: the diagnosis must name the very place and clock.

#include "host/check/failure.hpp"
#include "host/check/investigation.hpp"
#include "host/runtime/job_runner.hpp"
#include "host/tiling/tile_walk.hpp"
#include "tests/fst_word.hpp"
#include "tests/system/draw_fault.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

/// A product on an accelerator with a fault, run as the program runs it.
struct Experiment {
  int n = 8;
  GemmShape shape;
  Accumulate accumulate = Accumulate::kDevice;
  double stalls = 0;
  std::uint32_t seed = 1;
  std::vector<Fault> faults;
  Timeouts timeouts;

  RtlOptions options() const {
    RtlOptions options = Rig::options(n, stalls, seed);
    options.debug = true;
    return options;
  }

  std::unique_ptr<RtlDevice> device(const std::string& trace = "") const {
    RtlOptions rtl = options();
    rtl.trace_file = trace;
    rtl.trace_begin = std::numeric_limits<std::uint64_t>::max() - 1;
    std::unique_ptr<RtlDevice> device = make_rtl_device(rtl);
    for (const Fault& fault : faults) device->inject(fault);
    return device;
  }
};

LayerReport run_job(JobRunner& runner, const std::string& name, const Operands& operands,
                    MatrixI32* sums = nullptr) {
  const auto size = [](Eigen::Index index) { return static_cast<std::uint64_t>(index); };
  const Job job = runner.job(
      name, GemmShape{size(operands.a.rows()), size(operands.a.cols()), size(operands.w.rows())});
  MatrixI32 found;
  LayerReport layer = runner.run(job, operands.a, operands.w, found, ProgressShare());
  if (sums != nullptr) *sums = found;
  return layer;
}

struct Outcome {
  LayerReport layer;
  std::optional<Failure> failure;
  std::string error;
  std::uint64_t end = 0;  // clock
};

Outcome conduct(const Experiment& experiment, const std::string& trace) {
  const std::unique_ptr<RtlDevice> device = experiment.device();
  Driver driver(*device, experiment.timeouts);
  std::mt19937 random(experiment.seed);
  const Operands operands = random_operands(random, experiment.shape);
  RunOptions options;
  options.accumulate = experiment.accumulate;
  options.memory.stall_probability = experiment.stalls;
  options.investigate = [&](const JobRun& job, Failure& failure) {
    investigate(
        job, [&](bool traced) { return experiment.device(traced ? trace : ""); },
        experiment.timeouts, failure);
  };
  JobRunner runner(*device, driver, options);
  Outcome outcome;
  outcome.error =
      message_of<DeviceError>([&] { outcome.layer = run_job(runner, "product", operands); });
  outcome.failure = runner.failure();
  outcome.end = device->cycles();
  return outcome;
}

class Failures : public InFolder {
 protected:
  Outcome run(const Experiment& experiment) const { return conduct(experiment, trace_.string()); }
  void draw_faults(Fault::Kind kind, unsigned wanted) const;

  const std::filesystem::path trace_ = folder_ / "t.fst";
};

/// Draws faults of one kind until `wanted` of them gave a mismatch, and checks each one's finding.
void Failures::draw_faults(Fault::Kind kind, unsigned wanted) const {
  unsigned hits = 0;
  for (unsigned seed = 1; hits < wanted; ++seed) {
    ASSERT_LT(seed, 400u) << "faults of this kind hardly ever show";
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    Experiment experiment;
    experiment.n = 2 << draw(random, 0, 2);
    const auto n = static_cast<unsigned>(experiment.n);
    // Now and then more rows than a block holds.
    experiment.shape = {draw(random, 0, 3) == 0 ? draw(random, 129, 150) : draw(random, 1, 40),
                        draw(random, 1, 40), draw(random, 1, 40)};
    experiment.accumulate = draw(random, 0, 2) == 0 ? Accumulate::kHost : Accumulate::kDevice;
    experiment.stalls = draw(random, 0, 2) == 0 ? 0.2 : 0;
    experiment.seed = seed;
    const std::uint64_t cycles = run(experiment).end;
    const Fault fault = draw_fault(random, kind, n, cycles, 0, 0);
    SCOPED_TRACE(to_string(fault));
    experiment.faults = {fault};
    const Outcome outcome = run(experiment);
    ASSERT_EQ(outcome.error, "");
    ASSERT_EQ(outcome.failure.has_value(), outcome.layer.mismatches.count != 0);
    if (!outcome.failure) continue;
    ++hits;
    const Finding& finding = outcome.failure->finding;
    EXPECT_EQ(
        std::uint32_t{1} << fault.bit,
        static_cast<std::uint32_t>(finding.expected ^ finding.found) &
            (fault.bit < 8 && kind != Fault::Kind::kPartialSum && kind != Fault::Kind::kAccumulator
                 ? 0xffu
                 : 0xffffffffu));
    EXPECT_EQ(finding.column,
              static_cast<std::uint64_t>(outcome.layer.mismatches.first_column) % n);
    EXPECT_EQ(finding.tile.n,
              static_cast<std::uint64_t>(outcome.layer.mismatches.first_column) / n);
    SCOPED_TRACE(describe(*outcome.failure));
    expect_found(fault, finding);
    EXPECT_TRUE(kind != Fault::Kind::kAccumulator || finding.wrong_clock == fault.clock);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(Failures, WrongWeightIsFound) { draw_faults(Fault::Kind::kWeight, 30); }
TEST_F(Failures, WrongActivationIsFound) { draw_faults(Fault::Kind::kActivation, 30); }
TEST_F(Failures, WrongPartialSumIsFound) { draw_faults(Fault::Kind::kPartialSum, 30); }
TEST_F(Failures, WrongAccumulatorIsFound) { draw_faults(Fault::Kind::kAccumulator, 15); }

Experiment three_tiles() {
  Experiment experiment;
  experiment.shape = {8, 24, 8};
  return experiment;
}

/// The fault-free cycles of the element's sum in a tile, from an observer of its own.
class Leaves : public Observer {
 public:
  void clock(std::uint64_t clock, const Probe& probe) override {
    if (probe.counts(counter::kComputeCompute)) rows.push_back(clock);
    sums.push_back({clock, probe.partial_sum(1, 5)});
  }
  std::vector<std::uint64_t> rows;
  std::vector<std::pair<std::uint64_t, std::int32_t>> sums;
};

TEST_F(Failures, ReportTheCycleOfTheSum) {
  Experiment experiment = three_tiles();
  experiment.faults = {parse_fault("weight:3,5:6@0")};
  std::mt19937 random(experiment.seed);
  const Operands operands = random_operands(random, experiment.shape);
  Leaves leaves;
  std::uint64_t first = 0;
  {
    const std::unique_ptr<RtlDevice> device = make_rtl_device(experiment.options());
    device->observe(leaves);
    Driver driver(*device);
    device->reset_at(device->cycles());
    const Job job =
        gemm64::make_job("product", experiment.shape, Accumulate::kDevice, driver.geometry());
    driver.run(job, pack_weights(job, operands.w), operands.a);
  }
  ASSERT_EQ(leaves.rows.size(), 24u);
  // The fault comes while the second tile's row 4 is multiplied: rows 4 to 7 of it are wrong.
  experiment.faults[0].clock = leaves.rows[8 + 4] + 2 + 5;
  const Outcome outcome = run(experiment);
  ASSERT_TRUE(outcome.failure);
  const Finding& finding = outcome.failure->finding;
  EXPECT_EQ(finding.tile, (TileIndex{0, 1, 0}));
  EXPECT_EQ(finding.tile_begin, leaves.rows[8]);
  EXPECT_EQ(finding.before_begin, leaves.rows[0]);
  const auto row = static_cast<std::size_t>(outcome.failure->mismatches.first_row);
  EXPECT_EQ(finding.clock, leaves.rows[8 + row] + 2 + 2 + 5);
  std::int32_t expected = 0;
  for (int k = 8; k < 16; ++k) {
    expected += operands.a(static_cast<Eigen::Index>(row), k) * operands.w(5, k);
  }
  for (const auto& [clock, sum] : leaves.sums) {
    if (clock == finding.clock) first = static_cast<std::uint64_t>(sum == expected);
  }
  EXPECT_EQ(first, 1u) << "the right run's sum of that tile is there in that cycle";
}

TEST_F(Failures, AreTracedAroundTheirMoment) {
  Experiment experiment = three_tiles();
  experiment.faults = {parse_fault("partial-sum:1,5:6@0")};
  for (std::uint64_t clock = 280; clock < 400; ++clock) {
    experiment.faults[0].clock = clock;
    const Outcome outcome = run(experiment);
    if (!outcome.failure) continue;
    const Failure& failure = *outcome.failure;
    EXPECT_LE(failure.trace_begin, failure.finding.tile_begin);
    EXPECT_GT(failure.trace_end, failure.finding.clock);
    EXPECT_EQ(fst_word(trace_, 9) / kCycleTime, failure.trace_begin);
    EXPECT_EQ(fst_word(trace_, 17) / kCycleTime, failure.trace_end - 1);
    return;
  }
  FAIL() << "no fault showed";
}

/// Where the diagnosis finds what is wrong with a product of 8-bit results; nothing where all is
/// right.
std::optional<Finding> finding_of_8_bits(const Experiment& experiment, const std::string& trace) {
  const std::unique_ptr<RtlDevice> device = experiment.device();
  Driver driver(*device);
  std::mt19937 random(experiment.seed);
  const Operands operands = random_operands(random, experiment.shape);
  const Output output{ResultFormat(ResultCode::kInt8), 3, -128, 127};
  const Job job =
      gemm64::make_job("product", experiment.shape, Accumulate::kDevice, driver.geometry(), output);
  const Packed packed(job, operands);
  Failure failure;
  failure.first_clock = device->cycles();
  device->reset();
  const GemmResult result =
      driver.run(job, JobOperands{packed.weights, operands.a, &packed.parameters});
  failure.mismatches = compare(expected_results(output, operands), result.sums);
  if (failure.mismatches.count == 0) return std::nullopt;
  investigate(
      {job, packed.weights, operands.a, operands.w, &packed.parameters},
      [&](bool traced) { return experiment.device(traced ? trace : ""); }, Timeouts(), failure);
  return failure.finding;
}

// A wrong sum is found where it is wrong; where the sum is right, the rest is to blame.
TEST_F(Failures, Of8BitResultsReportIfSumIsRight) {
  Experiment experiment = three_tiles();
  EXPECT_FALSE(finding_of_8_bits(experiment, trace_.string()));
  const auto places = [&](const std::string& fault, unsigned from, unsigned to) {
    std::set<Finding::Place> found;
    for (unsigned clock = from; clock < to; clock += 3) {
      experiment.faults = {parse_fault(fault + "@" + std::to_string(clock))};
      if (const auto finding = finding_of_8_bits(experiment, trace_.string())) {
        found.insert(finding->place);
      }
    }
    return found;
  };
  using Place = Finding::Place;
  EXPECT_EQ(places("bias:5:30", 60, 66), std::set<Place>{Place::kRequantized});
  EXPECT_EQ(places("scale:5:28", 60, 66), std::set<Place>{Place::kRequantized});
  EXPECT_EQ(places("result:5:6", 60, 66), std::set<Place>{Place::kRequantized});
  EXPECT_EQ(places("partial-sum:1,5:18", 280, 400), std::set<Place>{Place::kPartialSum});
  EXPECT_TRUE(places("accumulator:0,3,5:30", 280, 420).count(Place::kAccumulator) != 0);
}

TEST_F(Failures, ThatDoNotRepeatAreReported) {
  Experiment experiment = three_tiles();
  RunOptions options;
  std::mt19937 random(experiment.seed);
  const Operands operands = random_operands(random, experiment.shape);
  // Only the first run has the fault.
  options.investigate = [&](const JobRun& job, Failure& failure) {
    investigate(
        job, [&](bool traced) { return experiment.device(traced ? trace_.string() : ""); },
        Timeouts(), failure);
  };
  for (unsigned clock = 250; clock < 400; ++clock) {
    Experiment faulty = experiment;
    faulty.faults = {parse_fault("partial-sum:1,5:6@" + std::to_string(clock))};
    const std::unique_ptr<RtlDevice> device = faulty.device();
    Driver driver(*device);
    JobRunner runner(*device, driver, options);
    if (run_job(runner, "product", operands).mismatches.count == 0) continue;
    ASSERT_TRUE(runner.failure());
    EXPECT_EQ(runner.failure()->finding.place, Finding::Place::kNone);
    EXPECT_THAT(describe(*runner.failure()), Says("did not fail again"));
    EXPECT_FALSE(std::filesystem::exists(trace_));
    return;
  }
  FAIL() << "no fault showed";
}

TEST_F(Failures, WithoutAFaultThereIsNone) {
  const Outcome outcome = run(three_tiles());
  EXPECT_FALSE(outcome.failure);
  EXPECT_FALSE(std::filesystem::exists(trace_));
}

TEST_F(Failures, AHangIsFoundWhereItBegan) {
  Experiment experiment = three_tiles();
  experiment.shape = {8, 64, 40};
  experiment.faults = {parse_fault("hang:weights@150")};
  experiment.timeouts.watchdog = 5000;
  const Outcome outcome = run(experiment);
  EXPECT_THAT(outcome.error, Says("WATCHDOG", "weights wait_memory", "compute wait_weights"));
  ASSERT_TRUE(outcome.failure);
  const Finding& finding = outcome.failure->finding;
  EXPECT_EQ(finding.place, Finding::Place::kStandstill);
  // What was asked for before cycle 150 still comes, within the latency and 16 bursts of 64 words.
  EXPECT_GE(finding.clock, 150u);
  EXPECT_LE(finding.clock, 150u + 100 + 16 * 64 + 200);
  EXPECT_EQ(fst_word(trace_, 17) / kCycleTime, outcome.failure->trace_end - 1);
}

/// A single product has the same cycles, stalls included, as the same product after others.
TEST_F(Failures, AProductDependsOnNothingBeforeIt) {
  Experiment experiment = three_tiles();
  experiment.stalls = 0.3;
  std::mt19937 random(5);
  const Operands other = random_operands(random, {20, 30, 10});
  const Operands operands = random_operands(random, experiment.shape);
  RunOptions options;
  const auto cycles_of = [&](bool after_another) {
    const std::unique_ptr<RtlDevice> device = experiment.device();
    Driver driver(*device);
    JobRunner runner(*device, driver, options);
    if (after_another) run_job(runner, "other", other);
    return run_job(runner, "product", operands).counters;
  };
  EXPECT_EQ(cycles_of(false), cycles_of(true));
}

TEST_F(Failures, OneJobCanRunByItself) {
  Experiment experiment = three_tiles();
  std::mt19937 random(6);
  const Operands first = random_operands(random, {20, 30, 10});
  const Operands second = random_operands(random, experiment.shape);
  const std::unique_ptr<RtlDevice> device = experiment.device();
  Driver driver(*device);
  RunOptions options;
  options.only = OneJob{1, 5000, [&](std::uint64_t clock) { device->reset_at(clock); }};
  JobRunner runner(*device, driver, options);
  MatrixI32 sums;
  EXPECT_TRUE(run_job(runner, "first", first, &sums).skipped);
  EXPECT_EQ(sums, reference_gemm(first.a, first.w));
  EXPECT_LT(device->cycles(), 5000u);
  EXPECT_FALSE(run_job(runner, "second", second, &sums).skipped);
  EXPECT_GT(device->cycles(), 5000u);
  EXPECT_EQ(sums, reference_gemm(second.a, second.w));
}

TEST(DebugDevice, TheFastModelCannotBeLookedInto) {
  const std::unique_ptr<RtlDevice> device = make_rtl_device(Rig::options(64));
  Leaves leaves;
  EXPECT_THROW(device->observe(leaves), std::logic_error);
  EXPECT_THROW(device->trace(0, 1), std::logic_error);
  EXPECT_THROW(device->inject(Fault{}), std::logic_error);
  EXPECT_THROW(device->reset_at(0), std::invalid_argument);
}

}  // namespace
}  // namespace gemm64::system_test
