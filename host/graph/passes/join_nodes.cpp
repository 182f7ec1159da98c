// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/join_nodes.hpp"

#include <utility>

#include "host/graph/passes/join_block_bias.hpp"
#include "host/graph/passes/join_fused_matmul.hpp"
#include "host/graph/passes/join_gemm.hpp"
#include "host/graph/passes/join_primitives.hpp"
#include "host/graph/passes/join_shuffle.hpp"
#include "host/graph/passes/join_skip_normalization.hpp"

namespace gemm64 {

OnnxModel with_joined_nodes(OnnxModel model, const ImportOptions& import) {
  for (const auto pass : {with_joined_primitives, with_joined_gemms, with_joined_skips,
                          with_joined_block_biases, with_joined_products, with_joined_shuffles}) {
    model = pass(std::move(model), import);
  }
  return model;
}

}  // namespace gemm64
