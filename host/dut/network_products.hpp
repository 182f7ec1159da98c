// SPDX-License-Identifier: Apache-2.0
// The matrix products of a network, for a user's array.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/dut/description.hpp"
#include "host/dut/tiling.hpp"
#include "host/graph/onnx/model.hpp"

namespace gemm64::dut {

struct NetworkProduct {
  std::string name, operation;
  ProductShape shape;
  std::uint64_t count = 1;                // groups, or matrices of a batch
  const onnx::NodeProto* node = nullptr;  // of the model; nullptr: there is none
};

/// AlexNet's three Linear layers, whose weights are random.
std::vector<NetworkProduct> alexnet_linear_layers(std::int64_t batch);

/// Linear layers and convolutions (as im2col makes products of them) in the network's order.
/// Throws UsageError if it has none, or a shape is not known.
std::vector<NetworkProduct> products_of(const OnnxModel& model);

/// Random over all values that the operand can have.
Operands random_operands(std::int64_t rows, std::int64_t columns, const Operand& of,
                         std::uint32_t seed);

}  // namespace gemm64::dut
