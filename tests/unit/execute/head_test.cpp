// SPDX-License-Identifier: Apache-2.0
#include "host/execute/head.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/execute/run_node.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr std::int64_t kImages = 70;

/// Images of 1x4x4, and which of them were asked for, as first and count.
class Images {
 public:
  Images() {
    std::mt19937 random(3);
    all_ = random_floats({kImages, 1, 4, 4}, random);
  }

  NetworkInputs inputs(std::int64_t images = kImages) {
    NetworkInputs inputs;
    inputs.images = images;
    inputs.take = [this](std::int64_t first, std::int64_t count) {
      asked.emplace_back(first, count);
      return NamedTensors{{"x", part(first, count)}};
    };
    return inputs;
  }

  Tensor part(std::int64_t first, std::int64_t count) const {
    Tensor part(all_.type(), {count, 1, 4, 4});
    std::memcpy(part.mutable_raw(), all_.values<float>() + 16 * first, part.bytes());
    return part;
  }

  std::vector<std::pair<std::int64_t, std::int64_t>> asked;

 private:
  Tensor all_;
};

/// The bytes of a tensor, whatever its type.
std::string bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()};
}

/// The value "y" after all steps.
Tensor y_of(const OnnxModel& model, const NetworkInputs& inputs) {
  const Executor executor(model);
  return run_head(executor, executor.steps().size(), inputs, {}).at("y");
}

OnnxModel small_network() {
  return load_text(
      "(float[70,1,4,4] x, float[3,1,3,3] w, float[3] b) => (float[70,3] y) "
      "{c = Conv <pads = [1,1,1,1]> (x, w, b) r = Relu(c) t = Tanh(r) "
      "p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (t) "
      "a = AveragePool <kernel_shape = [2,2]> (p) d = Dropout(a) y = Flatten(d)}",
      {"w", "b"});
}

TEST(Head, GivesManyImagesInGroupsTheValuesOfEachImageAlone) {
  const OnnxModel model = small_network();
  Images images;
  const std::vector<float> found = values_of<float>(y_of(model, images.inputs()));
  EXPECT_THAT(images.asked, ElementsAre(Pair(0, 64), Pair(64, 6)));
  ASSERT_EQ(found.size(), kImages * 3U);
  const Executor executor(model);
  for (std::int64_t i = 0; i < kImages; ++i) {
    const NamedTensors alone = executor.run({{"x", images.part(i, 1)}});
    EXPECT_EQ(values_of<float>(alone.at("y")),
              std::vector<float>(found.begin() + 3 * i, found.begin() + 3 * i + 3))
        << "image " << i;
  }
}

TEST(Head, TakesAFewImagesAtOnce) {
  Images images;
  EXPECT_EQ(y_of(small_network(), images.inputs(64)).dims(), (Dims{64, 3}));
  EXPECT_THAT(images.asked, ElementsAre(Pair(0, 64)));
}

TEST(Head, StopsBeforeTheStepThatIsNamed) {
  const OnnxModel model = small_network();
  const Executor executor(model);
  Images images;
  const Values values = run_head(executor, 2, images.inputs(), {});
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values.at("r").dims(), (Dims{kImages, 3, 4, 4}));
}

TEST(Head, TellsItsHooksOfEachGroup) {
  const OnnxModel model = small_network();
  const Executor executor(model);
  Images images;
  std::vector<std::int64_t> rows;
  ExecutorHooks hooks;
  hooks.after = [&](const Step&, const Tensors& outputs) { rows.push_back(outputs[0].dim(0)); };
  run_head(executor, 2, images.inputs(), hooks);
  EXPECT_THAT(rows, ElementsAre(64, 64, 6, 6));
}

