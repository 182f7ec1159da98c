// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/broadcast.hpp"

#include <numeric>

#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(Broadcast, RepeatsValuesAsNumpyDoes) {
  const Dims to{2, 3, 4, 5};
  for (const Dims& from : std::vector<Dims>{{2, 3, 4, 5},
                                            {1},
                                            {5},
                                            {4, 1},
                                            {3, 1, 5},
                                            {2, 1, 4, 1},
                                            {2, 1, 1, 1},
                                            {1, 3, 1, 5},
                                            {}}) {
    Tensor tensor(onnx::TensorProto::INT32, from);
    auto* const values = tensor.mutable_values<std::int32_t>();
    std::iota(values, values + tensor.elements(), 0);
    const Tensor found = broadcast(tensor, to);
    ASSERT_EQ(found.dims(), to);
    for (std::int64_t i = 0; i < found.elements(); ++i) {
      std::int64_t rest = i, step = 1, expected = 0;
      for (std::size_t axis = to.size(); axis-- > 0; rest /= to[axis]) {
        const std::size_t missing = to.size() - from.size();
        if (axis < missing) continue;
        const std::int64_t own = from[axis - missing];
        expected += rest % to[axis] % own * step;
        step *= own;
      }
      ASSERT_EQ(found.values<std::int32_t>()[i], expected) << describe(tensor) << ", value " << i;
    }
  }
  EXPECT_EQ(broadcast(Tensor(onnx::TensorProto::INT8, {0, 1}), {0, 7}).elements(), 0);
}

TEST(Broadcast, FindsTheCommonSizes) {
  Dims common;
  EXPECT_TRUE(broadcast_dims({3, 1}, {2, 1, 4}, common));
  EXPECT_EQ(common, (Dims{2, 3, 4}));
  EXPECT_FALSE(broadcast_dims({3}, {2}, common));
}

}  // namespace
}  // namespace gemm64
