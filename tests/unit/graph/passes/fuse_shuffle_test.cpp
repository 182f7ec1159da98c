// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_shuffle.hpp"

#include "tests/test.hpp"
#include "tests/unit/graph/passes/node_list.hpp"

namespace gemm64 {
namespace {

/// A shuffle of 6 channels, as [1, `parts`, 4, 4], whose axes are put in `order`.
OnnxModel shuffled(const std::string& type, const std::string& parts, const std::string& order) {
  return fuse_shuffles(
      load_text("(" + type + "[1,6,4,4] x) => (" + type + "[1,6,4,4] y) <int64[5] s = {1," + parts +
                ",4,4}, int64[4] t = {1,6,4,4}> {a = Reshape(x, s) b = Transpose<perm = [" + order +
                "]>(a) y = Reshape(b, t)}"));
}

TEST(FuseShuffle, GathersChannelsOfBytes) {
  const OnnxModel model = shuffled("uint8", "2,3", "0,2,1,3,4");
  EXPECT_EQ(node_list(model), "Gather(x, y channels)");
  const onnx::TensorProto& channels = *model.constant("y channels");
  EXPECT_EQ(std::vector<std::int64_t>(channels.int64_data().begin(), channels.int64_data().end()),
            (std::vector<std::int64_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(node_list(shuffled("int8", "3,2", "0,2,1,3,4")), "Gather(x, y channels)");
}

TEST(FuseShuffle, LeavesFloatsAndOtherMoves) {
  const std::string left = "Reshape(x, s) Transpose(a) Reshape(b, t)";
  EXPECT_EQ(node_list(shuffled("float", "2,3", "0,2,1,3,4")), left);
  EXPECT_EQ(node_list(shuffled("uint8", "2,3", "0,2,1,4,3")), left);
  EXPECT_EQ(node_list(shuffled("uint8", "2,3", "0,1,2,3,4")), left);
}

}  // namespace
}  // namespace gemm64
