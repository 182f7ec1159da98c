// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/float_network.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "host/numerics/quantize.hpp"

namespace gemm64 {

std::vector<MatrixF> float_forward(const MatrixF& input, const std::vector<LinearLayer>& layers) {
  std::vector<MatrixF> outputs;
  outputs.reserve(layers.size());
  for (const LinearLayer& layer : layers) {
    const MatrixF& x = outputs.empty() ? input : outputs.back();
    if (x.cols() != layer.weights.cols() || layer.bias.size() != layer.weights.rows()) {
      throw std::invalid_argument(
          "float_forward: layer " + layer.name + " has weights " +
          std::to_string(layer.weights.rows()) + "x" + std::to_string(layer.weights.cols()) +
          " and " + std::to_string(layer.bias.size()) + " biases, but its input has " +
          std::to_string(x.cols()) + " columns");
    }
    MatrixF y(x.rows(), layer.weights.rows());
    y.noalias() = x * layer.weights.transpose();
    y.rowwise() += layer.bias.transpose();
    if (layer.relu) relu_in_place(y);
    outputs.push_back(std::move(y));
  }
  return outputs;
}

}  // namespace gemm64
