// SPDX-License-Identifier: Apache-2.0
// Faults put inside the depthwise lanes: they show in their lane only, and the diagnosis names the
// clock in which the first wrong result leaves the chip.

#include "host/check/failure.hpp"
#include "host/check/investigation.hpp"
#include "host/faults/campaign.hpp"
#include "tests/system/convolution_programs.hpp"

namespace gemm64::system_test {
namespace {

constexpr int kN = 4;

/// Cycles of the beats that leave over the results port.
class Beats : public Observer {
 public:
  void clock(std::uint64_t clock, const Probe& probe) override {
    if (probe.counts(counter::kResultsTransfer)) cycles.push_back(clock);
  }
  std::vector<std::uint64_t> cycles;
};

/// A depthwise 3x3 convolution of six channels, in two planes, with results of 8 bits.
class LanesDebug : public InFolder {
 protected:
  static Convolution convolution() {
    Convolution c;
    c.channels = c.out_channels = c.groups = 6;
    c.height = c.out_height = 5;
    c.width = c.out_width = 7;
    c.kernel_height = c.kernel_width = 3;
    c.pad_top = c.pad_left = 1;
    return c;
  }

  std::unique_ptr<RtlDevice> device(const std::string& fault, bool traced = false) const {
    RtlOptions options = Rig::options(kN);
    options.debug = true;
    if (traced) options.trace_file = trace_.string();
    options.trace_begin = std::numeric_limits<std::uint64_t>::max() - 1;
    std::unique_ptr<RtlDevice> device = make_rtl_device(options);
    if (!fault.empty()) device->inject(parse_fault(fault));
    return device;
  }

  /// Runs it with a fault, and looks at it again where a result is wrong.
  std::optional<Failure> run(const std::string& fault, std::set<Eigen::Index>* columns = nullptr,
                             Beats* beats = nullptr) const {
    const std::unique_ptr<RtlDevice> device = this->device(fault);
    Driver driver(*device);
    std::mt19937 random(5);
    const Operands operands = random_operands(random, convolution());
    const Output output{ResultFormat(ResultCode::kInt8), 3, -128, 127};
    const Job job = make_lanes_job("depthwise", convolution(), driver.geometry(), output).value();
    const Packed packed(job, operands);
    Failure failure;
    failure.first_clock = device->cycles();
    device->reset();
    if (beats != nullptr) device->observe(*beats);
    const MatrixI32 found =
        driver.run(job, JobOperands{packed.weights, operands.a, &packed.parameters}).sums;
    const MatrixI32 expected = expected_convolution(convolution(), output, operands);
    for (Eigen::Index i = 0; columns != nullptr && i < found.size(); ++i) {
      if (found.data()[i] != expected.data()[i]) columns->insert(i % found.cols() % kN);
    }
    failure.mismatches = compare(expected, found);
    if (failure.mismatches.count == 0) return std::nullopt;
    investigate(
        {job, packed.weights, operands.a, operands.w, &packed.parameters},
        [&](bool traced) { return this->device(fault, traced); }, Timeouts(), failure);
    return failure;
  }

