// SPDX-License-Identifier: Apache-2.0
// How many positions a window has, where rounding up and padding meet.

#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

std::int64_t pooled(int size, int kernel, int stride, int pad, int dilation, bool ceil) {
  const std::string graph = fmt::format(
      "(float[1,1,{}] x) => (float[1,1,N] y) {{y = MaxPool<kernel_shape=[{}], strides=[{}],"
      " pads=[{},{}], dilations=[{}], ceil_mode={}>(x)}}",
      size, kernel, stride, pad, pad, dilation, ceil ? 1 : 0);
  return load_text(graph).type("y")->dims[2];
}

TEST(CeilMode, GivesThePositionsThatPyTorchGives) {
  // What torch.nn.functional.max_pool1d gives: a last window that begins beyond the input and its
  // first padding is left out.
  struct Row {
    int size, kernel, stride, pad, dilation, expected;
  };
  const Row rows[] = {{2, 1, 2, 0, 1, 1}, {2, 2, 3, 1, 1, 1},  {2, 3, 4, 1, 1, 1},
                      {5, 1, 3, 0, 1, 2}, {5, 2, 2, 1, 1, 3},  {5, 2, 2, 1, 2, 3},
                      {6, 2, 3, 0, 1, 2}, {6, 2, 4, 1, 2, 2},  {7, 2, 2, 1, 1, 4},
                      {7, 2, 4, 0, 1, 2}, {13, 2, 2, 1, 1, 7}, {13, 2, 4, 1, 1, 4},
                      {6, 3, 2, 0, 1, 3}, {56, 3, 2, 0, 1, 28}};
  for (const Row& row : rows) {
    EXPECT_EQ(pooled(row.size, row.kernel, row.stride, row.pad, row.dilation, true), row.expected)
        << row.size << " " << row.kernel << " " << row.stride << " " << row.pad;
  }
}

TEST(CeilMode, MattersIfStrideDoesNotDivide) {
  EXPECT_EQ(pooled(56, 3, 2, 0, 1, false), 27);
  EXPECT_EQ(pooled(55, 3, 2, 0, 1, false), 27);
  EXPECT_EQ(pooled(55, 3, 2, 0, 1, true), 27);
}

}  // namespace
}  // namespace gemm64
