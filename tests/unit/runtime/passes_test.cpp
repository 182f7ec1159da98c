// SPDX-License-Identifier: Apache-2.0
// The outputs of a network whose images come in several passes.
#include "host/runtime/network_run.hpp"
#include "tests/unit/onnx_text.hpp"
#include "tests/unit/runtime/tensors.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

/// Outputs of three images, two rows each, of which the first value is given.
NamedTensors outputs(float first) {
  std::vector<float> values(12);
  std::iota(values.begin(), values.end(), first);
  return {
      {"y", floats({6, 2}, values)}, {"sum", floats({}, {first})}, {"four", ints({1, 2, 3, 4})}};
}

TEST(Passes, KeepTheFirstImagesOfTheLast) {
  const OnnxModel model = load_text("(float[6,2] x) => (float[6,2] y) {y = Relu(x)}");
  const onnx::GraphProto& graph = model.graph();
  const Tensor exact = outputs(1).at("y");
  Passes passes;
  passes.add(graph, outputs(0), nullptr, 3, 3);
  passes.add(graph, outputs(12), &exact, 1, 3);
  const NamedTensors found = passes.outputs();
  EXPECT_EQ(found.at("y").dims(), (Dims{8, 2}));
  EXPECT_THAT(values_of<float>(found.at("y")),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  EXPECT_THAT(values_of<float>(passes.exact()),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2, 3, 4));
  EXPECT_THAT(values_of<std::int64_t>(found.at("four")), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4))
      << "no rows of images";
  EXPECT_THAT(values_of<float>(found.at("sum")), ElementsAre(0, 12));
  ASSERT_TRUE(passes.quality());
}

TEST(Passes, TakeAllWhereNoNumberIsGiven) {
  const OnnxModel model = load_text("(float[6,2] x) => (float[6,2] y) {y = Relu(x)}");
  Passes passes;
  passes.add(model.graph(), outputs(0), nullptr);
  EXPECT_EQ(passes.outputs().at("y").dims(), (Dims{6, 2}));
  EXPECT_TRUE(Passes().outputs().empty());
  EXPECT_FALSE(Passes().quality());
}

}  // namespace
}  // namespace gemm64
