// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/calibration.hpp"

#include "host/runtime/narrowed_ranges.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"
#include "tests/unit/runtime/tensors.hpp"

namespace gemm64 {
namespace {

TEST(Calibration, WidensRangesOverAllPasses) {
  const OnnxModel model = load_text("(float[1,2] x) => (float[1,2] y) {y = Neg(x)}");
  const Tensor images = floats({3, 2}, {1, 2, -3, 0, -1, 4});
  const NetworkInputs inputs = NetworkInputs::in_passes({{"x", InputSource::of(images)}}, 3, 1);
  ASSERT_EQ(inputs.passes(), 3);
  EXPECT_EQ(calibrate(model, inputs), (Ranges{{"x", {-3, 4}}, {"y", {-4, 3}}}));
}

/// Narrowed ranges of x, of three images of two numbers in passes of two, the last of which is
/// filled up.
std::pair<float, float> narrowed(const RangeOptions& options) {
  const OnnxModel model = load_text("(float[2,2] x) => (float[2,2] y) {y = Neg(x)}");
  const ObservedNetwork network(model);
  const Tensor images = floats({3, 2}, {-1, 2, 3, -4, 5, 40});
  const NetworkInputs inputs = NetworkInputs::in_passes({{"x", InputSource::of(images)}}, 3, 2);
  return narrowed_ranges(network, inputs, calibrate(network, inputs), options).at("x");
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

TEST(Calibration, KeepsBothEndsWithoutRange) {
  RangeOptions options;
  options.method = RangeMethod::kEntropy;  // of as many bins as steps
  EXPECT_EQ(narrowed(options), (std::pair<float, float>{-4, 40}));
}

TEST(Calibration, CountsImagesOfAPassOnce) {
  const OnnxModel model = load_text("(float[3,2] x) => (float[3,2] y) {y = Neg(x)}");
  const Tensor images = floats({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  std::vector<std::int64_t> counts;
  ObservedNetwork(model).observe(
      NetworkInputs::in_passes({{"x", InputSource::of(images)}}, 5, 3),
      [&](const std::string&, const float*, std::int64_t count) { counts.push_back(count); });
  EXPECT_EQ(counts, (std::vector<std::int64_t>{6, 6, 4, 4})) << "x and y of each pass";
}

TEST(Calibration, ShowsTheSameInSeveralRuns) {
  const OnnxModel model = load_text(
      "(float[1,4] x) => (float[1,4] y) {a = Neg(x) b = Exp(a) c = Cast<to = 7>(b) "
      "d = Cast<to = 1>(c) y = Add(d, b)}");
  const NetworkInputs inputs = NetworkInputs::of({{"x", floats({1, 4}, {1, -2, 3, -4})}});
  const Ranges at_once = calibrate(model, inputs);
  EXPECT_EQ(at_once.size(), 5U);
  EXPECT_EQ(at_once.count("c"), 0U);
  for (const std::uint64_t bytes : {1, 16, 32}) {
    EXPECT_EQ(calibrate(ObservedNetwork(model, bytes), inputs), at_once) << bytes;
  }
}

TEST(Calibration, NamesTheNodeThatFails) {
  const OnnxModel model =
      load_text("(float[1,4] x, int64[1] i) => (float[1,1] y) {y = Gather<axis = 1>(x, i)}");
  Tensor index(onnx::TensorProto::INT64, {1});
  index.mutable_values<std::int64_t>()[0] = 9;
  const NetworkInputs inputs =
      NetworkInputs::of({{"x", floats({1, 4}, {1, 2, 3, 4})}, {"i", index}});
  EXPECT_THAT(message_of([&] { calibrate(model, inputs); }),
              Says("Gather number 0 (Gather) failed", "9"));
}

TEST(Calibration, MeasuresConstants) {
  const OnnxModel model =
      load_text("(float[1,2] x, float[2] w) => (float[1,2] y) {y = Add(x, w)}", {"w"});
  const Ranges ranges = calibrate(model, NetworkInputs::of({{"x", floats({1, 2}, {1, 2})}}));
  EXPECT_EQ(ranges.at("w"), (std::pair<float, float>{0, 1.0F / 64}));
}

}  // namespace
}  // namespace gemm64
