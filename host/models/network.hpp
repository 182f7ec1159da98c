// SPDX-License-Identifier: Apache-2.0
// What `gemm64 run` runs: a network's Linear layers and a real input for the first of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "host/models/fashion_mnist.hpp"
#include "host/models/linear_layer.hpp"
#include "host/numerics/matrix.hpp"

namespace gemm64 {

/// The input [batch x K of the first layer] and the layers, in order.
struct Workload {
  std::string model;
  MatrixF input;
  std::vector<LinearLayer> layers;
};

/// The names that make_workload knows.
std::vector<std::string> known_networks();

/// The first `batch` images of Fashion-MNIST (from `data_folder`) through the convolutional part of
/// `network`, and its Linear layers, with all weights drawn from `seed`. Throws UsageError where
/// the network is unknown, `batch` is 0 or more than there are images, or the data cannot be read.
Workload make_workload(const std::string& network, std::size_t batch, std::uint32_t seed,
                       const std::filesystem::path& data_folder = kFashionMnistFolder);

}  // namespace gemm64
