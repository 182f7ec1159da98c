// SPDX-License-Identifier: Apache-2.0
// Random chains of quantized layers.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "host/run/quantized_chain.hpp"

namespace gemm64 {

inline MatrixI8 random_activations(std::mt19937& random, std::uint64_t rows,
                                   std::uint64_t columns) {
  return MatrixI8::NullaryExpr(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns),
                               [&] { return static_cast<std::int8_t>(random() & 0xffu); });
}

/// Layers from columns[i] to columns[i + 1]. Most sums fit into 8 bits, some are far outside.
inline std::vector<QuantizedLayer> random_chain(std::mt19937& random,
                                                const std::vector<std::uint64_t>& columns) {
  std::vector<QuantizedLayer> layers;
  for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
    QuantizedLayer layer;
    layer.name = "layer " + std::to_string(i);
    layer.weights = random_activations(random, columns[i + 1], columns[i]);
    const double usual = 60 / (5000 * std::sqrt(static_cast<double>(columns[i])));
    for (std::uint64_t n = 0; n < columns[i + 1]; ++n) {
      layer.bias.push_back(static_cast<std::int32_t>(random() % 20000) - 10000);
      layer.scales.push_back(
          static_cast<float>(usual * static_cast<double>(1 + random() % 1000) / 300));
    }
    const int zero = static_cast<int>(random() % 256) - 128;
    layer.output = {ResultFormat(ResultCode::kInt8), zero, random() % 2 != 0 ? zero : -128, 127};
    layers.push_back(layer);
  }
  return layers;
}

}  // namespace gemm64
