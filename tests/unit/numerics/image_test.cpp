// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/image.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(ResizeBilinear, DoublesAsPyTorch) {
  MatrixF image(2, 2);
  image << 1, 2, 3, 4;
  MatrixF expected(4, 4);
  expected << 1.0f, 1.25f, 1.75f, 2.0f,  //
      1.5f, 1.75f, 2.25f, 2.5f,          //
      2.5f, 2.75f, 3.25f, 3.5f,          //
      3.0f, 3.25f, 3.75f, 4.0f;
  EXPECT_EQ(resize_bilinear(image, 4, 4), expected);
}

TEST(ResizeBilinear, TreatsRowsAndColumnsApart) {
  MatrixF image(2, 1);
  image << 0, 8;
  MatrixF expected(4, 2);
  expected << 0, 0, 2, 2, 6, 6, 8, 8;
  EXPECT_EQ(resize_bilinear(image, 4, 2), expected);
}

TEST(ResizeBilinear, AveragesPairsWhenItHalves) {
  MatrixF image(1, 4);
  image << 1, 3, 10, 20;
  MatrixF expected(1, 2);
  expected << 2, 15;
  EXPECT_EQ(resize_bilinear(image, 1, 2), expected);
}

// Bilinear interpolation as a sum over all source pixels, each weighted by a triangle around the
// half-pixel centre that the border clamps: another form of the same definition.
double by_triangles(const MatrixF& image, double row, double column) {
  row = std::min(std::max(row, 0.0), static_cast<double>(image.rows() - 1));
  column = std::min(std::max(column, 0.0), static_cast<double>(image.cols() - 1));
  double sum = 0.0;
  for (Eigen::Index r = 0; r < image.rows(); ++r) {
    for (Eigen::Index c = 0; c < image.cols(); ++c) {
      const double weight = std::max(0.0, 1.0 - std::abs(row - static_cast<double>(r))) *
                            std::max(0.0, 1.0 - std::abs(column - static_cast<double>(c)));
      sum += weight * static_cast<double>(image(r, c));
    }
  }
  return sum;
}

TEST(ResizeBilinear, EqualsSumOfTriangles) {
  std::srand(1);
  const MatrixF image = MatrixF::Random(28, 28);
  const MatrixF result = resize_bilinear(image, 224, 224);
  for (Eigen::Index r = 0; r < 224; r += 3) {
    for (Eigen::Index c = 0; c < 224; ++c) {
      const double expected = by_triangles(image, (static_cast<double>(r) + 0.5) / 8.0 - 0.5,
                                           (static_cast<double>(c) + 0.5) / 8.0 - 0.5);
      ASSERT_NEAR(result(r, c), expected, 1e-6) << r << ", " << c;
    }
  }
}

TEST(ResizeBilinear, RejectsEmptySizes) {
  EXPECT_THROW(resize_bilinear(MatrixF(), 2, 2), std::invalid_argument);
  EXPECT_THROW(resize_bilinear(MatrixF::Ones(2, 2), 0, 2), std::invalid_argument);
  EXPECT_THROW(resize_bilinear(MatrixF::Ones(2, 2), 2, 0), std::invalid_argument);
}

GreyImages two_images() {
  GreyImages images{2, 28, 28, std::vector<std::uint8_t>(2 * 28 * 28, 0)};
  images.pixels[28 * 28] = 255;  // the corner of the second
  return images;
}

TEST(ImageNetBatch, NormalisesBlackByChannel) {
  const ImageBatch batch = imagenet_batch(two_images(), 0, 1);
  EXPECT_EQ(batch.count, 1u);
  EXPECT_EQ(batch.channels, 3u);
  EXPECT_EQ(batch.height, 224u);
  EXPECT_EQ(batch.width, 224u);
  ASSERT_EQ(batch.values.size(), 3u * 224u * 224u);
  const std::size_t plane = 224 * 224;
  EXPECT_NEAR(batch.values[0], -0.485 / 0.229, 1e-6);
  EXPECT_NEAR(batch.values[plane], -0.456 / 0.224, 1e-6);
  EXPECT_NEAR(batch.values[2 * plane], -0.406 / 0.225, 1e-6);
  EXPECT_EQ(batch.values[2 * plane - 1], batch.values[plane]);
}

