// SPDX-License-Identifier: Apache-2.0
// float32 products in both precisions: quantized_gemm, sliced_gemm, and the choice between them.
#include "host/runtime/float_gemm.hpp"

#include "tests/test.hpp"
#include "tests/unit/runtime/small_device.hpp"

namespace gemm64 {
namespace {

class FloatGemm : public testing::Test {
 protected:
  FloatGemm() : driver_(device_) {
    std::srand(1);  // Eigen's random matrices
    a_ = MatrixF::Random(6, 20);
    w_ = MatrixF::Random(11, 20);
    w_.row(3) *= 1000;  // a scale of its own
  }

  JobRunner runner(Precision precision, JobObserver* observer = nullptr) {
    RunOptions options;
    options.precision = precision;
    if (observer != nullptr) options.observers = {observer};
    return JobRunner(device_, driver_, options);
  }
  LayerReport run(Precision precision, const ProgressShare& progress = ProgressShare()) {
    JobRunner one = runner(precision);
    return run_float(one, precision, "fc", a_, w_, result_, progress);
  }
  MatrixF exact() const {
    return (a_.cast<double>() * w_.cast<double>().transpose()).cast<float>();
  }

  DamagedDevice device_;
  Driver driver_;
  MatrixF a_, w_, result_;
};

TEST_F(FloatGemm, QuantizesWithAScaleForEachOutput) {
  const LayerReport layer = run(Precision::kInt8);
  EXPECT_EQ(layer.name, "fc");
  EXPECT_EQ(layer.arithmetic, Arithmetic::kQuantizedOnTheWay);
  EXPECT_EQ(layer.mismatches.count, 0U);
  ASSERT_EQ(result_.rows(), 6);
  ASSERT_EQ(result_.cols(), 11);
  // Each product's two factors are off by half a step of at most 1/127 of their largest value.
  const MatrixF error = (result_ - exact()).cwiseAbs();
  for (Eigen::Index column = 0; column < 11; ++column) {
    const float largest = w_.row(column).cwiseAbs().maxCoeff();
    EXPECT_LT(error.col(column).maxCoeff(), 20 * largest / 127) << column;
  }
  EXPECT_GT(error.maxCoeff(), 0);
}

TEST_F(FloatGemm, SlicesAreNearlyExactAndSayHowNear) {
  const LayerReport layer = run(Precision::kFloat32);
  EXPECT_EQ(layer.name, "fc");
  EXPECT_EQ(layer.arithmetic, Arithmetic::kSlices);
  EXPECT_EQ(layer.shape.k, 20U);
  EXPECT_EQ(layer.tiles, (3U + 5 + 8 + 10) * 2);  // of K, 2K, 3K and 4K
  EXPECT_LT((result_ - exact()).cwiseAbs().maxCoeff(), 1e-2);
  EXPECT_LT((result_ - exact()).leftCols(3).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_GT(layer.max_abs_error, 0);
  EXPECT_LE(layer.max_abs_error, layer.error_bound);
  EXPECT_LT(layer.error_bound, 0.1);
}

TEST_F(FloatGemm, JobsAreThoseThatRun) {
  for (const Precision precision : {Precision::kInt8, Precision::kFloat32}) {
    JobNotes notes;
    JobRunner one = runner(precision, &notes);
    const std::vector<Job> jobs = float_jobs(one, precision, "fc", {6, 20, 11});
    std::vector<std::string> expected;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      EXPECT_EQ(jobs[i].plan.shape.k, 20 * (i + 1));
      expected.push_back("begin " + jobs[i].name);
      expected.emplace_back("end");
    }
    EXPECT_EQ(jobs.size(), precision == Precision::kInt8 ? 1U : 4U);
    run_float(one, precision, "fc", a_, w_, result_, ProgressShare());
    EXPECT_EQ(notes.notes, expected);
  }
}

TEST_F(FloatGemm, ReportsProgressByDepth) {
  std::vector<std::pair<std::string, double>> reported;
  ProgressShare half([&](const std::string& name, double done) {
    // Of each job the first and the last report.
    if (reported.size() > 1 && reported.back().first == name &&
        reported[reported.size() - 2].first == name) {
      reported.pop_back();
    }
    reported.emplace_back(name, done);
  });
  half.next(0.5);
  half.next(0.5);  // the first half is done
  run(Precision::kFloat32, half);
  ASSERT_EQ(reported.size(), 8U);
  const double done[] = {0, 0.1, 0.3, 0.6, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(reported[2 * i].first, "fc/" + std::to_string(i));
    EXPECT_DOUBLE_EQ(reported[2 * i].second, 0.5 + done[i] / 2);
    EXPECT_DOUBLE_EQ(reported[2 * i + 1].second, 0.5 + done[i + 1] / 2);
  }
}

TEST_F(FloatGemm, NoticesAFlippedBitInBothPrecisions) {
  device_.damage = true;
  EXPECT_EQ(run(Precision::kInt8).mismatches.count, 1U);
  EXPECT_EQ(run(Precision::kFloat32).mismatches.count, 4U);  // one in each job
}

TEST_F(FloatGemm, RefusesWhatCannotBeExact) {
  const JobRunner one = runner(Precision::kFloat32);
  EXPECT_THROW(float_jobs(one, Precision::kFloat32, "deep", {1, 1U << 20, 1}), UsageError);
  a_(2, 3) = INFINITY;
  EXPECT_THROW(run(Precision::kInt8), UsageError);
  EXPECT_THROW(run(Precision::kFloat32), UsageError);
}

}  // namespace
}  // namespace gemm64
