// SPDX-License-Identifier: Apache-2.0
// Which nodes are Linear layers for the device: the one rule, for running and for predicting.
#pragma once

#include <optional>
#include <string>

#include "host/onnx/model.hpp"
#include "host/onnx/work.hpp"

namespace gemm64 {

/// Is it a Gemm or MatMul of real numbers, rather than of integers?
bool is_float_product(const onnx::NodeProto& node);

/// Which of the node's inputs holds the weights of a matrix product.
int weights_input(const onnx::NodeProto& node);

/// Why `run` computes a node on the host, in words; empty where the device computes it: Gemm or
/// MatMul whose weights are a float32 matrix (or a stack of one), or their kin on 8-bit integers,
/// where the weights are the same whatever the network's inputs are. `a`, `b`: types of the node's
/// activations (input 0) and weights, empty where unknown.
std::string why_on_host(const onnx::NodeProto& node, bool constant_weights,
                        const std::optional<TensorType>& a, const std::optional<TensorType>& b);

/// The same, from what the model knows before it runs.
std::string why_on_host(const OnnxModel& model, const onnx::NodeProto& node);

/// The product of a node that the device computes; empty where the host does, or a shape is
/// unknown.
std::optional<ProductSizes> linear_product(const OnnxModel& model, const onnx::NodeProto& node);

}  // namespace gemm64
