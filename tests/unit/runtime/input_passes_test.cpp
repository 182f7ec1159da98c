// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/input_passes.hpp"

#include "tests/test.hpp"
#include "tests/unit/runtime/tensors.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

TEST(NetworkInputs, OfTensorsAreThese) {
  const NetworkInputs inputs = NetworkInputs::of({{"x", floats({2}, {3, 4})}});
  EXPECT_EQ(inputs.images, 1);
  EXPECT_EQ(values_of<float>(inputs.take(0, 1).at("x")), (std::vector<float>{3, 4}));
}

TEST(NetworkInputs, InTurnGiveOneImageForEachPass) {
  const NetworkInputs inputs =
      NetworkInputs::in_passes({{"x", InputSource::of(floats({2, 2}, {1, 2, 3, 4}))},
                                {"scale", InputSource::of(floats({1}, {9}))}},
                               2, 1, "the file says so");
  ASSERT_EQ(inputs.passes(), 2);
  const NetworkInputs second = inputs.pass(1);
  EXPECT_EQ(second.images, 1);
  EXPECT_EQ(second.passes(), 1);
  const NamedTensors tensors = second.take(0, 1);
  EXPECT_EQ(tensors.at("x").dims(), (Dims{1, 2}));
  EXPECT_EQ(values_of<float>(tensors.at("x")), (std::vector<float>{3, 4}));
  EXPECT_EQ(values_of<float>(tensors.at("scale")), (std::vector<float>{9}));
}

TEST(NetworkInputs, FillTheLastPassWithTheLastImage) {
  const Tensor images = floats({5, 1}, {1, 2, 3, 4, 5});
  const Tensor table = floats({2}, {8, 9});
  const NetworkInputs inputs = NetworkInputs::in_passes(
      {{"x", InputSource::of(images)}, {"t", InputSource::of(table)}}, 5, 3);
  ASSERT_EQ(inputs.passes(), 2);
  EXPECT_EQ(inputs.images_of(0), 3);
  EXPECT_EQ(inputs.images_of(1), 2);
  const NamedTensors last = inputs.pass(1).take(0, 1);
  EXPECT_THAT(values_of<float>(last.at("x")), ElementsAre(4, 5, 5));
  EXPECT_THAT(values_of<float>(last.at("t")), ElementsAre(8, 9));
}

}  // namespace
}  // namespace gemm64
