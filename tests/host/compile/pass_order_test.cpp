// SPDX-License-Identifier: Apache-2.0
#include "host/compile/pass_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/host/execute/quantized_graph_text.hpp"
#include "tests/host/run/small_device.hpp"

namespace gemm64 {
namespace {

using testing::UnorderedElementsAre;

TEST(PassOrder, PutsProgramsBeforeTheFirstThatReadsThem) {
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

TEST(PassOrder, WaitsForAllOperandsOfAProgramAndOfThoseBeforeIt) {
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