TEST(Head, NeverCutsWhereAStepMixesImages) {
  const std::pair<const char*, std::vector<std::string>> graphs[] = {
      {"{y = Softmax <axis = 0> (x)}", {}},
      {"{y = Reshape(x, s)}", {}},
      {"{y = Flatten <axis = 0> (x)}", {}},
      {"{y = Flatten <axis = 2> (x)}", {}},
      {"{y = Transpose <perm = [3,1,2,0]> (x)}", {}},
      {"{r = Relu(x) y = Concat <axis = 0> (r, x)}", {}},
      // Positions are counted from the first image on.
      {"{p, y = MaxPool <kernel_shape = [2,2]> (x)}", {}},
      // What is dropped depends on the place in the batch.
      {"<float r = {0.5}, bool t = {1}> {y = Dropout <seed = 1> (x, r, t)}", {}},
      // Weights that are no images, and images that are weights.
      {"{v = Relu(w) y = Conv(x, v)}", {"w"}},
      {"{v = AveragePool <kernel_shape = [2,2]> (x) y = Conv(x, v)}", {}}};
  for (const auto& [nodes, weights] : graphs) {
    SCOPED_TRACE(nodes);
    const std::string inputs = weights.empty() ? "" : ", float[2,1,3,3] w";
    onnx::ModelProto proto =
        parse_model("(float[70,1,4,4] x" + inputs + ") => (float y) " + nodes, weights);
    proto.mutable_graph()->mutable_output(0)->clear_type();
    onnx::TensorProto& sizes = *proto.mutable_graph()->add_initializer();
    sizes.set_name("s");
    sizes.set_data_type(onnx::TensorProto::INT64);
    sizes.add_dims(1);
    sizes.add_int64_data(std::string(nodes).find("Reshape") != std::string::npos ? -1 : 0);
    const OnnxModel model = OnnxModel::from_proto(std::move(proto), "test.onnx");
    Images images;
    const Tensor found = y_of(model, images.inputs());
    EXPECT_THAT(images.asked, ElementsAre(Pair(0, kImages)));
    const NamedTensors whole = Executor(model).run({{"x", images.part(0, kImages)}});
    EXPECT_EQ(found.dims(), whole.at("y").dims());
    EXPECT_EQ(bytes_of(found), bytes_of(whole.at("y")));
  }
}

TEST(NetworkInputs, OfTensorsAreThese) {
  const NetworkInputs inputs = NetworkInputs::of({{"x", floats({2}, {3, 4})}});
  EXPECT_EQ(inputs.images, 1);
  EXPECT_EQ(values_of<float>(inputs.take(0, 1).at("x")), (std::vector<float>{3, 4}));
}

TEST(NetworkInputs, InTurnGiveOneImageForEachPass) {
  const NetworkInputs inputs =
      NetworkInputs::in_passes({{"x", InputSource::of(floats({2, 2}, {1, 2, 3, 4}))},
                                {"scale", InputSource::of(floats({1}, {9}))}},
                               2, 1, "the file says so");
  ASSERT_EQ(inputs.passes(), 2);
  const NetworkInputs second = inputs.pass(1);
  EXPECT_EQ(second.images, 1);
  EXPECT_EQ(second.passes(), 1);
  const NamedTensors tensors = second.take(0, 1);
  EXPECT_EQ(tensors.at("x").dims(), (Dims{1, 2}));
  EXPECT_EQ(values_of<float>(tensors.at("x")), (std::vector<float>{3, 4}));
  EXPECT_EQ(values_of<float>(tensors.at("scale")), (std::vector<float>{9}));
}

TEST(NetworkInputs, FillTheLastPassWithTheLastImage) {
  const Tensor images = floats({5, 1}, {1, 2, 3, 4, 5});
  const Tensor table = floats({2}, {8, 9});
  const NetworkInputs inputs = NetworkInputs::in_passes(
      {{"x", InputSource::of(images)}, {"t", InputSource::of(table)}}, 5, 3);
  ASSERT_EQ(inputs.passes(), 2);
  EXPECT_EQ(inputs.images_of(0), 3);
  EXPECT_EQ(inputs.images_of(1), 2);
  const NamedTensors last = inputs.pass(1).take(0, 1);
  EXPECT_THAT(values_of<float>(last.at("x")), ElementsAre(4, 5, 5));
  EXPECT_THAT(values_of<float>(last.at("t")), ElementsAre(8, 9));
}

}  // namespace
}  // namespace gemm64
