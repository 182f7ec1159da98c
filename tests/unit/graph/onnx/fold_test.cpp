// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/fold.hpp"

#include "tests/test.hpp"
#include "tests/unit/onnx_parser.hpp"
#include "tests/unit/runtime/tensors.hpp"

namespace gemm64 {
namespace {

TEST(Fold, GivesTheResultsOfANodeOfConstants) {
  const auto folded = fold(parse_node("y = Add (a, b)"), 13,
                           {floats({2}, {1, 2}).to_proto(), floats({2}, {10, 20}).to_proto()});
  ASSERT_TRUE(folded);
  EXPECT_EQ(values_of<float>(Tensor::from_proto(folded->at(0))), (std::vector<float>{11, 22}));
}

TEST(Fold, LeavesWhatItCannotRun) {
  const onnx::TensorProto one = floats({1}, {1}).to_proto();
  EXPECT_FALSE(fold(parse_node("y = NoSuchOperator (a)"), 13, {one}));
  EXPECT_FALSE(fold(parse_node("y = HardSwish (a)"), 13, {one})) << "there since version 14";
  EXPECT_TRUE(fold(parse_node("y = HardSwish (a)"), 14, {one}));
  EXPECT_FALSE(fold(parse_node("y = MatMul (a, b)"), 13,
                    {floats({2, 3}, std::vector<float>(6)).to_proto(),
                     floats({2, 3}, std::vector<float>(6)).to_proto()}))
      << "shapes that do not fit";
}

}  // namespace
}  // namespace gemm64
