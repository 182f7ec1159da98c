// SPDX-License-Identifier: Apache-2.0
#include "host/execute/batched_model.hpp"

#include <gtest/gtest.h>

#include "tests/host/execute/run_node.hpp"
#include "tests/host/onnx_text.hpp"

namespace gemm64 {
namespace {

BatchedModel load(const std::string& graph, const InputSources& sources) {
  return load_with_inputs(
      [&](const ImportOptions& import) { return load_text(graph, {}, 13, import); }, {},
      [](const OnnxModel&) {},
      [&](const OnnxModel&, const InputOptions&, std::int64_t) { return sources; });
}

TEST(BatchedModel, WithoutInputsIsOneImage) {
  const BatchedModel found =
      load("() => (float[2] y) {c = Constant <value_floats = [1.0, 2.0]> () y = Neg(c)}", {});
  EXPECT_EQ(found.images, 1);
  EXPECT_EQ(found.inputs.passes(), 1);
}

TEST(BatchedModel, OfAScalarIsOneImage) {
  const BatchedModel found =
      load("(float x) => (float y) {y = Neg(x)}", {{"x", InputSource::of(floats({}, {3}))}});
  EXPECT_EQ(found.images, 1);
  EXPECT_EQ(found.inputs.passes(), 1);
}

}  // namespace
}  // namespace gemm64