TEST(ImageNetBatch, TakesTheImagesAskedFor) {
  const GreyImages images = two_images();
  const ImageBatch both = imagenet_batch(images, 0, 2);
  const ImageBatch second = imagenet_batch(images, 1, 1);
  const std::size_t image = 3 * 224 * 224;
  EXPECT_NEAR(both.values[0], -0.485 / 0.229, 1e-6);
  EXPECT_NEAR(both.values[image], (1.0 - 0.485) / 0.229, 1e-6);  // white
  EXPECT_TRUE(std::equal(second.values.begin(), second.values.end(),
                         both.values.begin() + static_cast<std::ptrdiff_t>(image)));
  // Halfway between the white corner and its black neighbour, on the first row (the 8th of 8 pixels
  // is 7/16 + 1/2 of the way).
  EXPECT_NEAR(both.values[image + 7] * 0.229 + 0.485, 1.0 - 7.0 / 16.0, 1e-6);
}

TEST(ImageNetBatch, RejectsARangeBeyondTheImages) {
  const GreyImages images = two_images();
  EXPECT_THROW(imagenet_batch(images, 0, 3), std::invalid_argument);
  EXPECT_THROW(imagenet_batch(images, 3, 0), std::invalid_argument);
  EXPECT_THROW(imagenet_batch(images, 1, static_cast<std::size_t>(-1)), std::invalid_argument);
}

Image grey_image(std::size_t rows, std::size_t columns, const std::vector<std::uint8_t>& pixels) {
  return {rows, columns, 1, pixels};
}

TEST(NetworkInput, TakesAnImageOfTheRightSizeAsItIs) {
  const ImageBatch grey =
      network_input(grey_image(1, 2, {0, 51}), 1, 1, 2, default_preprocessing(1));
  EXPECT_EQ(grey.values, (std::vector<float>{0.0f, 0.2f}));
  const ImageBatch colour =
      network_input({1, 1, 3, {0, 255, 51}}, 3, 1, 1, default_preprocessing(3));
  EXPECT_NEAR(colour.values[0], (0.0 - 0.485) / 0.229, 1e-6);
  EXPECT_NEAR(colour.values[1], (1.0 - 0.456) / 0.224, 1e-6);
  EXPECT_NEAR(colour.values[2], (0.2 - 0.406) / 0.225, 1e-6);
}

TEST(NetworkInput, CutsOutTheMiddleOfGreyImages) {
  const Image image = grey_image(1, 5, {255, 0, 51, 102, 255});
  EXPECT_EQ(network_input(image, 1, 1, 3, default_preprocessing(1)).values,
            (std::vector<float>{0.0f, 0.2f, 0.4f}));
}

// Every source value counts where an image becomes smaller: stripes become their mean, which two
// a check of only each centre's neighbours would miss.
TEST(NetworkInput, AveragesIfImageShrinks) {
  std::vector<std::uint8_t> stripes(64 * 64, 0);
  for (std::size_t i = 0; i < stripes.size(); i += 8) stripes[i] = 255;
  const ImageBatch small =
      network_input(grey_image(64, 64, stripes), 1, 8, 8, default_preprocessing(1));
  for (std::size_t i = 0; i < small.values.size(); ++i) {
    const bool at_border = i % 8 == 0 || i % 8 == 7;  // less is seen there
    EXPECT_NEAR(small.values[i], 1.0 / 8, at_border ? 0.05 : 1e-6) << i;
  }
}

// Of 256/224 of the size the middle is seen: a ramp of brightness loses a sixteenth at each end.
TEST(NetworkInput, LeavesAMarginOfColourImagesOut) {
  Image ramp{160, 160, 3, std::vector<std::uint8_t>(160 * 160 * 3)};
  for (std::size_t i = 0; i < ramp.pixels.size(); ++i) {
    ramp.pixels[i] = static_cast<std::uint8_t>(i / 3 % 160);
  }
  const ImageBatch seen = network_input(ramp, 3, 28, 28, default_preprocessing(3));
  // 140 of 160 columns from column 10 on, 5 each: centres at 12, 17, ...
  for (std::size_t c = 0; c < 28; ++c) {
    const double brightness = 12.0 + 5.0 * static_cast<double>(c);
    EXPECT_NEAR(seen.values[c], (brightness / 255 - 0.485) / 0.229, 1e-4) << c;
  }
}

TEST(NetworkInput, RejectsOtherChannels) {
  EXPECT_THROW(network_input({1, 1, 2, {0, 0}}, 2, 1, 1, default_preprocessing(1)),
               std::invalid_argument);
  EXPECT_THROW(network_input(grey_image(1, 1, {0}), 3, 1, 1, default_preprocessing(3)),
               std::invalid_argument);
  EXPECT_THROW(network_input(grey_image(1, 1, {0}), 1, 0, 1, default_preprocessing(1)),
               std::invalid_argument);
  EXPECT_THROW(network_input(grey_image(1, 1, {}), 1, 1, 1, default_preprocessing(1)),
               std::invalid_argument);
}

}  // namespace
}  // namespace gemm64
