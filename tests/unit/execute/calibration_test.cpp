// SPDX-License-Identifier: Apache-2.0
#include "host/execute/calibration.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "host/execute/narrowed_ranges.hpp"
#include "tests/unit/execute/run_node.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

TEST(Calibration, WidensEachRangeBothWaysOverAllPasses) {
  const OnnxModel model = load_text("(float[1,2] x) => (float[1,2] y) {y = Neg(x)}");
  const Tensor images = floats({3, 2}, {1, 2, -3, 0, -1, 4});
  const NetworkInputs inputs = NetworkInputs::in_passes({{"x", InputSource::of(images)}}, 3, 1);
  ASSERT_EQ(inputs.passes(), 3);
  EXPECT_EQ(calibrate(Executor(model), inputs), (Ranges{{"x", {-3, 4}}, {"y", {-4, 3}}}));
}

/// Narrowed ranges of x, of three images of two numbers in passes of two, the last of which is
/// filled up.
std::pair<float, float> narrowed(const RangeOptions& options) {
  const OnnxModel model = load_text("(float[2,2] x) => (float[2,2] y) {y = Neg(x)}");
  const Executor executor(model);
  const Tensor images = floats({3, 2}, {-1, 2, 3, -4, 5, 40});
  const NetworkInputs inputs = NetworkInputs::in_passes({{"x", InputSource::of(images)}}, 3, 2);
  return narrowed_ranges(executor, inputs, calibrate(executor, inputs), options).at("x");
}

TEST(Calibration, LeavesRareNumbersOutByPercentiles) {
  RangeOptions options;
  EXPECT_EQ(narrowed(options), (std::pair<float, float>{-4, 40}));
  options.method = RangeMethod::kPercentile;
  options.bins = 39;
  // Magnitudes from 1 to 40 in bins of one: a sixth of the numbers below each of 2, 3, 4, 5 and 6.
  options.percentile = 83;
  EXPECT_EQ(narrowed(options), (std::pair<float, float>{-4, 5}));
  options.percentile = 34;
  EXPECT_EQ(narrowed(options), (std::pair<float, float>{-3, 3}));
}

TEST(Calibration, KeepsBothEndsWhereEntropyHasNoRangeToChoose) {
  RangeOptions options;
  options.method = RangeMethod::kEntropy;  // of as many bins as steps
  EXPECT_EQ(narrowed(options), (std::pair<float, float>{-4, 40}));
}

TEST(Calibration, CountsTheImagesOfAPassThatAreOnesAlone) {
  const OnnxModel model = load_text("(float[3,2] x) => (float[3,2] y) {y = Neg(x)}");
  const Executor executor(model);
  const Tensor images = floats({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  std::vector<std::int64_t> counts;
  observe_values(
      executor, NetworkInputs::in_passes({{"x", InputSource::of(images)}}, 5, 3),
      [&](const std::string&, const float*, std::int64_t count) { counts.push_back(count); });
  EXPECT_EQ(counts, (std::vector<std::int64_t>{6, 6, 4, 4})) << "x and y of each pass";
}

TEST(Calibration, MeasuresConstants) {
  const OnnxModel model =
      load_text("(float[1,2] x, float[2] w) => (float[1,2] y) {y = Add(x, w)}", {"w"});
  const Ranges ranges =
      calibrate(Executor(model), NetworkInputs::of({{"x", floats({1, 2}, {1, 2})}}));
  EXPECT_EQ(ranges.at("w"), (std::pair<float, float>{0, 1.0F / 64}));
}

}  // namespace
}  // namespace gemm64