  const std::filesystem::path trace_ = folder_ / "t.fst";
};

TEST_F(LanesDebug, WithoutAFaultAllIsRight) { EXPECT_FALSE(run("")); }

TEST_F(LanesDebug, FaultsShowInTheirLane) {
  Beats beats;
  run("", nullptr, &beats);
  ASSERT_EQ(beats.cycles.size(), 2U * 35);
  using Place = Finding::Place;
  for (const auto& [place, expected] : {std::pair{"lane-weight:0,4,3:6", Place::kLanes},
                                        {"lane-weight:1,0,1:6", Place::kLanes},
                                        {"lane-value:1,1,3:6", Place::kLaneValue},
                                        {"lane-line:1,3,2:6", Place::kLaneLine},
                                        {"lane-line:1,6,1:7", Place::kLaneLine},
                                        {"lane-sum:3:14", Place::kLanes}}) {
    SCOPED_TRACE(place);
    std::set<Eigen::Index> columns;
    std::optional<Failure> failure;
    Fault fault = parse_fault(std::string(place) + "@0");
    for (fault.clock = beats.cycles[0] - 40; fault.clock < beats.cycles.back(); ++fault.clock) {
      failure = run(to_string(fault), &columns);
      if (failure) break;
    }
    ASSERT_TRUE(failure);
    SCOPED_TRACE(describe(*failure));
    const std::uint64_t lane = fault.kind == Fault::Kind::kLaneSum ? fault.place : fault.column;
    EXPECT_EQ(columns, std::set<Eigen::Index>{static_cast<Eigen::Index>(lane)});
    const Finding& finding = failure->finding;
    EXPECT_EQ(finding.place, expected);
    EXPECT_EQ(finding.column, lane);
    const auto plane = static_cast<std::size_t>(failure->mismatches.first_column / kN);
    const auto row = static_cast<std::size_t>(failure->mismatches.first_row);
    EXPECT_EQ(finding.clock, beats.cycles.at(plane * 35 + row));
    EXPECT_GT(failure->trace_end, finding.clock);
    EXPECT_TRUE(std::filesystem::exists(trace_));
    EXPECT_THAT(describe(*failure), Says("left chip"));
    EXPECT_THAT(describe(*failure), Lacks("did not fail again"));
    if (expected == Place::kLanes) continue;
    EXPECT_EQ(finding.wrong_clock, fault.clock);
    EXPECT_EQ(finding.bank, fault.bank);
    EXPECT_EQ(finding.row, fault.row);
    EXPECT_EQ((finding.expected ^ finding.found) & 0xff, 1 << fault.bit);
  }
}

/// Every value that the lanes keep of a lane, at cycles of its whole run.
TEST_F(LanesDebug, FlippedValueIsFound) {
  Beats beats;
  run("", nullptr, &beats);
  std::mt19937 random(8);
  const Plan plan = make_lanes_plan(convolution(), Rig(Rig::options(kN)).driver.geometry()).value();
  unsigned found = 0, exact = 0;
  for (unsigned tries = 0; found < 40; ++tries) {
    ASSERT_LT(tries, 1000U);
    const auto at = [&random](unsigned below) { return static_cast<unsigned>(random() % below); };
    Fault fault;
    fault.kind = at(2) == 0 ? Fault::Kind::kLaneValue : Fault::Kind::kLaneLine;
    const bool line = fault.kind == Fault::Kind::kLaneLine;
    fault.bank = at(line ? 2 : 3);
    fault.row = at(line ? 7 : 3);
    fault.column = at(kN);
    fault.bit = 6;
    fault.clock = beats.cycles[0] - 40 + at(160);
    SCOPED_TRACE(to_string(fault));
    const std::optional<Failure> failure = run(to_string(fault));
    if (!failure) continue;
    SCOPED_TRACE(describe(*failure));
    ++found;
    // One that comes in wrong is reported only for the lane.
    EXPECT_TRUE(is_place_of(fault, failure->finding, plan));
    if (failure->finding.place != Finding::Place::kLanes) ++exact;
  }
  EXPECT_GT(exact, 30U);
}

/// Two layers on the lanes, and one on the array whose columns begin inside a tile.
class LanesInAProgram : public testing::Test {
 protected:
  struct Found {
    std::optional<Failure> failure;
    std::uint64_t stored = 0;  // clock that brought the wrong value to memory; 0: it was there
    std::uint64_t end = 0;
  };

  /// Looks at a byte of memory in every cycle.
  class Byte : public Observer {
   public:
    Byte(RtlDevice& device, std::uint64_t address) : device_(device), address_(address) {}
    void clock(std::uint64_t clock, const Probe&) override {
      std::uint8_t now = 0;
      device_.read_memory(address_, &now, 1);
      values.push_back({clock, now});
    }
    std::vector<std::pair<std::uint64_t, std::uint8_t>> values;

   private:
    RtlDevice& device_;
    const std::uint64_t address_;
  };

  static Convolution map(std::uint32_t kernel, std::uint32_t out_channels,
                         std::uint32_t dilation = 1) {
    Convolution c;
    c.channels = 12;
    c.out_channels = out_channels;
    c.groups = kernel == 1 ? 1 : 12;
    c.height = c.out_height = 7;
    c.width = c.out_width = 6;
    c.kernel_height = c.kernel_width = kernel;
    c.dilation_height = c.dilation_width = dilation;
    c.pad_top = c.pad_left = kernel / 2 * dilation;
    c.zero = 3;
    return c;
  }

  LanesInAProgram() {
    std::mt19937 random(11);
    ProgramParts made(random, Rig(Rig::options(kN)).driver.geometry());
    Output output{ResultFormat(ResultCode::kInt8), 3, -128, 127};
    made.add(map(3, 12), output, {}, true);
    made.add(map(3, 12, 2), output, 0, true);
    output.part = ResultPart{2, 9};
    output.vector = StoreCommand{};
    made.add(map(1, 7), output, 1);
    parts_ = std::move(made.parts);
    std::vector<Job> jobs;
    for (const ProgramPart& part : parts_) jobs.push_back(part.job);
    jobs[2].map = 1;
    list_ = make_job_program(jobs, Rig(Rig::options(kN)).driver.geometry());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      packed_.emplace_back(list_.jobs[i], parts_[i].operands);
    }
  }

