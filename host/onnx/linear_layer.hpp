// SPDX-License-Identifier: Apache-2.0
// Which nodes are Linear layers for the device: the one rule, for running and for predicting.
#pragma once

#include <optional>
#include <string>

#include "host/onnx/model.hpp"
#include "host/onnx/work.hpp"

namespace gemm64 {

/// Which inputs of a node are the factors of its product. Scales, zero points and biases are others.
struct LinearOperands {
  int a = 0;  // activations
  int b = 1;  // weights
  int b_zero = -1;
  bool quantized = false;  // 8-bit factors; but activations are float32 in DynamicQuantizeMatMul
};

/// Where the operands stand; empty where the node is no product of two matrices.
std::optional<LinearOperands> linear_operands(const onnx::NodeProto& node);

/// Is all that belongs to a node's weights (scales and zero points too) the same whatever the
/// network's inputs are?
bool has_constant_weights(const OnnxModel& model, const onnx::NodeProto& node);

/// Why `run` computes a node on the host, in words; empty where the device computes it: Gemm or
/// MatMul whose weights are a float32 matrix (or a stack of one) that is the same whatever the
/// network's inputs are, or one of their quantized forms. `a`, `b`: types of the two factors, empty
/// where unknown.
std::string why_on_host(const onnx::NodeProto& node, bool constant_weights,
                        const std::optional<TensorType>& a, const std::optional<TensorType>& b);

/// The same, from what the model knows before it runs.
std::string why_on_host(const OnnxModel& model, const onnx::NodeProto& node);

/// The product of a node that the device computes; empty where the host does, or a shape is
/// unknown.
std::optional<ProductSizes> linear_product(const OnnxModel& model, const onnx::NodeProto& node);

}  // namespace gemm64
