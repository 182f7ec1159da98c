// SPDX-License-Identifier: Apache-2.0
// What the host's Gemm and the accelerator's have in common.
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

/// Adds beta * bias, broadcast to its shape, to `result`; nothing where the bias is absent. Throws
/// UsageError where it cannot.
void add_bias(const NodeContext& node, const GemmForm& form, const Tensor& bias, Tensor& result);

/// The message for operands whose K differ.
std::string operands_do_not_fit(const Tensor& a, const Tensor& b);

}  // namespace gemm64
