// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/memory_need.hpp"

#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"
#include "tests/unit/runtime/quantized_graph_text.hpp"

namespace gemm64 {
namespace {

TEST(MemoryNeed, IsTwiceWhatIsThereAtOnce) {
  // x, then x and a (both read later), then x, a and y.
  EXPECT_EQ(memory_need(
                load_text("(float[10,4] x) => (float[10,4] y) {a = Relu(x) b = Relu(a) c = Relu(b) "
                          "y = Add(c, x)}",
                          {})),
            2.0 * 3 * 160);
  EXPECT_EQ(memory_need(load_text("(float[10,4] x) => (float[10,4] y) {y = Add(x, x)}", {})),
            2.0 * 2 * 160);
}

TEST(MemoryNeed, LeavesConstantsOut) {
  EXPECT_EQ(memory_need(load_text(
                "(float[10,4] x, float[4,3] w) => (float[10,3] y) {y = MatMul(x, w)}", {"w"})),
            2.0 * (160 + 120));
}

TEST(MemoryNeed, CountsExpectedResults) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "y", 8, 8, 1);
  EXPECT_EQ(memory_need(text.model()), 2.0 * (288 + 288 + 12 * 288));
}

TEST(MemoryNeed, CountsImagesInTurn) {
  EXPECT_EQ(memory_need(load_text("(float[1,4] x) => (float[1,4] y) {y = Relu(x)}", {}), 5),
            2.0 * 5 * 32);
}

TEST(MemoryNeed, IsHugeForAHugeBatch) {
  ImportOptions options;
  options.batch = std::int64_t{1} << 60;
  EXPECT_GT(
      memory_need(load_text("(float[N,1] x) => (float[N,1] y) {y = Relu(x)}", {}, 13, options)),
      machine_memory());
  EXPECT_GT(machine_memory(), 1e6);
}

}  // namespace
}  // namespace gemm64
