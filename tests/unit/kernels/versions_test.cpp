// SPDX-License-Identifier: Apache-2.0
// Operators whose form changed between opsets 7 and 17: each form means the same. The forms of 13
// and later are in ONNX's own tests (node_test.cpp).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/says.hpp"
#include "tests/unit/execute/run_node.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

std::string refusal(const std::string& text, const Tensors& inputs, std::int64_t opset = 13) {
  return message_of([&] { run_node(text, inputs, opset); });
}

TEST(Squeeze, TakesAxesAsAttributeBefore13) {
  const Tensor x = floats({1, 2, 1}, {1, 2});
  EXPECT_EQ(run_node("y = Squeeze <axes = [2]> (x)", {x}, 11)[0].dims(), (Dims{1, 2}));
  EXPECT_EQ(run_node("y = Squeeze (x, axes)", {x, ints({-1})}, 13)[0].dims(), (Dims{1, 2}));
  EXPECT_EQ(run_node("y = Squeeze (x)", {x}, 11)[0].dims(), (Dims{2}));
  EXPECT_THAT(refusal("y = Squeeze (x, axes)", {x, ints({1})}), Says("not of size 1"));
}

TEST(Unsqueeze, TakesAxesAsAttributeBefore13) {
  const Tensor x = floats({2}, {1, 2});
  EXPECT_EQ(run_node("y = Unsqueeze <axes = [0, 2]> (x)", {x}, 11)[0].dims(), (Dims{1, 2, 1}));
  EXPECT_EQ(run_node("y = Unsqueeze (x, axes)", {x, ints({0, -1})}, 13)[0].dims(), (Dims{1, 2, 1}));
}

TEST(Clip, LeavesZerosSignAtABoundOfZero) {
  const Tensor y = run_node("y = Clip (x, low)", {floats({2}, {-0.0F, -1}), floats({}, {0})})[0];
  EXPECT_TRUE(std::signbit(y.values<float>()[0]));
  EXPECT_FALSE(std::signbit(y.values<float>()[1]));
}

TEST(Clip, TakesBoundsAsAttributesBefore11) {
  const Tensor x = floats({4}, {-9, 0, 3, 9});
  EXPECT_THAT(values_of<float>(run_node("y = Clip <min = 0.0, max = 6.0> (x)", {x}, 10)[0]),
              ElementsAre(0, 0, 3, 6));
  EXPECT_THAT(values_of<float>(run_node("y = Clip <max = 6.0> (x)", {x}, 7)[0]),
              ElementsAre(-9, 0, 3, 6));
  EXPECT_THAT(values_of<float>(run_node("y = Clip (x, , high)", {x, Tensor(), floats({}, {6})})[0]),
              ElementsAre(-9, 0, 3, 6));
}

// Integers take a path of their own, which no test of ONNX's covers.
TEST(Gemm, MultipliesIntegersThatAreTransposedScaledAndNegative) {
  const auto int64 = [](const Dims& dims, const std::vector<std::int64_t>& values) {
    return Tensor::of<std::int64_t>(dims, values);
  };
  const Tensor a = int64({2, 2}, {1, -2, 3, 4});
  const Tensor b = int64({2, 2}, {5, 6, -7, 8});
  const Tensor c = int64({2}, {10, 20});
  const auto gemm = [&](const std::string& attributes) {
    return values_of<std::int64_t>(run_node("y = Gemm " + attributes + " (a, b, c)", {a, b, c})[0]);
  };
  EXPECT_THAT(gemm("<alpha = 1.0>"), ElementsAre(29, 10, -3, 70));
  EXPECT_THAT(gemm("<alpha = -2.0, beta = -1.0>"), ElementsAre(-48, 0, 16, -120));
  EXPECT_THAT(gemm("<transA = 1>"), ElementsAre(-6, 50, -28, 40));
  EXPECT_THAT(gemm("<transB = 1>"), ElementsAre(3, -3, 49, 31));
  EXPECT_THAT(values_of<std::int64_t>(run_node("y = MatMul (a, b)", {a, b})[0]),
              ElementsAre(19, -10, -13, 50));
}

TEST(Pad, TakesPadsAsAttributeBefore11) {
  const Tensor x = floats({2}, {1, 2});
  EXPECT_THAT(values_of<float>(run_node("y = Pad <pads = [1, 2], value = 7.0> (x)", {x}, 10)[0]),
              ElementsAre(7, 1, 2, 7, 7));
  EXPECT_THAT(values_of<float>(run_node("y = Pad (x, p)", {x, ints({1, 0})}, 11)[0]),
              ElementsAre(0, 1, 2));
}

