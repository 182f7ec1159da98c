// SPDX-License-Identifier: Apache-2.0
// Which nodes are Linear layers for the device: the one rule, for running and for predicting.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/onnx/model.hpp"
#include "host/onnx/work.hpp"

namespace gemm64 {

/// Is it a Gemm or MatMul of real numbers, rather than of integers?
bool is_float_product(const onnx::NodeProto& node);

/// Is it a convolution of integers?
bool is_quantized_convolution(const onnx::NodeProto& node);

/// Which of the node's inputs holds the weights of a matrix product.
int weights_input(const onnx::NodeProto& node);

/// Of how many products of equal size, one for each block of K, the layer of a node consists.
std::uint64_t blocks_of_k(const onnx::NodeProto& node);

/// The type of a node's input, empty where it is not known or there is no such input.
using InputTypes = std::function<std::optional<TensorType>(int input)>;

/// Why `run` computes a node on the host, in words; empty where the device computes it: Gemm or
/// MatMul whose weights are a float32 matrix (or a stack of one), or their kin on 8-bit integers,
/// where the weights are the same whatever the network's inputs are. A convolution of 8-bit
/// integers in one group is a product with the values under each window as a row.
std::string why_on_host(const onnx::NodeProto& node, bool constant_weights, const InputTypes& type);

/// The same, from what the model knows before it runs.
std::string why_on_host(const OnnxModel& model, const onnx::NodeProto& node);

/// The products of a node that the device computes, blocks_of_k() of them; empty where the host
/// does, or a shape is unknown. Zeros fill the last block.
std::optional<Products> linear_product(const OnnxModel& model, const onnx::NodeProto& node);

}  // namespace gemm64
