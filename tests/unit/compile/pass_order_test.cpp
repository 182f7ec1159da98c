// SPDX-License-Identifier: Apache-2.0
#include "host/compile/pass_order.hpp"

#include "tests/test.hpp"
#include "tests/unit/runtime/quantized_graph_text.hpp"
#include "tests/unit/runtime/small_device.hpp"

namespace gemm64 {
namespace {

using testing::UnorderedElementsAre;

TEST(PassOrder, PutsProgramsBeforeFirstReader) {
  const OnnxModel model = quantized_branches();
  const DevicePlan plan = plan_device(model, small_geometry());
  const std::vector<PassItem> order = pass_order(model, plan);
  EXPECT_EQ(to_string(order, model, plan),
            "program 1: first, a, side, b, c + sum\n"
            "host: pooled\n"
            "program 2: deep, pooled1, deep1, y\n"
            "host: flat\n");
  EXPECT_THAT(order[0].last_uses, testing::IsSupersetOf({"x", "first", "a", "b", "c", "side"}));
  EXPECT_THAT(order[1].last_uses, UnorderedElementsAre("sum"));
  EXPECT_THAT(order[2].last_uses, testing::IsSupersetOf({"pooled", "deep", "pooled1"}));
  EXPECT_THAT(order[2].last_uses, testing::Not(testing::Contains("y"))) << "an output";
  EXPECT_THAT(order[3].last_uses, UnorderedElementsAre("flat", "deep1"));
}

TEST(PassOrder, WaitsForOperandsOfEarlierPrograms) {
  // The branch to the second output is computed after all else, yet is of the first program; so is
  // what the host makes of the input for it.
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 1)
      .node("p", "Transpose <perm = [0,1,3,2]> (a)")
      .conv("p", "b", 8, 8, 1)
      .node("q", "Transpose <perm = [0,1,3,2]> (x)")
      .conv("q", "y", 8, 8, 1);
  const OnnxModel model = text.model();
  const DevicePlan plan = plan_device(model, small_geometry());
  EXPECT_EQ(to_string(pass_order(model, plan), model, plan),
            "host: q\nprogram 1: a, y\nhost: p\nprogram 2: b\n");
}

TEST(PassOrder, IsTheGraphsWhereThereIsNoProgram) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 1).node("y", "Transpose <perm = [0,1,3,2]> (a)");
  const OnnxModel model = text.model();
  EXPECT_EQ(to_string(pass_order(model, {}), model, {}), "host: a\nhost: y\n");
}

// q and k read the input and v what the host makes of it: one program. What reads them, another.
TEST(PassOrder, JoinsSumsWhoseOperandsAreThere) {
  QuantizedText text("4,8");
  text.weights("w", {8, 8})
      .node("q", "MatMulInteger (x, w)")
      .node("u", "Cast <to = 2> (q)")
      .node("o", "MatMulInteger (u, w)")
      .node("k", "MatMulInteger (x, w)")
      .node("n", "Identity (x)")
      .node("v", "MatMulInteger (n, w)")
      .node("y", "Concat <axis = 0> (k, v, o)");
  const OnnxModel model = text.model();
  const DevicePlan plan = plan_device(model, small_geometry());
  const auto order = [&](std::uint64_t tiles) {
    return to_string(pass_order(model, plan, {{0, tiles}, {2, 1}, {3, 1}, {5, 1}}), model, plan);
  };
  EXPECT_EQ(order(1), "host: n\nsums: q, k, v\nhost: u\nsums: o\nhost: y\n");
  EXPECT_EQ(order(16'384), "host: n\nsums: q\nsums: k, v\nhost: u\nsums: o\nhost: y\n");
  EXPECT_EQ(to_string(pass_order(model, plan), model, plan),
            "host: q\nhost: u\nhost: o\nhost: k\nhost: n\nhost: v\nhost: y\n")
      << "each by itself";
}

TEST(PassOrder, RefusesAPlanThatCannotRun) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 1)
      .node("p", "Transpose <perm = [0,1,3,2]> (a)")
      .conv("p", "y", 8, 8, 1);
  const OnnxModel model = text.model();
  DevicePlan plan = plan_device(model, small_geometry());
  std::swap(plan.programs[0], plan.programs[1]);
  EXPECT_THROW(pass_order(model, plan), std::logic_error);
}

}  // namespace
}  // namespace gemm64
