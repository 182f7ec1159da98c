// SPDX-License-Identifier: Apache-2.0
// What transformers are made of. Of attention only the first output has a shape: what it keeps of
// keys and values is as long as the past.
#include <fmt/format.h>

#include "host/graph/onnx/shape_rules.hpp"

namespace gemm64 {
namespace shapes {

namespace {

/// [batch][length][heads * size], from sizes with as many heads as the node's attribute says.
std::int64_t size_of_head(const RuleNode& node, const Dims& dims, const char* heads) {
  const std::int64_t count = node.integer(heads, 0);
  node.require(dims.size() == 3 && count > 0 && dims[2] % count == 0,
               fmt::format("{} is no sequence of {} heads", dims_text(dims), count));
  return dims[2] / count;
}

}  // namespace

/// ONNX's own, of sequences or of heads.
void attention(RuleNode& node) {
  const Dims& q = node.dims(0);
  const Dims& v = node.dims(2);
  const int type = node.input(0).data_type;
  node.require((q.size() == 3 || q.size() == 4) && v.size() == q.size(),
               fmt::format("queries of {} and values of {}", dims_text(q), dims_text(v)));
  if (q.size() == 4) return node.set(0, type, {q[0], q[1], q[2], v[3]});
  size_of_head(node, q, "q_num_heads");
  const std::int64_t size = size_of_head(node, v, "kv_num_heads");
  node.set(0, type, {q[0], q[1], node.integer("q_num_heads", 0) * size});
}

void multi_head_attention(RuleNode& node) {
  const Dims& q = node.dims(0);
  if (q.size() != 3 || !node.has(2)) throw NotKnown{"its queries, keys and values are packed"};
  const Dims& v = node.dims(2);
  node.require(v.size() == 3 || v.size() == 4, fmt::format("values of {}", dims_text(v)));
  node.set(0, node.input(0).data_type, {q[0], q[1], v.size() == 3 ? v[2] : v[1] * v[3]});
}

/// Without keys the queries hold keys and values, too.
void group_query_attention(RuleNode& node) {
  Dims result = node.dims(0);
  node.require(result.size() == 3, fmt::format("queries of {}", dims_text(result)));
  if (!node.has(1)) {
    const std::int64_t heads = node.integer("num_heads", 0);
    const std::int64_t all = heads + 2 * node.integer("kv_num_heads", 0);
    node.require(heads > 0 && all > 0 && result[2] % all == 0,
                 fmt::format("{} is no sequence of {} heads", dims_text(result), all));
    result[2] = result[2] / all * heads;
  }
  node.set(0, node.input(0).data_type, result);
}

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
