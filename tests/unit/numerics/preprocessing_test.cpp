// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/preprocessing.hpp"

#include "host/numerics/image.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(Preprocessing, ShowsItsFormula) {
  EXPECT_EQ(preprocessing_named("raw").text(), "pixel");
  EXPECT_EQ(preprocessing_named("unit").text(), "pixel / 255");
  EXPECT_EQ(preprocessing_named("mnist").text(), "(pixel / 255 - 0.1307) / 0.3081");
  EXPECT_EQ(preprocessing_named("imagenet").text(),
            "(pixel / 255 - (0.485, 0.456, 0.406)) / (0.229, 0.224, 0.225)");
  EXPECT_EQ((Preprocessing{1, {127}, {128}}.text()), "(pixel - 127) / 128");
  EXPECT_EQ((Preprocessing{1, {0}, {2}}.text()), "pixel / 2");
}

TEST(Preprocessing, IsOneForAllChannelsOrOneForEach) {
  EXPECT_TRUE(preprocessing_named("mnist").fits(3));
  EXPECT_TRUE(preprocessing_named("imagenet").fits(3));
  EXPECT_FALSE(preprocessing_named("imagenet").fits(1));
}

TEST(Preprocessing, IsDoneToEachChannel) {
  const Preprocessing how{2, {1, 2, 3}, {1, 2, 4}};
  const ImageBatch image = network_input({1, 1, 3, {10, 20, 30}}, 3, 1, 1, how);
  EXPECT_EQ(image.values, (std::vector<float>{4, 4, 3}));
  EXPECT_EQ(network_input({1, 1, 1, {200}}, 1, 1, 1, preprocessing_named("raw")).values,
            std::vector<float>{200});
}

TEST(Preprocessing, CutsMiddleOrStretches) {
  PixelChoice choice{preprocessing_named("raw"), std::nullopt};
  choice.whole = true;
  EXPECT_TRUE(choice.given());
  const ImageBatch whole = network_input({1, 3, 1, {10, 20, 90}}, 1, 1, 1, choice.of(1));
  EXPECT_GT(whole.values.at(0), 20) << "the edges are seen";
  const ImageBatch middle = network_input({1, 3, 1, {10, 20, 90}}, 1, 1, 1,
                                          PixelChoice{preprocessing_named("raw"), false}.of(1));
  EXPECT_EQ(middle.values, std::vector<float>{20});
  EXPECT_FALSE(PixelChoice{}.of(3).whole) << "the middle, if nothing is said";
}

TEST(Preprocessing, OfEveryNameExists) {
  for (const std::string& name : preprocessing_names()) EXPECT_NO_THROW(preprocessing_named(name));
  EXPECT_THROW(preprocessing_named("jpeg"), std::invalid_argument);
}

}  // namespace
}  // namespace gemm64
