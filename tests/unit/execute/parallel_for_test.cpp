// SPDX-License-Identifier: Apache-2.0
// Programs on several devices give what one device gives: host/run/program_pool; and so do passes,
// each by itself: host/session/network_parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

#include "host/execute/network_input.hpp"
#include "host/report/json.hpp"
#include "host/session/network_parts.hpp"
#include "host/session/network_run.hpp"
#include "tests/says.hpp"
#include "tests/unit/device/marked_device.hpp"
#include "tests/unit/execute/quantized_graph_text.hpp"
#include "tests/unit/report/shown.hpp"

namespace gemm64 {
namespace {

/// Reports without wall times.
std::string timeless(RunReport report) {
  for (LayerReport& layer : report.layers) layer.seconds = 0;
  report.host->seconds = report.host->reference_seconds = 0;
  return to_json(report).dump(1) + (report.error.empty() ? shown(report) : "");
}

/// Ten images in passes of two: five passes of two programs each.
class SideBySideTest : public testing::Test {
 protected:
  NetworkRun run(unsigned jobs, const OnnxModel& model = quantized_branches(),
                 const RunProgress& progress = nullptr) {
    marks_.ran.clear();
    looks_.clear();
    marks_.slow = jobs > 1;
    MarkedDevice device(marks_);
    Driver driver(device);
    RunOptions options = options_;
    options.parallel_for.jobs = jobs;
    options.parallel_for.make = [this] {
      const std::lock_guard<std::mutex> lock(marks_.mutex);
      ++made_;
      return std::make_unique<MarkedDevice>(marks_);
    };
    options.investigate = [this](const JobRun& job, Failure& failure) {
      looks_.push_back(job.job.name + " at " + std::to_string(failure.first_clock));
    };
    JobRunner runner(device, driver, options);
    const Tensor images = quantized_input({10, 3, 9, 9});
    NetworkRun found = run_network(
        Executor(model), NetworkInputs::in_passes({{"x", InputSource::of(images)}}, 10, 2), runner,
        runner.report("test", 10), nullptr, progress);
    found.report.failure = runner.failure();
    return found;
  }

  /// Damages these programs of a run, counted from 0.
  void damage(Damage damage, const std::vector<std::size_t>& programs) {
    marks_.damage.clear();
    run(1);
    ASSERT_EQ(marks_.ran.size(), 10U);
    ASSERT_EQ(std::set<std::uint64_t>(marks_.ran.begin(), marks_.ran.end()).size(), 10U);
    for (const std::size_t program : programs) marks_.damage[marks_.ran[program]] = damage;
  }

  Marks marks_;
  RunOptions options_;
  std::vector<std::string> looks_;
  unsigned made_ = 0;
};

TEST_F(SideBySideTest, GivesTheReportOfOneDevice) {
  const NetworkRun one = run(1);
  EXPECT_TRUE(one.report.verified());
  EXPECT_EQ(made_, 0U);
  for (const unsigned jobs : {2U, 5U, 64U}) {
    SCOPED_TRACE(jobs);
    const NetworkRun found = run(jobs);
    EXPECT_EQ(timeless(found.report), timeless(one.report));
    const Tensor &y = found.outputs.at("y"), &expected = one.outputs.at("y");
    ASSERT_EQ(y.bytes(), expected.bytes());
    EXPECT_EQ(std::memcmp(y.raw(), expected.raw(), y.bytes()), 0);
    EXPECT_EQ(found.why_one_job, "");
    EXPECT_EQ(marks_.ran.size(), 10U);
  }
  EXPECT_GE(made_, 1U);
  EXPECT_LE(made_, 1U + 4U + 9U);
}

TEST_F(SideBySideTest, LooksAgainAtTheFirstFailureWithTheClockOfOneDevice) {
  damage(Damage::kFlips, {3, 4, 7});
  const NetworkRun one = run(1);
  const std::vector<std::string> looks = looks_;
  ASSERT_EQ(looks.size(), 1U);
  ASSERT_TRUE(one.report.failure.has_value());
  EXPECT_GT(one.report.failure->first_clock, 0U);
  EXPECT_EQ(one.report.failure->index, 14U);  // 9 layers in two programs: 5 and 4
  for (const unsigned jobs : {2U, 5U}) {
    SCOPED_TRACE(jobs);
    EXPECT_EQ(timeless(run(jobs).report), timeless(one.report));
    EXPECT_EQ(looks_, looks);
  }
}

TEST_F(SideBySideTest, ReportsTheFirstErrorAndStopsTheRest) {
  damage(Damage::kFails, {4, 5, 6});
  const NetworkRun one = run(1);
  EXPECT_THAT(one.report.error, Says("burnt down"));
  for (const unsigned jobs : {2U, 5U}) {
    SCOPED_TRACE(jobs);
    EXPECT_EQ(timeless(run(jobs).report), timeless(one.report));
  }
  damage(Damage::kFails, {0});
  run(2);
  // It, what ran or waited beside it, and what a busy machine began before it heard of the error.
  EXPECT_LT(marks_.ran.size(), 10U);
}

TEST_F(SideBySideTest, RunsInOrderWhereTheHostGoesOnWithTheDevicesResults) {
  options_.results = ResultCode::kInt32;
  const NetworkRun one = run(1);
  EXPECT_EQ(one.why_one_job, "");  // nobody asked for more
  const NetworkRun found = run(5);
  EXPECT_THAT(found.why_one_job, Says("goes on with the device's results"));
  EXPECT_EQ(timeless(found.report), timeless(one.report));
  EXPECT_EQ(made_, 0U);
}

TEST_F(SideBySideTest, RunsBesideAProductOfTheHost) {
  QuantizedText text("2,3,9,9");
  text.conv("x", "a", 3, 8, 1)
      .node("d", "DequantizeLinear (a, s, z)")
      .node("v", "Constant <value_floats = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]> ()")
      .node("p", "MatMul (d, v)")  // of a vector, which is no Linear layer
      .node("y", "QuantizeLinear (p, s, z)");
  EXPECT_EQ(run(2, text.model()).why_one_job, "");
}

TEST_F(SideBySideTest, TellsProgressFromNothingToAll) {
  std::vector<double> told;
  run(3, quantized_branches(), [&](const std::string&, double done) { told.push_back(done); });
  EXPECT_NEAR(told.front(), 0, 1e-9);
  EXPECT_NEAR(told.back(), 1, 1e-9);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
}

/// Ten images in four passes of three, the last one filled up, each pass on a device of its own.
class NetworkPartsTest : public SideBySideTest {
 protected:
  NetworkRun whole() {
    marks_.ran.clear();
    return run_on_own_device(inputs_);
  }

