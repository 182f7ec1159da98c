// SPDX-License-Identifier: Apache-2.0
// The arithmetic of one node: multiply-accumulates, and the matrix products that they make up.
#pragma once

#include <cstdint>
#include <optional>

#include "host/job/plan.hpp"
#include "host/onnx/model.hpp"

namespace gemm64 {

/// `count` products of one shape: a Conv is one for each group (im2col), a batched MatMul one for
/// each matrix.
struct Products {
  GemmShape shape;
  std::uint64_t count = 0;
};

struct Work {
  /// One multiply and one add is one; a bias is none; products with padded zeros count.
  std::uint64_t macs = 0;
  /// Additions of a bias of Conv, ConvTranspose or Gemm: one for each output where it has one.
  std::uint64_t bias_adds = 0;
  /// For Conv, ConvTranspose, Gemm and MatMul (and their integer forms) of at least one MAC.
  std::optional<Products> products;
};

/// What a node computes. Operators without matrix products count no MACs. Empty where that depends
/// on a shape that is not known, or on what a subgraph or an operator outside of ONNX does. Throws
/// std::overflow_error where a count is beyond 63 bits.
std::optional<Work> work_of(const OnnxModel& model, const onnx::NodeProto& node);

}  // namespace gemm64