  std::unique_ptr<RtlDevice> device(const std::string& fault) const {
    RtlOptions options = Rig::options(kN);
    options.debug = true;
    std::unique_ptr<RtlDevice> device = make_rtl_device(options);
    if (!fault.empty()) device->inject(parse_fault(fault));
    return device;
  }

  std::vector<GemmResult> run(RtlDevice& device, const std::vector<JobOperands>& operands) const {
    Driver driver(device);
    device.reset_at(kBegin);
    return driver.run(list_, operands);
  }

  /// Runs the program with a fault and diagnoses the first job that is wrong.
  Found run(const std::string& fault) const {
    const MatrixI8 none;
    std::vector<JobOperands> operands;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      operands.push_back(
          {packed_[i].weights, i == 0 ? parts_[i].operands.a : none, &packed_[i].parameters});
    }
    const std::unique_ptr<RtlDevice> device = this->device(fault);
    const std::vector<GemmResult> results = run(*device, operands);
    Found found;
    found.end = device->cycles();
    for (std::size_t i = 0; i < parts_.size() && !found.failure; ++i) {
      Failure failure;
      failure.mismatches = compare(parts_[i].expected, results[i].sums);
      if (failure.mismatches.count == 0) continue;
      failure.index = i;
      failure.first_clock = kBegin;
      investigate(
          {list_.jobs[i], packed_[i].weights, parts_[i].operands.a, parts_[i].operands.w,
           &packed_[i].parameters, &list_, &operands, i},
          [&](bool) { return this->device(fault); }, Timeouts(), failure);
      found.failure = failure;
      if (i == 2) break;
      const auto row = static_cast<std::uint64_t>(failure.mismatches.first_row);
      const auto column = static_cast<std::uint64_t>(failure.mismatches.first_column);
      const std::uint64_t word = column / kN * list_.jobs[i].plan.shape.m + row;
      const std::unique_ptr<RtlDevice> again = this->device(fault);
      Byte byte(*again, list_.jobs[i].layout.results + word * kN + column % kN);
      again->observe(byte);
      run(*again, operands);
      const std::uint8_t last = byte.values.back().second;
      for (std::size_t at = byte.values.size() - 1; at > 0 && found.stored == 0; --at) {
        if (byte.values[at - 1].second != last) found.stored = byte.values[at].first;
      }
    }
    return found;
  }

  static constexpr std::uint64_t kBegin = 64;
  std::vector<ProgramPart> parts_;
  JobProgram list_;
  std::vector<Packed> packed_;
};

TEST_F(LanesInAProgram, FindWhenTheirResultsLeave) {
  ASSERT_FALSE(run("").failure);
  std::set<std::size_t> jobs;
  std::set<std::uint64_t> ways;  // cycles from the port to memory
  const std::uint64_t end = run("").end;
  for (std::uint64_t clock = kBegin; clock < end; clock += 7) {
    SCOPED_TRACE(clock);
    const Found found = run("lane-sum:2:13@" + std::to_string(clock));
    if (!found.failure || found.failure->index == 2 || found.stored == 0) continue;
    jobs.insert(found.failure->index);
    EXPECT_EQ(found.failure->finding.place, Finding::Place::kLanes);
    ways.insert(found.stored - found.failure->finding.clock);
  }
  EXPECT_EQ(jobs, (std::set<std::size_t>{0, 1}));
  EXPECT_EQ(ways.size(), 1U) << testing::PrintToString(ways);
}

TEST_F(LanesInAProgram, KeepDiagnosisOfArray) {
  unsigned hits = 0;
  const std::uint64_t end = run("").end;
  for (std::uint64_t clock = kBegin; clock < end; clock += 3) {
    const std::string fault = "accumulator:" + std::to_string(clock % 2) + ",3,3:14@";
    const Found found = run(fault + std::to_string(clock));
    if (!found.failure || found.failure->index != 2) continue;
    SCOPED_TRACE(fault + std::to_string(clock));
    SCOPED_TRACE(describe(*found.failure));
    ++hits;
    EXPECT_EQ(found.failure->finding.place, Finding::Place::kAccumulator);
    EXPECT_EQ(found.failure->finding.bank, clock % 2);
    EXPECT_EQ(found.failure->finding.row, 3U);
    EXPECT_EQ(found.failure->finding.column, 3U);
    EXPECT_EQ(found.failure->finding.wrong_clock, clock);
  }
  EXPECT_GT(hits, 3U);
}

}  // namespace
}  // namespace gemm64::system_test
