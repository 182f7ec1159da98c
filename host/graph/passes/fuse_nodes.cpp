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

OnnxModel fuse_nodes(OnnxModel model, const ImportOptions& import) {
  for (const auto pass : {fuse_primitives, fuse_gemms, fuse_skip_normalizations, fuse_block_biases,
                          fuse_products, fuse_shuffles}) {
    model = pass(std::move(model), import);
  }
  return model;
}

}  // namespace gemm64
