// SPDX-License-Identifier: Apache-2.0
// The operands of a network's products, as a user's array multiplies them.
#pragma once

#include <cstdint>
#include <optional>

#include "host/dut/network_products.hpp"
#include "host/kernels/operators.hpp"

namespace gemm64::dut {

/// Product `index` of a node, from the values of the node's inputs: the activations [M x K] of a
/// matrix or, by im2col, of the windows of a convolution; the weights [N x K]. Integers that the
/// operand can hold stay as they are, 8-bit ones of the other sign are moved by 128, and all others
/// are rounded by one scale for the tensor. Empty if a value is not known or the node has another
/// form: a transposed convolution, stacks of matrices that are not of one size.
std::optional<Operands> activations_of(const NetworkProduct& product, const NodeContext& node,
                                       const Tensors& inputs, std::uint64_t index,
                                       const Operand& of);
std::optional<Operands> weights_of(const NetworkProduct& product, const Tensors& inputs,
                                   std::uint64_t index, const Operand& of);

}  // namespace gemm64::dut
