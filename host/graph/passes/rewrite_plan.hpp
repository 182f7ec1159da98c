// SPDX-License-Identifier: Apache-2.0
// Which Linear layers of a model are rewritten as blocks, and how.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/graph/onnx/model.hpp"
#include "host/graph/passes/cut.hpp"

namespace gemm64 {

/// A Gemm or MatMul: output[M x N] = alpha * op(a)[M x K] * op(b)[K x N] + beta * c, with op the
/// transposition where asked for. A MatMul has alpha = 1 and no c; its `a` may have any number of
/// dimensions, of which the last is K and the product of the others M.
struct LinearSite {
  int node = 0;  // index in the graph
  std::string name;
  std::string op_type;
  std::string a, b, c, output;  // c is empty where there is none
  std::vector<std::int64_t> a_dims;
  bool transpose_a = false;
  bool transpose_b = false;
  float alpha = 1;
  float beta = 1;
  int data_type = 0;
  Cut m, k, n;

  /// Products of blocks.
  std::int64_t matmuls() const { return m.blocks() * k.blocks() * n.blocks(); }
};

/// A node with products, or one that may have some, that stays as it is, and why.
struct SkippedNode {
  std::string name;
  std::string op_type;
  std::string reason;
};

struct RewritePlan {
  std::int64_t block = 0;
  std::vector<LinearSite> layers;  // in the graph's order
  std::vector<SkippedNode> skipped;
  std::vector<std::string> open_inputs;  // what --input-shape would tell of each open input

  std::int64_t matmuls() const;
  /// Is a layer cut along M, so that the result runs with this batch only?
  bool fixes_batch() const;
};

/// Upper bound on the MatMul nodes of a rewritten model; more would not fit into a file.
inline constexpr std::int64_t kMaxMatmuls = std::int64_t{1} << 21;

/// Finds every Gemm, and every MatMul one of whose operands is computed only from constants, and
/// cuts it into blocks of `block` (at least 1). Sizes are those that `model` was imported with.
/// Throws UsageError if operands do not fit together or there would be more than kMaxMatmuls.
RewritePlan plan_rewrite(const OnnxModel& model, std::int64_t block);

}  // namespace gemm64
