// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/batched_model.hpp"

#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"
#include "tests/unit/runtime/tensors.hpp"

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

// Scalars go with every image, whichever name comes first.
TEST(BatchedModel, TakesImagesNextToScalars) {
  for (const std::string scalar : {"a", "z"}) {
    const std::string graph =
        "(float " + scalar + ", float[1, 2] x) => (float[1, 2] y) {y = Mul(x, " + scalar + ")}";
    const BatchedModel found =
        load(graph, {{scalar, InputSource::of(floats({}, {3}))},
                     {"x", InputSource::of(floats({3, 2}, {1, 2, 3, 4, 5, 6}))}});
    EXPECT_EQ(found.images, 3);
    ASSERT_EQ(found.inputs.passes(), 1);
    EXPECT_EQ(found.model.type("x")->dims, (Dims{3, 2}));
    const NamedTensors given = found.inputs.take(0, 3);
    EXPECT_EQ(given.at(scalar).rank(), 0U);
    EXPECT_EQ(given.at("x").dims(), (Dims{3, 2}));
  }
}

TEST(BatchedModel, GivesAScalarToEachPass) {
  InputOptions options;
  options.batch = 2;
  const BatchedModel found = load_with_inputs(
      [&](const ImportOptions& import) {
        return load_text("(float a, float[1, 2] x) => (float[1, 2] y) {y = Mul(x, a)}", {}, 13,
                         import);
      },
      options, [](const OnnxModel&) {},
      [&](const OnnxModel&, const InputOptions&, std::int64_t) {
        return InputSources{{"a", InputSource::of(floats({}, {3}))},
                            {"x", InputSource::of(floats({3, 2}, {1, 2, 3, 4, 5, 6}))}};
      });
  ASSERT_EQ(found.inputs.passes(), 2);
  const NamedTensors last = found.inputs.take(2, 2);
  EXPECT_EQ(last.at("a").rank(), 0U);
  EXPECT_EQ(last.at("x").dim(0), 2);
}

/// A model of images of one pixel with `images` of these.
BatchedModel load_pixels(std::int64_t images) {
  const Tensor pixels(onnx::TensorProto::FLOAT, {images, 1, 1, 1});
  return load("(float[1,1,1,1] x) => (float[1,1,1,1] y) {y = Neg(x)}",
              {{"x", InputSource::of(pixels)}});
}

TEST(BatchedModel, TakesImagesInEqualPasses) {
  const auto expect = [](std::int64_t images, std::int64_t passes, std::int64_t at_once) {
    const BatchedModel found = load_pixels(images);
    EXPECT_EQ(found.images, images);
    EXPECT_EQ(found.inputs.passes(), passes) << images;
    EXPECT_EQ(found.model.type("x")->dims, (Dims{at_once, 1, 1, 1}));
  };
  expect(256, 1, 256);
  expect(257, 2, 129);
  expect(514, 3, 172);
  expect(1024, 4, 256);
}

TEST(BatchedModel, MakesInputsForImagesInTurn) {
  InputOptions options;
  options.batch = 3;
  std::vector<std::int64_t> in_turn;
  const auto load_graph = [&](const std::string& graph) {
    return load_with_inputs(
        [&](const ImportOptions& import) { return load_text(graph, {}, 13, import); }, options,
        [](const OnnxModel&) {},
        [&](const OnnxModel&, const InputOptions&, std::int64_t images) {
          in_turn.push_back(images);
          return InputSources{{"x", InputSource::of(floats({3, 2}, {1, 2, 3, 4, 5, 6}))}};
        });
  };
  EXPECT_EQ(load_graph("(float[1,2] x) => (float[1,2] y) {y = Neg(x)}").inputs.passes(), 1);
  const std::string mixes =
      "(float[1,2] x) => (float[2,1] y) {s = Constant <value_ints = [2, 1]> () y = Reshape(x, s)}";
  EXPECT_EQ(load_graph(mixes).inputs.passes(), 3);
  EXPECT_EQ(in_turn, (std::vector<std::int64_t>{0, 3}));
  const std::string second =
      "(float[1,2] x, float[1,2] z) => (float[2,1] y) {s = Constant <value_ints = [2, 1]> () "
      "a = Add(x, z) y = Reshape(a, s)}";
  const BatchedModel found = load_with_inputs(
      [&](const ImportOptions& import) { return load_text(second, {}, 13, import); }, options,
      [](const OnnxModel&) {},
      [&](const OnnxModel&, const InputOptions&, std::int64_t) {
        return InputSources{{"x", InputSource::of(floats({3, 2}, {1, 2, 3, 4, 5, 6}))},
                            {"z", InputSource::of(floats({1, 2}, {1, 2}))}};
      });
  EXPECT_EQ(found.images, 3) << "as many as were asked for, where inputs differ";
  EXPECT_EQ(found.inputs.passes(), 3);
}

TEST(BatchedModel, TakesOpenSizesByName) {
  const std::string graph =
      "(float[batch,length] x, float[batch,length] m) => (float[batch,length] y) {y = Mul(x, m)}";
  const auto load_named = [&](const InputOptions& options) {
    return load_with_inputs(
        [&](const ImportOptions& import) { return load_text(graph, {}, 13, import); }, options,
        [](const OnnxModel&) {});
  };
  InputOptions options;
  options.shapes = {{"batch", {2}}, {"length", {5}}};
  EXPECT_EQ(load_named(options).model.type("y")->dims, (Dims{2, 5}));
  options.shapes = {{"x", {2, 4}}};
  EXPECT_EQ(load_named(options).model.type("y")->dims, (Dims{2, 4}));
  EXPECT_THROW(load_named({}), UsageError);
  EXPECT_THROW(load_with_inputs(
                   [&](const ImportOptions& import) { return load_text(graph, {}, 13, import); },
                   options, [](const OnnxModel&) {},
                   [&](const OnnxModel&, const InputOptions&, std::int64_t) {
                     return InputSources{
                         {"m", InputSource::of(floats({2, 3}, {1, 2, 3, 4, 5, 6}))},
                         {"x", InputSource::of(floats({2, 3}, {1, 2, 3, 4, 5, 6}))}};
                   }),
               UsageError)
      << "the arrays contradict the shape that was given";
}

}  // namespace
}  // namespace gemm64
