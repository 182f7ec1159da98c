// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/qdq_double_pairs.hpp"

#include "host/graph/onnx/graph_check.hpp"
#include "host/graph/passes/quantized_graph.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

/// Nodes of a row of `pairs` pairs from `from` to `to`, each with a scale of its own.
std::string row(const std::string& from, const std::string& to, int pairs) {
  std::string nodes, at = from;
  for (int i = 0; i < pairs; ++i) {
    const std::string name = to + std::to_string(i);
    const std::string after = i + 1 == pairs ? to : name + "_float";
    const std::string with = ", s" + std::to_string(i) + ", z";
    nodes += name + " = QuantizeLinear(" + at + with + ") " + after + " = DequantizeLinear(" +
             name + with + ") ";
    at = after;
  }
  return nodes;
}

OnnxModel rows_of_pairs() {
  return load_text(
      "(float[4] x) => (float[4] a, float[4] b) <float s0 = {0.5}, float s1 = {0.25}, "
      "float s2 = {0.125}, int8 z = {3}> {p = Relu(x) q = Neg(x) " +
      row("p", "a", 3) + row("q", "b", 2) + "}");
}

TEST(QdqDoublePairs, OfARowFirstTwoBecomeOne) {
  const std::optional<onnx::ModelProto> joined = fuse_double_pairs(rows_of_pairs());
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->graph().node_size(), 2 + 4 + 2);
  const auto again = fuse_double_pairs(OnnxModel::from_proto(*joined, "again"));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->graph().node_size(), 2 + 2 + 2);
  EXPECT_FALSE(fuse_double_pairs(OnnxModel::from_proto(*again, "last")));
}

TEST(QdqDoublePairs, AreJoinedWithoutCheck) {
  OnnxModel model = rows_of_pairs();
  const std::uint64_t before = graphs_checked();
  const OnnxModel joined = with_quantized_operators(std::move(model), {});
  EXPECT_EQ(graphs_checked(), before);
  EXPECT_NO_THROW(require_valid(joined.proto(), "joined"));
}

}  // namespace
}  // namespace gemm64
