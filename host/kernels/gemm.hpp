// SPDX-License-Identifier: Apache-2.0
// What products of matrices have in common, on the host and on the accelerator.
#pragma once

#include <string>

#include "host/kernels/operators.hpp"

namespace gemm64 {

/// Gemm is alpha * A * B + beta * C, A and B transposed where it says so.
struct GemmForm {
  float alpha = 1;
  float beta = 1;
  bool transpose_a = false;
  bool transpose_b = false;
};

GemmForm gemm_form(const NodeContext& node);

/// The product of stacks of matrices, transposed where it says so, times alpha; stacks broadcast
/// against each other as in NumPy. Throws UsageError where operands do not fit.
Tensor multiply_stacks(const NodeContext& node, const Tensor& a, const Tensor& b,
                       const GemmForm& form);

/// Adds beta * bias, broadcast to its shape, to `result`; nothing where the bias is absent. Throws
/// UsageError where it cannot.
void add_bias(const NodeContext& node, const GemmForm& form, const Tensor& bias, Tensor& result);

/// The message for operands whose K differ.
std::string operands_do_not_fit(const Tensor& a, const Tensor& b);

}  // namespace gemm64
