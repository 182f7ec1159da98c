// SPDX-License-Identifier: Apache-2.0
#include "host/execute/calibration.hpp"

#include <gtest/gtest.h>

#include "tests/host/execute/run_node.hpp"
#include "tests/host/onnx_text.hpp"

namespace gemm64 {
namespace {

TEST(Calibration, WidensEachRangeBothWaysOverAllPasses) {
  const OnnxModel model = load_text("(float[1,2] x) => (float[1,2] y) {y = Neg(x)}");
  const Tensor images = floats({3, 2}, {1, 2, -3, 0, -1, 4});
  const NetworkInputs inputs = NetworkInputs::in_passes({{"x", InputSource::of(images)}}, 3, 1);
  ASSERT_EQ(inputs.passes(), 3);
  EXPECT_EQ(calibrate(Executor(model), inputs), (Ranges{{"x", {-3, 4}}, {"y", {-4, 3}}}));
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
