// SPDX-License-Identifier: Apache-2.0
#include "host/models/alexnet.hpp"

#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>

#include "host/models/initialize.hpp"

namespace gemm64 {
namespace {

struct ConvolutionShape {
  const char* name;
  std::size_t in_channels;
  std::size_t out_channels;
  std::size_t kernel;
  std::size_t stride;
  std::size_t padding;
  bool pooled;  // a max pooling of 3 with stride 2 follows
};

constexpr ConvolutionShape kConvolutions[] = {
    {"features.0", 3, 64, 11, 4, 2, true},    {"features.3", 64, 192, 5, 1, 2, true},
    {"features.6", 192, 384, 3, 1, 1, false}, {"features.8", 384, 256, 3, 1, 1, false},
    {"features.10", 256, 256, 3, 1, 1, true},
};

struct LinearShape {
  const char* name;
  Eigen::Index in_features;
  Eigen::Index out_features;
  bool relu;
};

constexpr LinearShape kLinears[] = {
    {"classifier.1", 9216, 4096, true},
    {"classifier.4", 4096, 4096, true},
    {"classifier.6", 4096, 1000, false},
};

Convolution make_convolution(const ConvolutionShape& shape, std::uint32_t seed) {
  const std::size_t fan_in = shape.in_channels * shape.kernel * shape.kernel;
  const float bound = initial_bound(fan_in);
  std::mt19937 generator = layer_generator(seed, shape.name);
  Convolution layer;
  layer.name = shape.name;
  layer.in_channels = shape.in_channels;
  layer.out_channels = shape.out_channels;
  layer.kernel = shape.kernel;
  layer.stride = shape.stride;
  layer.padding = shape.padding;
  layer.relu = true;
  layer.weights.resize(shape.out_channels * fan_in);
  layer.bias.resize(shape.out_channels);
  fill_uniform(generator, bound, layer.weights.data(), layer.weights.size());
  fill_uniform(generator, bound, layer.bias.data(), layer.bias.size());
  return layer;
}

void fill_linear(LinearLayer& layer, std::uint32_t seed) {
  const float bound = initial_bound(static_cast<std::size_t>(layer.weights.cols()));
  std::mt19937 generator = layer_generator(seed, layer.name);
  fill_uniform(generator, bound, layer.weights.data(),
               static_cast<std::size_t>(layer.weights.size()));
  fill_uniform(generator, bound, layer.bias.data(), static_cast<std::size_t>(layer.bias.size()));
}

}  // namespace

AlexNet::AlexNet(std::uint32_t seed) : seed_(seed) {
  for (const ConvolutionShape& shape : kConvolutions) {
    stages_.push_back(make_convolution(shape, seed));
    if (shape.pooled) stages_.push_back(MaxPooling{3, 2});
  }
}

MatrixF AlexNet::features(const ImageBatch& images) const {
  if (images.channels != kImageNetChannels || images.height != kImageNetSize ||
      images.width != kImageNetSize) {
    throw std::invalid_argument("AlexNet::features: takes images of 3x224x224, is given " +
                                std::to_string(images.channels) + "x" +
                                std::to_string(images.height) + "x" + std::to_string(images.width));
  }
  const ImageBatch maps = run_stages(images, stages_);
  return Eigen::Map<const MatrixF>(
      maps.values.data(), static_cast<Eigen::Index>(maps.count),
      static_cast<Eigen::Index>(maps.channels * maps.height * maps.width));
}

std::vector<LinearLayer> AlexNet::linear_layers() const {
  std::vector<LinearLayer> layers;
  for (const LinearShape& shape : kLinears) {
    layers.push_back({shape.name, MatrixF(shape.out_features, shape.in_features),
                      Eigen::VectorXf(shape.out_features), shape.relu});
  }
  // The first layer is two thirds of the work: one thread for it, this one for the others.
  std::future<void> first =
      std::async(std::launch::async, fill_linear, std::ref(layers.front()), seed_);
  for (std::size_t i = 1; i < layers.size(); ++i) fill_linear(layers[i], seed_);
  first.get();
  return layers;
}

}  // namespace gemm64