TEST(Pad, MirrorsAndRepeatsAndCuts) {
  const Tensor x = floats({3}, {1, 2, 3});
  const auto pad = [&](const std::string& mode, const std::vector<std::int64_t>& pads) {
    return values_of<float>(
        run_node("y = Pad <mode = \"" + mode + "\"> (x, p)", {x, ints(pads)})[0]);
  };
  EXPECT_THAT(pad("reflect", {2, 1}), ElementsAre(3, 2, 1, 2, 3, 2));
  EXPECT_THAT(pad("reflect", {5, 0}), ElementsAre(2, 1, 2, 3, 2, 1, 2, 3));
  EXPECT_THAT(pad("edge", {2, 1}), ElementsAre(1, 1, 1, 2, 3, 3));
  EXPECT_THAT(pad("constant", {-1, 2}), ElementsAre(2, 3, 0, 0));
  EXPECT_THAT(refusal("y = Pad (x, p)", {x, ints({-2, -2})}), Says("cannot be padded"));
  EXPECT_THAT(refusal("y = Pad (x, p)", {x, ints({INT64_MIN, 0})}), Says("cannot be padded"));
  EXPECT_THAT(refusal("y = Pad <mode = \"zero\"> (x, p)", {x, ints({1, 1})}), Says("'zero'"));
}

