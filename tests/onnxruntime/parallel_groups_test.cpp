// SPDX-License-Identifier: Apache-2.0
// Groups of ONNX Runtime's sessions on several devices: host/ep/session_accelerator.

#include <mutex>

#include "host/ep/network_session.hpp"
#include "host/report/json.hpp"
#include "host/runtime/network_input.hpp"
#include "tests/test.hpp"
#include "tests/unit/device/marked_device.hpp"
#include "tests/unit/report/shown.hpp"
#include "tests/unit/runtime/quantized_graph_text.hpp"

namespace gemm64 {
namespace {

/// Reports without wall times.
std::string timeless(RunReport report) {
  for (LayerReport& layer : report.layers) layer.seconds = 0;
  report.host->seconds = report.host->reference_seconds = 0;
  return to_json(report).dump(1) + (report.error.empty() ? shown(report) : "");
}

/// Ten images in passes of two, or in one pass: two programs each, and a node between them.
class ParallelGroups : public testing::Test {
 protected:
  NetworkRun run(unsigned jobs, std::int64_t images = 10, const RunProgress& progress = nullptr) {
    marks_.ran.clear();
    looks_.clear();
    made_ = 0;
    marks_.slow = jobs > 1;
    MarkedDevice device(marks_);
    SideBySide parallel_for;
    parallel_for.jobs = jobs;
    parallel_for.make = [this] {
      const std::lock_guard<std::mutex> lock(marks_.mutex);
      ++made_;
      return std::make_unique<MarkedDevice>(marks_);
    };
    RunOptions options;
    options.investigate = [this](const JobRun& job, Failure& failure) {
      looks_.push_back(job.job.name + " at " + std::to_string(failure.first_clock));
    };
    RunSettings settings;
    settings.check = check_;
    Session session(device, "tlm", {}, settings, options);
    const OnnxModel model = quantized_branches();
    ep::NetworkSession network(session, parallel_for);
    network.open(model, nullptr);
    const Tensor x = quantized_input({images, 3, 9, 9});
    return network.run(NetworkInputs::in_passes({{"x", InputSource::of(x)}}, images, 2),
                       session.report("test", static_cast<std::uint64_t>(images)), progress);
  }

  void expect_same(const NetworkRun& found, const NetworkRun& one) {
    EXPECT_EQ(timeless(found.report), timeless(one.report));
    if (!one.report.error.empty()) return;
    const Tensor &y = found.outputs.at("y"), &expected = one.outputs.at("y");
    ASSERT_EQ(y.bytes(), expected.bytes());
    EXPECT_EQ(std::memcmp(y.raw(), expected.raw(), y.bytes()), 0);
  }

  /// Damages these programs of a run, counted from 0.
  void damage(Damage damage, const std::vector<std::size_t>& programs) {
    marks_.damage.clear();
    run(1);
    ASSERT_EQ(std::set<std::uint64_t>(marks_.ran.begin(), marks_.ran.end()).size(), 10U);
    const std::vector<std::uint64_t> ran = marks_.ran;
    for (const std::size_t program : programs) marks_.damage[ran[program]] = damage;
  }

  Marks marks_;
  CheckLevel check_ = CheckLevel::kLayers;
  std::vector<std::string> looks_;
  unsigned made_ = 0;
};

TEST_F(ParallelGroups, GiveTheReportOfOneDevice) {
  for (const CheckLevel check : {CheckLevel::kLayers, CheckLevel::kOutputs, CheckLevel::kNone}) {
    check_ = check;
    const NetworkRun one = run(1);
    EXPECT_TRUE(one.report.held());
    EXPECT_EQ(made_, 0U);
    for (const unsigned jobs : {2U, 5U, 64U}) {
      SCOPED_TRACE(jobs);
      const NetworkRun found = run(jobs);
      expect_same(found, one);
      EXPECT_EQ(found.why_one_job, "");
      EXPECT_EQ(marks_.ran.size(), 10U);  // each program once
      EXPECT_GE(made_, 2U);
    }
  }
}

TEST_F(ParallelGroups, PredictResultsWithinAPass) {
  const NetworkRun one = run(1, 2);
  const NetworkRun found = run(2, 2);
  expect_same(found, one);
  EXPECT_EQ(found.why_one_job, "");
  EXPECT_EQ(marks_.ran.size(), 2U);
  EXPECT_EQ(made_, 2U);
  check_ = CheckLevel::kNone;
  EXPECT_THAT(run(2, 2).why_one_job, Says("nothing else is known"));
  EXPECT_EQ(made_, 0U);
}

TEST_F(ParallelGroups, ReportTheFirstFailure) {
  damage(Damage::kFlips, {3, 4, 7});
  const NetworkRun one = run(1);
  const std::vector<std::string> looks = looks_;
  ASSERT_EQ(looks.size(), 1U);
  ASSERT_TRUE(one.report.failure.has_value());
  EXPECT_GT(one.report.failure->first_clock, 0U);
  for (const unsigned jobs : {2U, 5U}) {
    SCOPED_TRACE(jobs);
    expect_same(run(jobs), one);
    EXPECT_EQ(looks_, looks);
  }
}

TEST_F(ParallelGroups, ReportTheFirstError) {
  damage(Damage::kFails, {4, 5, 6});
  const NetworkRun one = run(1);
  EXPECT_THAT(one.report.error, Says("burnt down"));
  for (const unsigned jobs : {2U, 5U}) {
    SCOPED_TRACE(jobs);
    expect_same(run(jobs), one);
  }
}

TEST_F(ParallelGroups, ReportProgress) {
  std::vector<double> shares;
  run(3, 10, [&](const std::string&, double done) { shares.push_back(done); });
  EXPECT_NEAR(shares.front(), 0, 0.2);
  EXPECT_NEAR(shares.back(), 1, 1e-9);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
}

}  // namespace
}  // namespace gemm64
