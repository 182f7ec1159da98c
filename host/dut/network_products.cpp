// SPDX-License-Identifier: Apache-2.0
#include "host/dut/network_products.hpp"

#include <fmt/format.h>

#include <random>

#include "host/graph/onnx/work.hpp"
#include "host/util/error.hpp"

namespace gemm64::dut {
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
    all.push_back(
        {node_label(node, i),
         node.op_type(),
         {static_cast<std::int64_t>(products.shape.m), static_cast<std::int64_t>(products.shape.k),
          static_cast<std::int64_t>(products.shape.n)},
         products.count,
         &node});
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

}  // namespace gemm64::dut
