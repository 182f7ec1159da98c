// SPDX-License-Identifier: Apache-2.0
#include "host/dut/network_products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "host/error.hpp"
#include "host/onnx/linear_layer.hpp"
#include "host/onnx/work.hpp"
#include "host/proto/attribute.hpp"

namespace gemm64::dut {
namespace {

constexpr std::int64_t kMostValues = std::int64_t{1} << 31;

/// Weights of Gemm, MatMul and Conv that are constants of float32; others are drawn.
void find_weights(const OnnxModel& model, const onnx::NodeProto& node, NetworkProduct& product) {
  const int input = weights_input(node);
  if (input >= node.input_size()) return;
  const onnx::TensorProto* const tensor = model.constant(node.input(input));
  if (tensor == nullptr || tensor->data_type() != onnx::TensorProto::FLOAT || !has_data(*tensor)) {
    return;
  }
  const std::int64_t values = product.shape.n * product.shape.k;
  std::int64_t held = 1;
  for (const std::int64_t size : tensor->dims()) held *= size;
  const bool convolution = node.op_type() == "Conv";
  if (held != values * (convolution ? static_cast<std::int64_t>(product.count) : 1)) return;
  product.weights = tensor;
  product.transposed =
      node.op_type() == "MatMul" ||
      (node.op_type() == "Gemm" && attribute(node, "transB", std::int64_t{0}) == 0);
}

}  // namespace

std::vector<NetworkProduct> alexnet_linear_layers(std::int64_t batch) {
  return {{"classifier.1", "Gemm", {batch, 9216, 4096}},
          {"classifier.4", "Gemm", {batch, 4096, 4096}},
          {"classifier.6", "Gemm", {batch, 4096, 1000}}};
}

std::vector<NetworkProduct> products_of(const OnnxModel& model) {
  std::vector<NetworkProduct> all;
  for (int i = 0; i < model.graph().node_size(); ++i) {
    const onnx::NodeProto& node = model.graph().node(i);
    const std::optional<Work> work = work_of(model, node);
    if (!work || !work->products) continue;
    const Products& products = *work->products;
    NetworkProduct product{
        node_label(node, i),
        node.op_type(),
        {static_cast<std::int64_t>(products.shape.m), static_cast<std::int64_t>(products.shape.k),
         static_cast<std::int64_t>(products.shape.n)},
        products.count};
    find_weights(model, node, product);
    all.push_back(product);
  }
  if (all.empty()) {
    throw UsageError(
        fmt::format("{}: has no Linear layer or convolution whose shape is known", model.name()));
  }
  return all;
}

Operands random_operands(std::int64_t rows, std::int64_t columns, const Operand& of,
                         std::uint32_t seed) {
  Operands values(rows, columns);
  std::mt19937 random(seed);
  const auto low = static_cast<std::int32_t>(of.low());
  const auto shift = static_cast<unsigned>(32 - of.bits);
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    values.data()[i] = static_cast<std::int32_t>(random() >> shift) + low;
  }
  return values;
}

Operands weights_of(const NetworkProduct& product, std::uint64_t index, const Operand& of,
                    std::uint32_t seed) {
  const auto [m, k, n] = product.shape;
  const std::optional<std::vector<float>> floats =
      product.weights == nullptr ? std::nullopt : float_values(*product.weights, kMostValues);
  if (!floats) return random_operands(n, k, of, seed);
  const std::size_t size = static_cast<std::size_t>(n * k);
  const bool many = floats->size() > size;
  const float* const own = floats->data() + (many ? index * size : 0);
  float most = 0;
  for (const float value : *floats) most = std::max(most, std::abs(value));
  const float scale = most == 0 ? 1 : static_cast<float>(of.high()) / most;
  Operands values(n, k);
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t column = 0; column < k; ++column) {
      const float value = own[product.transposed ? column * n + row : row * k + column];
      // A file may hold NaN, which becomes 0.
      const float rounded = std::isfinite(value * scale) ? std::nearbyint(value * scale) : 0;
      values(row, column) = static_cast<std::int32_t>(
          std::clamp<std::int64_t>(static_cast<std::int64_t>(rounded), of.low(), of.high()));
    }
  }
  return values;
}

}  // namespace gemm64::dut
