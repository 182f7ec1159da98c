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

/// Adds beta * bias, broadcast to its shape, to `result`, of float32; nothing where the bias is
/// absent. Throws UsageError where it cannot.
void add_bias(const NodeContext& node, const GemmForm& form, const Tensor& bias, Tensor& result);

/// The message for operands whose K differ.
std::string operands_do_not_fit(const Tensor& a, const Tensor& b);

}  // namespace gemm64