  NetworkRun joined() {
    MarkedDevice device(marks_);
    Driver driver(device);
    PartJoin join(executor_, inputs_, JobRunner(device, driver, options_).report("test", 10));
    for (std::int64_t i = 0; i < inputs_.passes(); ++i) {
      const NetworkInputs pass = inputs_.pass(i);
      const Json sent = to_binary_json(pass.take(0, pass.images));
      join.add(unpack_part(pack_part(run_on_own_device(NetworkInputs::of(tensors_from(sent))))));
    }
    return join.finish();
  }

 private:
  using Json = nlohmann::json;

  NetworkRun run_on_own_device(const NetworkInputs& inputs) {
    MarkedDevice device(marks_);
    Driver driver(device);
    JobRunner runner(device, driver, options_);
    return run_network(executor_, inputs, runner, runner.report("test", 10), nullptr, nullptr);
  }

  const OnnxModel model_ = quantized_branches(3);
  const Executor executor_{model_};
  const NetworkInputs inputs_ = NetworkInputs::in_passes(
      {{"x", InputSource::of(quantized_input({10, 3, 9, 9}))}}, 10, 3, "for a test");
};

TEST_F(NetworkPartsTest, GiveTheReportAndTheOutputsOfOneRun) {
  for (const ResultCode results : {ResultCode::kInt8, ResultCode::kInt32}) {
    options_.results = results;
    const NetworkRun one = whole(), found = joined();
    EXPECT_TRUE(one.report.verified());
    EXPECT_EQ(timeless(found.report), timeless(one.report));
    const Tensor &y = found.outputs.at("y"), &expected = one.outputs.at("y");
    EXPECT_EQ(y.dims(), expected.dims());
    ASSERT_EQ(y.bytes(), expected.bytes());
    EXPECT_EQ(std::memcmp(y.raw(), expected.raw(), y.bytes()), 0);
    EXPECT_EQ(found.first.raw(), y.raw());
  }
}

TEST_F(NetworkPartsTest, GiveTheMismatchesOfOneRun) {
  whole();
  ASSERT_EQ(marks_.ran.size(), 8U);
  marks_.damage = {{marks_.ran[3], Damage::kFlips}, {marks_.ran[5], Damage::kFlips}};
  const NetworkRun one = whole(), found = joined();
  EXPECT_FALSE(found.report.verified());
  EXPECT_GT(found.report.total().mismatches.count, 1U);
  EXPECT_EQ(timeless(found.report), timeless(one.report));
}

TEST_F(NetworkPartsTest, EndWithTheFirstErrorAsOneRunDoes) {
  whole();
  ASSERT_EQ(marks_.ran.size(), 8U);
  marks_.damage = {{marks_.ran[3], Damage::kFails}, {marks_.ran[5], Damage::kFails}};
  const NetworkRun one = whole(), found = joined();
  EXPECT_THAT(found.report.error, Says("burnt down"));
  EXPECT_EQ(timeless(found.report), timeless(one.report));
  EXPECT_EQ(found.report.layers.size(), one.report.layers.size());
}

TEST(NetworkParts, RefuseWhatIsNoPart) {
  EXPECT_THROW(unpack_part("nothing of the kind"), UsageError);
  EXPECT_THROW(unpack_part(""), UsageError);
  NetworkRun part;
  const std::string whole = pack_part(part);
  EXPECT_THROW(unpack_part(whole.substr(0, whole.size() - 1)), UsageError);
}

}  // namespace
}  // namespace gemm64
