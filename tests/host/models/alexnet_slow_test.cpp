// SPDX-License-Identifier: Apache-2.0
// The whole convolutional part against plain loops, and the main job's workload at full size.
#include <gtest/gtest.h>

#include "host/models/alexnet.hpp"
#include "host/models/fashion_mnist.hpp"
#include "host/models/network.hpp"
#include "host/numerics/float_network.hpp"
#include "host/numerics/quality.hpp"
#include "host/numerics/quantize.hpp"
#include "host/numerics/reference.hpp"
#include "tests/host/models/naive_stages.hpp"

namespace gemm64 {
namespace {

// features of torchvision's AlexNet, written out from its definition; only weights are taken over.
TEST(AlexNetSlow, FeaturesEqualNaiveLoops) {
  const AlexNet alexnet(1);
  std::vector<Convolution> layers;
  for (const Stage& stage : alexnet.stages()) {
    if (const auto* convolution = std::get_if<Convolution>(&stage)) layers.push_back(*convolution);
  }
  ASSERT_EQ(layers.size(), 5u);
  const std::size_t shapes[5][3] = {{11, 4, 2}, {5, 1, 2}, {3, 1, 1}, {3, 1, 1}, {3, 1, 1}};
  for (std::size_t i = 0; i < 5; ++i) {
    layers[i].kernel = shapes[i][0];
    layers[i].stride = shapes[i][1];
    layers[i].padding = shapes[i][2];
    layers[i].relu = true;
  }
  const ImageBatch image = imagenet_batch(read_fashion_mnist_images(1), 0, 1);
  const MaxPooling pool{3, 2};
  ImageBatch x = naive_pooling(naive_convolution(image, layers[0]), pool);
  x = naive_pooling(naive_convolution(x, layers[1]), pool);
  x = naive_convolution(naive_convolution(x, layers[2]), layers[3]);
  x = naive_pooling(naive_convolution(x, layers[4]), pool);
  ASSERT_EQ(x.values.size(), 9216u);
  const MatrixF expected = Eigen::Map<const MatrixF>(x.values.data(), 1, 9216);

  const MatrixF found = alexnet.features(image);
  ASSERT_EQ(found.cols(), 9216);
  EXPECT_LT(max_abs_error(expected, found), 1e-5);
  EXPECT_GT(signal_to_noise_db(expected, found), 100.0);
  EXPECT_GT(expected.maxCoeff(), 0.01f);
}

TEST(AlexNetSlow, WorkloadOfABatchOf64IsReproducible) {
  const Workload workload = make_workload("alexnet", 64, 1);
  EXPECT_EQ(workload.model, "alexnet");
  EXPECT_EQ(workload.input.rows(), 64);
  EXPECT_EQ(workload.input.cols(), 9216);
  ASSERT_EQ(workload.layers.size(), 3u);

  const Workload again = make_workload("alexnet", 64, 1);
  EXPECT_EQ(workload.input, again.input);
  const Workload other = make_workload("alexnet", 1, 2);
  EXPECT_NE(workload.input.row(0), other.input.row(0));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(workload.layers[i].weights, again.layers[i].weights);
    EXPECT_EQ(workload.layers[i].bias, again.layers[i].bias);
    EXPECT_NE(workload.layers[i].weights, other.layers[i].weights);
    EXPECT_NE(workload.layers[i].bias, other.layers[i].bias);
  }
}

TEST(AlexNetSlow, ABatchAcrossSeveralRunsOfTheConvolutionsKeepsItsOrder) {
  const Workload workload = make_workload("alexnet", 66, 1);
  const GreyImages images = read_fashion_mnist_images(66);
  const AlexNet alexnet(1);
  ASSERT_EQ(workload.input.rows(), 66);
  for (const std::size_t i : {0u, 63u, 64u, 65u}) {
    const MatrixF alone = alexnet.features(imagenet_batch(images, i, 1));
    EXPECT_LT((workload.input.row(static_cast<Eigen::Index>(i)) - alone).cwiseAbs().maxCoeff(),
              1e-5f)
        << "image " << i;
  }
}

TEST(AlexNetSlow, QuantizedLayersStayCloseToFloat) {
  const Workload workload = make_workload("alexnet", 8, 1);
  const std::vector<MatrixF> expected = float_forward(workload.input, workload.layers);
  MatrixF x = workload.input;
  for (std::size_t i = 0; i < workload.layers.size(); ++i) {
    const LinearLayer& layer = workload.layers[i];
    const QuantizedMatrix a = quantize_per_tensor(x);
    const QuantizedMatrix w = quantize_per_row(layer.weights);
    x = dequantize_linear(reference_gemm(a.values, w.values), a.scales(0), w.scales, layer.bias);
    if (layer.relu) relu_in_place(x);
    EXPECT_GT(signal_to_noise_db(expected[i], x), 35.0) << layer.name;
  }
}

}  // namespace
}  // namespace gemm64
