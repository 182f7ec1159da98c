// SPDX-License-Identifier: Apache-2.0
// Which nodes are Linear layers for the device: the one rule, for running and for predicting.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/graph/onnx/model.hpp"
#include "host/graph/onnx/work.hpp"

namespace gemm64 {

/// Is it a Gemm or MatMul of real numbers, rather than of integers?
bool is_float_product(const onnx::NodeProto& node);

/// Is it a convolution of integers?
bool is_quantized_convolution(const onnx::NodeProto& node);

/// Which of the node's inputs holds the weights of a matrix product.
int weights_input(const onnx::NodeProto& node);

/// The blocks of K that a node has.
std::uint64_t blocks_of_k(const onnx::NodeProto& node);

/// The type of a node's input, empty where it is not known or there is no such input.
using InputTypes = std::function<std::optional<TensorType>(int input)>;

/// Why `run` computes a node on the host, in words; empty where the device computes it: Gemm or
/// MatMul whose weights are a float32 matrix (or a stack of one), or their kin on 8-bit integers,
/// where the weights are the same whatever the network's inputs are; and products of two stacks of
/// 8-bit matrices whose sums are the result. A convolution of 8-bit integers is a product for each
/// group, with the values under each window as a row.
std::string why_on_host(const onnx::NodeProto& node, bool constant_weights, const InputTypes& type);

/// The same, from what the model knows before it runs.
std::string why_on_host(const OnnxModel& model, const onnx::NodeProto& node);

/// The products of a node that the device computes, in the order of its kernel: of blocks of K, of
/// groups or of the matrices of a stack; empty where the host does, or a shape is unknown. Zeros
/// fill the last block.
std::optional<Products> linear_product(const OnnxModel& model, const onnx::NodeProto& node);

/// Are these products of matrices of which the second ones are no weights of the file, or more than
/// one?
bool multiplies_computed(const OnnxModel& model, const onnx::NodeProto& node);

/// All of them as one: a stack has the rows of each, groups have the columns.
ProductSizes size_of_layer(const onnx::NodeProto& node, const Products& products);

}  // namespace gemm64
