// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_nodes.hpp"

#include <utility>

#include "host/graph/passes/fuse_block_bias.hpp"
#include "host/graph/passes/fuse_gemm.hpp"
#include "host/graph/passes/fuse_matmul.hpp"
#include "host/graph/passes/fuse_primitives.hpp"
#include "host/graph/passes/fuse_shuffle.hpp"
#include "host/graph/passes/fuse_skip_normalization.hpp"

namespace gemm64 {

OnnxModel with_joined_nodes(OnnxModel model, const ImportOptions& import) {
  for (const auto pass : {with_joined_primitives, with_joined_gemms, with_joined_skips,
                          with_joined_block_biases, with_joined_products, with_joined_shuffles}) {
    model = pass(std::move(model), import);
  }
  return model;
}

}  // namespace gemm64
