// SPDX-License-Identifier: Apache-2.0
// Files made for one image, which are given several.

#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"
#include "tests/unit/run_on_cpu.hpp"
#include "tests/unit/runtime/tensors.hpp"

namespace gemm64 {
namespace {

constexpr std::int64_t kBatch = 3;

/// Runs `graph`, whose input x is [1, 3, 2, 2], with a batch of 3, and image by image: both must
/// be the same.
void expect_images_alone(const std::string& graph, const ImportOptions& options) {
  SCOPED_TRACE(graph);
  const OnnxModel one = load_text(graph, {"w"});
  const OnnxModel three = load_text(graph, {"w"}, 13, options);
  std::mt19937 random(7);
  const Tensor x = random_floats({kBatch, 3, 2, 2}, random);
  std::vector<float> wanted;
  for (std::int64_t i = 0; i < kBatch; ++i) {
    const float* image = x.values<float>() + i * 12;
    const Tensor single = floats({1, 3, 2, 2}, std::vector<float>(image, image + 12));
    const std::vector<float> y = values_of<float>(run_on_cpu(one, {{"x", single}}).at("y"));
    wanted.insert(wanted.end(), y.begin(), y.end());
  }
  const Tensor found = run_on_cpu(three, {{"x", x}}).at("y");
  EXPECT_EQ(found.dim(0), kBatch);
  EXPECT_EQ(found.dims(), three.type("y")->dims);
  EXPECT_EQ(values_of<float>(found), wanted);
}

ImportOptions batch_of(std::int64_t batch) {
  ImportOptions options;
  options.batch = batch;
  return options;
}

// As exporters write x.view(1, 12) and the like.
constexpr const char* kReshapes[] = {
    "(float[1,3,2,2] x, float[12,5] w) => (float[1,5] y) <int64[2] s = {1, 12}> "
    "{a = Reshape(x, s) y = MatMul(a, w)}",
    "(float[1,3,2,2] x, float[12,5] w) => (float[1,5] y) "
    "{s = Constant <value_ints = [1, -1]> () a = Reshape(x, s) y = MatMul(a, w)}",
    "(float[1,3,2,2] x, float[12,5] w) => (float[1,5] y) <int64[2] s = {1, -1}> "
    "{a = Reshape(x, s) y = MatMul(a, w)}",
    "(float[1,3,2,2] x, float[4,5] w) => (float[1,3,5] y) <int64[3] s = {1, 0, 4}> "
    "{a = Reshape(x, s) y = MatMul(a, w)}",
    "(float[1,3,2,2] x, float[12,5] w) => (float[1,5] y) <int64[2] s = {-1, 12}> "
    "{a = Reshape(x, s) y = MatMul(a, w)}"};

TEST(Batch, OfAFileForOneImageMayBeAnother) {
  for (const char* graph : kReshapes) expect_images_alone(graph, batch_of(kBatch));
}

TEST(Batch, FollowsTheShapeOfTheInput) {
  ImportOptions options;
  options.input_shapes["x"] = {kBatch, 3, 2, 2};
  for (const char* graph : kReshapes) expect_images_alone(graph, options);
}

TEST(Batch, ReshapesConstantInEachPlace) {
  // The weights' Reshape reads the same shape and keeps it.
  expect_images_alone(
      "(float[1,3,2,2] x, float[12] w) => (float[1,12] y) <int64[2] s = {1, 12}> "
      "{a = Reshape(x, s) b = Reshape(w, s) y = Mul(a, b)}",
      batch_of(kBatch));
}

TEST(Batch, ResizesAllImages) {
  expect_images_alone(
      "(float[1,3,2,2] x) => (float[1,3,4,4] y) <int64[4] s = {1, 3, 4, 4}> "
      "{y = Resize <mode = \"nearest\"> (x, , , s)}",
      batch_of(kBatch));
}

TEST(Batch, IsRefusedWhereTheFileMixesImages) {
  const std::string graph =
      "(float[1,3,2,2] x) => (float[2,6] y) <int64[2] s = {2, 6}> {y = Reshape(x, s)}";
  EXPECT_THAT([&] { load_text(graph, {}, 13, batch_of(kBatch)); },
              Fails("3x3x2x2 cannot become 2x6"));
}

TEST(Batch, OfOneLeavesTheFileAsItIs) {
  EXPECT_EQ(load_text(kReshapes[0], {"w"}, 13, batch_of(1)).graph().initializer_size(), 2);
  EXPECT_EQ(load_text(kReshapes[0], {"w"}, 13, batch_of(2)).graph().initializer_size(), 3);
}

TEST(Batch, IsRefusedIfRowsMixImages) {
  // With three images, ONNX's own rules would make 2x18 of these.
  for (const char* graph :
       {"(float[1,3,2,2] x) => (float y) <int64[2] s = {2, -1}> {y = Reshape(x, s)}",
        "(float[1,3,2,2] x) => (float y) {y = Flatten <axis = 0> (x)}"}) {
    onnx::ModelProto proto = parse_model(graph, {});
    proto.mutable_graph()->mutable_output(0)->clear_type();
    EXPECT_NO_THROW(OnnxModel::from_proto(proto, "test.onnx"));
    EXPECT_THAT([&] { OnnxModel::from_proto(proto, "test.onnx", batch_of(kBatch)); },
                Fails("mixes the 3 images of the batch"));
  }
}

}  // namespace
}  // namespace gemm64