TEST(Slice, TakesRangesAsAttributesBefore10) {
  const Tensor x = floats({5}, {0, 1, 2, 3, 4});
  EXPECT_THAT(values_of<float>(run_node("y = Slice <starts = [1], ends = [-1]> (x)", {x}, 9)[0]),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(values_of<float>(run_node("y = Slice (x, s, e, a, p)",
                                        {x, ints({1}), ints({-1}), ints({0}), ints({2})}, 10)[0]),
              ElementsAre(1, 3));
}

TEST(Slice, FollowsPythonAtItsEdges) {
  const Tensor x = floats({5}, {0, 1, 2, 3, 4});
  const auto slice = [&](std::int64_t start, std::int64_t end, std::int64_t step) {
    return values_of<float>(run_node("y = Slice (x, s, e, a, p)",
                                     {x, ints({start}), ints({end}), ints({0}), ints({step})})[0]);
  };
  EXPECT_THAT(slice(INT64_MAX, INT64_MIN, -1), ElementsAre(4, 3, 2, 1, 0));
  EXPECT_THAT(slice(-2, -5, -2), ElementsAre(3, 1));
  EXPECT_THAT(slice(3, 1, 1), ElementsAre());
  EXPECT_THAT(slice(-100, 2, 1), ElementsAre(0, 1));
  EXPECT_THAT(slice(0, 5, INT64_MAX), ElementsAre(0));
  EXPECT_THAT(slice(4, INT64_MIN, INT64_MIN), ElementsAre(4));
  EXPECT_THAT(refusal("y = Slice (x, s, e, a, p)", {x, ints({0}), ints({5}), ints({0}), ints({0})}),
              Says("a step is 0"));
}

TEST(Split, TakesSizesAsAttributeBefore13) {
  const Tensor x = floats({3}, {1, 2, 3});
  const Tensors parts = run_node("a, b = Split <split = [1, 2]> (x)", {x}, 11);
  EXPECT_THAT(values_of<float>(parts[1]), ElementsAre(2, 3));
  EXPECT_THAT(values_of<float>(run_node("a, b = Split (x, s)", {x, ints({2, 1})}, 13)[0]),
              ElementsAre(1, 2));
  EXPECT_THAT(refusal("a, b = Split (x)", {x}), Says("2 equal parts"));
  EXPECT_THAT(refusal("a, b = Split (x, s)", {x, ints({INT64_MAX, INT64_MAX})}),
              Says("does not split 3"));
}

TEST(Dropout, KeepsEverythingInEveryForm) {
  const Tensor x = floats({2}, {1, 2});
  const Tensors old = run_node("y, mask = Dropout <ratio = 0.5> (x)", {x}, 7);
  EXPECT_EQ(old[0].values<float>(), x.values<float>());  // not even copied
  EXPECT_THAT(values_of<float>(old[1]), ElementsAre(1, 1));
  EXPECT_THAT(values_of<bool>(run_node("y, mask = Dropout (x)", {x}, 13)[1]),
              ElementsAre(true, true));
  const Tensor yes = Tensor::of<bool>({}, {true});  // exported in training mode
  EXPECT_THAT(values_of<float>(run_node("y = Dropout (x, r, t)", {x, floats({}, {0.5F}), yes})[0]),
              ElementsAre(1, 2));
}

TEST(Dropout, DropsWhatTheReferenceDropsWhereThereIsASeed) {
  // numpy.random.seed(7); numpy.random.uniform(0, 1, 4): 0.076, 0.780, 0.438, 0.723
  const Tensor x = floats({4}, {1, 2, 3, 4});
  const Tensor yes = Tensor::of<bool>({}, {true});
  const Tensors dropped =
      run_node("y, mask = Dropout <seed = 7> (x, r, t)", {x, floats({}, {0.5F}), yes});
  EXPECT_THAT(values_of<float>(dropped[0]), ElementsAre(0, 4, 0, 8));
  EXPECT_THAT(values_of<bool>(dropped[1]), ElementsAre(false, true, false, true));
  const Tensor no = Tensor::of<bool>({}, {false});
  EXPECT_THAT(values_of<float>(
                  run_node("y = Dropout <seed = 7> (x, r, t)", {x, floats({}, {0.5F}), no})[0]),
              ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(refusal("y = Dropout <seed = 7> (x, r, t)", {x, floats({}, {1}), yes}, 13),
              Says("its ratio is 1"));
}

TEST(BatchNormalization, IsForInferenceInEveryForm) {
  const Tensors inputs = {floats({1, 2, 1}, {3, 5}), floats({2}, {2, 1}), floats({2}, {10, 20}),
                          floats({2}, {1, 1}), floats({2}, {4, 16})};
  for (const std::int64_t opset : {7, 9, 14, 15}) {
    EXPECT_THAT(values_of<float>(run_node("y = BatchNormalization <epsilon = 0.0> (x, s, b, m, v)",
                                          inputs, opset)[0]),
                ElementsAre(12, 21));
  }
  EXPECT_THAT(refusal("y, m2, v2 = BatchNormalization (x, s, b, m, v)", inputs, 9),
              Says("training mode, in the form of opset 9"));
}

TEST(Softmax, JoinsTheLastAxesBefore13) {
  const Tensor x = floats({1, 2, 2}, {0, 0, 0, 0});
  EXPECT_THAT(values_of<float>(run_node("y = Softmax (x)", {x}, 11)[0]),
              ElementsAre(0.25F, 0.25F, 0.25F, 0.25F));
  EXPECT_THAT(values_of<float>(run_node("y = Softmax (x)", {x}, 13)[0]),
              ElementsAre(0.5F, 0.5F, 0.5F, 0.5F));
}

TEST(ReduceMean, TakesAxesAsAttributeUpTo17) {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  const Tensor y = run_node("y = ReduceMean <axes = [0], keepdims = 0> (x)", {x}, 13)[0];
  EXPECT_EQ(y.dims(), (Dims{2}));
  EXPECT_THAT(values_of<float>(y), ElementsAre(2, 3));
}

TEST(Reshape, RefusesWhatDoesNotFit) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto refused = [&](const std::vector<std::int64_t>& shape) {
    return refusal("y = Reshape (x, s)", {x, ints(shape)});
  };
  EXPECT_EQ(run_node("y = Reshape (x, s)", {x, ints({0, -1})})[0].dims(), (Dims{2, 3}));
  EXPECT_THAT(refused({4, -1}), Says("does not divide evenly"));
  EXPECT_THAT(refused({-1, -1}), Says("two sizes are left open"));
  EXPECT_THAT(refused({7}), Says("the number of values differs"));
  EXPECT_THAT(refused({6, 1, 0}), Says("no such dimension"));
  EXPECT_THAT(refused({INT64_MAX, INT64_MAX}), Says("the number of values differs"));
}

TEST(Broadcasting, StretchesBothWays) {
  const Tensor column = floats({2, 1}, {10, 20});
  const Tensor row = floats({3}, {1, 2, 3});
  EXPECT_THAT(values_of<float>(run_node("y = Add (a, b)", {column, row})[0]),
              ElementsAre(11, 12, 13, 21, 22, 23));
  EXPECT_THAT(values_of<float>(run_node("y = Sum (a, b, c)", {row, column, floats({}, {100})})[0]),
              ElementsAre(111, 112, 113, 121, 122, 123));
  EXPECT_THAT(refusal("y = Add (a, b)", {floats({2}, {1, 2}), row}), Says("do not fit"));
  EXPECT_THAT(refusal("y = Mul (a, b)", {row, ints({1, 2, 3})}), Says("different types"));
}

TEST(Cast, KeepsIntegersWithinTheirRange) {
  const Tensor x = floats({4}, {3e9F, -3e9F, NAN, -1.9F});
  EXPECT_THAT(values_of<std::int32_t>(run_node("y = Cast <to = 6> (x)", {x})[0]),
              ElementsAre(INT32_MAX, INT32_MIN, 0, -1));
}

TEST(Gather, RefusesIndicesBeyondTheAxis) {
  const Tensor x = floats({2}, {1, 2});
  EXPECT_THAT(refusal("y = Gather (x, i)", {x, ints({2})}), Says("index 2 of axis 0"));
  EXPECT_THAT(refusal("y = Gather (x, i)", {x, ints({-3})}), Says("index -3"));
}

}  // namespace
}  // namespace gemm64
