// SPDX-License-Identifier: Apache-2.0
#include "host/execute/executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/graph/onnx/supported.hpp"
#include "tests/says.hpp"
#include "tests/unit/execute/run_node.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

TEST(Executor, RunsNodesInTheirOrder) {
  const OnnxModel model = load_text("(float[2] x) => (float[2] z) {y = Add(x, x) z = Mul(y, x)}");
  const NamedTensors outputs = Executor(model).run({{"x", floats({2}, {3, 4})}});
  EXPECT_EQ(values_of<float>(outputs.at("z")), (std::vector<float>{18, 32}));
}

TEST(Executor, FreesValuesAfterTheirLastUse) {
  const OnnxModel model = load_text(
      "(float[2] x) => (float[2] e) {a = Relu(x) b = Relu(a) c = Add(a, b) d = Relu(c) e = "
      "Relu(d)}");
  std::map<std::string, std::weak_ptr<const void>> values;
  std::vector<std::string> alive;
  ExecutorHooks hooks;
  hooks.after = [&](const Step& step, const Tensors& outputs) {
    values[step.context.node->output(0)] = outputs[0].storage();
    std::string names;
    for (const auto& [name, value] : values) names += value.expired() ? "" : name;
    alive.push_back(names);
  };
  Executor(model).run({{"x", floats({2}, {3, 4})}}, hooks);
  // What a node has read for the last time goes when it has run, and its output with it.
  EXPECT_EQ(alive, (std::vector<std::string>{"a", "ab", "abc", "cd", "de"}));
}

TEST(Executor, FreesOutputsThatNobodyReads) {
  const OnnxModel model =
      load_text("(float[2] x) => (float[1] y) {y, rest = Split <axis = 0> (x) z = Relu(y)}");
  std::weak_ptr<const void> rest;
  bool freed = false;
  ExecutorHooks hooks;
  hooks.after = [&](const Step& step, const Tensors& outputs) {
    if (step.context.node->op_type() == "Split") rest = outputs[1].storage();
    if (step.context.node->op_type() == "Relu") freed = rest.expired();
  };
  Executor(model).run({{"x", floats({2}, {3, 4})}}, hooks);
  EXPECT_TRUE(freed);
}

TEST(Executor, DoesNotCopyWeights) {
  const OnnxModel model =
      load_text("(float[1,2] x, float[2,64] w) => (float[1,64] y) {y = MatMul(x, w)}", {"w"});
  ExecutorHooks hooks;
  const void* used = nullptr;
  hooks.instead = [&](const Step& /*step*/, const Tensors& inputs) {
    used = inputs[1].raw();
    return Tensors{};
  };
  Executor(model).run({{"x", floats({1, 2}, {3, 4})}}, hooks);
  EXPECT_EQ(used, model.constant("w")->raw_data().data());
}

TEST(Executor, LetsAHookComputeANode) {
  const OnnxModel model = load_text("(float[1] x) => (float[1] z) {y = Relu(x) z = Add(y, y)}");
  ExecutorHooks hooks;
  hooks.instead = [](const Step& step, const Tensors& /*inputs*/) {
    return step.context.node->op_type() == "Relu" ? Tensors{floats({1}, {21})} : Tensors{};
  };
  const NamedTensors outputs = Executor(model).run({{"x", floats({1}, {1})}}, hooks);
  EXPECT_EQ(values_of<float>(outputs.at("z")), (std::vector<float>{42}));
}

TEST(Executor, NamesEveryUnsupportedOperatorBeforeAnythingRuns) {
  onnx::ModelProto proto = parse_model(
      "(float[1] x) => (float[1] z) {a = MeanVarianceNormalization(x) b = Relu(a) c = "
      "MeanVarianceNormalization(b) "
      "z = RandomUniformLike(c)}");
  proto.mutable_graph()->mutable_node(0)->set_name("encoder/max");
  const OnnxModel model = OnnxModel::from_proto(std::move(proto), "test.onnx");
  const std::string message = message_of([&] { Executor executor(model); });
  EXPECT_THAT(message,
              testing::AllOf(Says("test.onnx: not supported: MeanVarianceNormalization (2 nodes, "
                                  "the first is encoder/max), "
                                  "RandomUniformLike (RandomUniformLike number 3)"),
                             Lacks("\n")));
}

TEST(Executor, TellsOfDropoutInTrainingModeWithoutASeed) {
  const std::string graph =
      "(float[4] x) => (float[4] y) {t = Constant<value_int=%>() m = Cast<to=9>(t)"
      " r = Constant<value_float=0.5>() y = Dropout@(x, r, m)}";
  const auto note = [&graph](const std::string& mode, const std::string& attributes) {
    std::string text = graph;
    text.replace(text.find('%'), 1, mode);
    text.replace(text.find('@'), 1, attributes);
    return dropout_note(load_text(text));
  };
  EXPECT_EQ(
      note("1", ""),
      "The file asks for training mode in 1 Dropout node; it kept every value, as in inference. "
      "On the host it may end a program; export the network in eval mode, or let gemm64 "
      "quantize leave it out.");
  EXPECT_EQ(note("0", ""), "");
  EXPECT_EQ(note("1", "<seed=3>"), "");
}

TEST(Executor, RefusesInputsThatAreNoNumbers) {
  onnx::ModelProto proto = parse_model("(float[4] x) => (float[4] y) {y = Identity(x)}");
  auto& type = *proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::STRING);
  const OnnxModel model = OnnxModel::from_proto(proto, "test.onnx");
  EXPECT_THAT(why_not_run(model), Says("its input 'x' holds values of type string"));
  EXPECT_THROW(Executor{model}, UsageError);
}

TEST(Executor, RefusesFormsFromBeforeItsTime) {
  const OnnxModel model = load_text("(float[1] x) => (float[1] z) {z = Add(x, x)}", {}, 6);
  EXPECT_THAT(message_of([&] { Executor executor(model); }), Says("Add as before opset 7"));
}

TEST(Executor, SaysWhichNodeCannotRunAndWhy) {
  const OnnxModel model = load_text("(float[N] x, float[M] y) => (float[K] z) {z = Add(x, y)}");
  const Executor executor(model);
  const std::string message = message_of([&] {
    executor.run({{"x", floats({2}, {1, 2})}, {"y", floats({3}, {1, 2, 3})}});
  });
  EXPECT_THAT(message, Says("test.onnx: Add number 0 (Add): its inputs, float32 2 and float32 "
                            "3, do not fit"));
}

TEST(Executor, ChecksWhatItIsGiven) {
  const OnnxModel model = load_text("(float[1] x) => (float[1] z) {z = Relu(x)}");
  const Executor executor(model);
  EXPECT_THAT(message_of([&] { executor.run({}); }), Says("input 'x' is not given"));
  EXPECT_THAT(message_of([&] { executor.run({{"x", ints({1})}}); }), Says("takes float32"));
  EXPECT_THAT(message_of([&] {
                executor.run({{"x", floats({1, 1}, {1})}});
              }),
              Says("has 1 dimension,"));
}

TEST(Executor, KnowsWeightsThatNodesPrepare) {
  const OnnxModel model = load_text(
      "(float[1,3] x, float[2,3] w) => (float[1,2] z) {t = Transpose(w) z = MatMul(x, t) q = "
      "Transpose(x) r = MatMul(x, q)}",
      {"w"});
  const Executor executor(model);
  EXPECT_TRUE(executor.steps()[1].context.constant_weights);
  EXPECT_FALSE(executor.steps()[3].context.constant_weights);
}

}  // namespace
}  // namespace gemm64
