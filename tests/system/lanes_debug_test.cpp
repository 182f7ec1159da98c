// SPDX-License-Identifier: Apache-2.0
// Faults put inside the depthwise lanes: they show in their lane alone, and the diagnosis tells the
// clock in which the first wrong result leaves the chip.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "host/debug/failure.hpp"
#include "host/debug/investigation.hpp"
#include "tests/folder.hpp"
#include "tests/says.hpp"
#include "tests/system/convolutions.hpp"

namespace gemm64::system_test {
namespace {

constexpr int kN = 4;

/// Clocks of the beats that leave over the results port.
class Beats : public Observer {
 public:
  void clock(std::uint64_t clock, const Probe& probe) override {
    if (probe.counts(counter::kResultsTransfer)) clocks.push_back(clock);
  }
  std::vector<std::uint64_t> clocks;
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
    failure.first_clock = device->clocks();
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
        [&](bool traced) { return this->device(fault, traced); }, Patience(), failure);
    return failure;
  }

  const std::filesystem::path trace_ = folder_ / "t.fst";
};

TEST_F(LanesDebug, WithoutAFaultAllIsRight) { EXPECT_FALSE(run("")); }

TEST_F(LanesDebug, FaultsShowInTheirLaneAndTellWhenItsResultLeaves) {
  Beats beats;
  run("", nullptr, &beats);
  ASSERT_EQ(beats.clocks.size(), 2U * 35);
  for (const char* const place :
       {"lane-weight:0,4,3:6", "lane-weight:1,0,1:6", "lane-value:1,1,3:6", "lane-sum:3:14"}) {
    SCOPED_TRACE(place);
    std::set<Eigen::Index> columns;
    std::optional<Failure> failure;
    for (std::uint64_t clock = beats.clocks[0] - 40; clock < beats.clocks.back() && !failure;
         ++clock) {
      failure = run(std::string(place) + "@" + std::to_string(clock), &columns);
    }
    ASSERT_TRUE(failure);
    const Fault fault = parse_fault(std::string(place) + "@0");
    const std::uint64_t lane = fault.kind == Fault::Kind::kLaneSum ? fault.place : fault.column;
    EXPECT_EQ(columns, std::set<Eigen::Index>{static_cast<Eigen::Index>(lane)});
    const Finding& finding = failure->finding;
    EXPECT_EQ(finding.place, Finding::Place::kLanes);
    EXPECT_EQ(finding.column, lane);
    const auto plane = static_cast<std::size_t>(failure->mismatches.first_column / kN);
    const auto row = static_cast<std::size_t>(failure->mismatches.first_row);
    EXPECT_EQ(finding.clock, beats.clocks.at(plane * 35 + row));
    EXPECT_GT(failure->trace_end, finding.clock);
    EXPECT_TRUE(std::filesystem::exists(trace_));
    EXPECT_THAT(describe(*failure), Says("left chip"));
    EXPECT_THAT(describe(*failure), Lacks("did not fail again"));
  }
}

}  // namespace
}  // namespace gemm64::system_test
