// SPDX-License-Identifier: Apache-2.0
#include "host/models/alexnet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "host/models/fashion_mnist.hpp"

namespace gemm64 {
namespace {

std::vector<Convolution> convolutions(const AlexNet& alexnet) {
  std::vector<Convolution> result;
  for (const Stage& stage : alexnet.stages()) {
    if (const auto* convolution = std::get_if<Convolution>(&stage)) result.push_back(*convolution);
  }
  return result;
}

TEST(AlexNet, HasTorchvisionsParametersAndMacs) {
  const AlexNet alexnet(1);
  std::size_t parameters = 0;
  std::vector<std::size_t> macs;
  std::size_t side = 224;
  for (const Stage& stage : alexnet.stages()) {
    if (const auto* convolution = std::get_if<Convolution>(&stage)) {
      side = (side + 2 * convolution->padding - convolution->kernel) / convolution->stride + 1;
      parameters += convolution->weights.size() + convolution->bias.size();
      macs.push_back(convolution->weights.size() * side * side);
    } else {
      const MaxPooling& pooling = std::get<MaxPooling>(stage);
      side = (side - pooling.kernel) / pooling.stride + 1;
    }
  }
  EXPECT_EQ(side, 6u);
  for (const LinearLayer& layer : alexnet.linear_layers()) {
    parameters += static_cast<std::size_t>(layer.weights.size() + layer.bias.size());
    macs.push_back(static_cast<std::size_t>(layer.weights.size()));
  }
  EXPECT_EQ(parameters, 61100840u);
  EXPECT_EQ(macs, (std::vector<std::size_t>{70276800, 223948800, 112140288, 149520384, 99680256,
                                            37748736, 16777216, 4096000}));
}

TEST(AlexNet, NamesItsLinearLayersAndTheirRelus) {
  const std::vector<LinearLayer> layers = AlexNet(1).linear_layers();
  ASSERT_EQ(layers.size(), 3u);
  const char* names[] = {"classifier.1", "classifier.4", "classifier.6"};
  const Eigen::Index shapes[][2] = {{4096, 9216}, {4096, 4096}, {1000, 4096}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(layers[i].name, names[i]);
    EXPECT_EQ(layers[i].weights.rows(), shapes[i][0]);
    EXPECT_EQ(layers[i].weights.cols(), shapes[i][1]);
    EXPECT_EQ(layers[i].bias.size(), shapes[i][0]);
    EXPECT_EQ(layers[i].relu, i < 2);
  }
}

TEST(AlexNet, InitialisesEveryLayerUniformlyWithinOneOverTheRootOfItsFanIn) {
  const AlexNet alexnet(3);
  const auto check = [](const std::string& name, const float* values, std::size_t count,
                        double bound, bool tight) {
    double sum = 0.0;
    double squares = 0.0;
    double largest = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      const double value = static_cast<double>(values[i]);
      sum += value;
      squares += value * value;
      largest = std::max(largest, std::abs(value));
    }
    const double n = static_cast<double>(count);
    const double variance = bound * bound / 3.0;
    EXPECT_LE(largest, bound * 1.000001) << name;
    if (tight) {
      EXPECT_GT(largest, bound * 0.999) << name;
    }
    EXPECT_NEAR(sum / n, 0.0, 6.0 * std::sqrt(variance / n)) << name;
    EXPECT_NEAR(squares / n, variance, 6.0 * variance * std::sqrt(0.8 / n)) << name;
  };
  for (const Convolution& layer : convolutions(alexnet)) {
    const double fan_in = static_cast<double>(layer.in_channels * layer.kernel * layer.kernel);
    check(layer.name, layer.weights.data(), layer.weights.size(), 1.0 / std::sqrt(fan_in), true);
    check(layer.name, layer.bias.data(), layer.bias.size(), 1.0 / std::sqrt(fan_in), false);
    EXPECT_TRUE(layer.relu) << layer.name;
  }
  for (const LinearLayer& layer : alexnet.linear_layers()) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(layer.weights.cols()));
    check(layer.name, layer.weights.data(), static_cast<std::size_t>(layer.weights.size()), bound,
          true);
    check(layer.name, layer.bias.data(), static_cast<std::size_t>(layer.bias.size()), bound, false);
  }
}

TEST(AlexNet, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const std::vector<Convolution> one = convolutions(AlexNet(1));
  const std::vector<Convolution> same = convolutions(AlexNet(1));
  const std::vector<Convolution> other = convolutions(AlexNet(2));
  ASSERT_EQ(one.size(), 5u);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].weights, same[i].weights);
    EXPECT_EQ(one[i].bias, same[i].bias);
    EXPECT_NE(one[i].weights, other[i].weights);
    EXPECT_NE(one[i].bias, other[i].bias);
  }
}

TEST(AlexNet, TreatsEachImageOfABatchAlone) {
  const GreyImages images = read_fashion_mnist_images(3);
  const AlexNet alexnet(1);
  const MatrixF batch = alexnet.features(imagenet_batch(images, 0, 3));
  ASSERT_EQ(batch.rows(), 3);
  ASSERT_EQ(batch.cols(), 9216);
  for (std::size_t i = 0; i < 3; ++i) {
    const MatrixF alone = alexnet.features(imagenet_batch(images, i, 1));
    EXPECT_LT((batch.row(static_cast<Eigen::Index>(i)) - alone).cwiseAbs().maxCoeff(), 1e-5f);
  }
  EXPECT_GT((batch.row(0) - batch.row(1)).cwiseAbs().maxCoeff(), 1e-2f);
  EXPECT_GE(batch.minCoeff(), 0.0f);  // after a ReLU
}

TEST(AlexNet, RejectsImagesOfAnotherShape) {
  const AlexNet alexnet(1);
  EXPECT_THROW(alexnet.features({1, 1, 224, 224, std::vector<float>(224 * 224)}),
               std::invalid_argument);
  EXPECT_THROW(alexnet.features({1, 3, 32, 32, std::vector<float>(3 * 32 * 32)}),
               std::invalid_argument);
  EXPECT_THROW(alexnet.features({0, 3, 224, 224, {}}), std::invalid_argument);
}

}  // namespace
}  // namespace gemm64
