// SPDX-License-Identifier: Apache-2.0
// What transformers are made of, as ONNX Runtime's optimizers fuse it.
#include <fmt/format.h>

#include "host/onnx/shape_rules.hpp"

namespace gemm64 {
namespace shapes {

/// Attention and QAttention: a sequence times one matrix of queries, keys and values.
void fused_attention(RuleNode& node) {
  const Dims& x = node.dims(0);
  const Dims& weights = node.dims(1);
  node.require(
      x.size() == 3 && weights.size() == 2 && weights[0] == x[2],
      fmt::format("its input is {} and its weights are {}", dims_text(x), dims_text(weights)));
  const Dims sizes = node.list("qkv_hidden_sizes");
  node.require(sizes.empty() || sizes.size() == 3, "qkv_hidden_sizes does not have three sizes");
  const bool is_quantized = node.proto().op_type() == "QAttention";
  node.set(0, node.input(is_quantized ? 3 : 0).data_type,
           {x[0], x[1], sizes.empty() ? weights[1] / 3 : sizes[2]});
}

/// Sums of embeddings, normalized; how many places of each sequence count; the sums.
void embedded(RuleNode& node) {
  const Dims& ids = node.dims(0);
  const Dims& words = node.dims(2);
  node.require(ids.size() == 2 && words.size() == 2,
               fmt::format("its numbers are {} and its embedding is {}; both must be matrices",
                           dims_text(ids), dims_text(words)));
  const Dims result{ids[0], ids[1], words[1]};
  const int type = node.input(2).data_type;
  node.set(0, type, result);
  node.set(1, onnx::TensorProto::INT32, {ids[0]});
  node.set(2, type, result);
}

}  // namespace shapes
}  // namespace gemm64
