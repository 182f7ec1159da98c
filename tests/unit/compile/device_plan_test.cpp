// SPDX-License-Identifier: Apache-2.0
#include "host/compile/device_plan.hpp"

#include "tests/test.hpp"
#include "tests/unit/runtime/quantized_graph_text.hpp"
#include "tests/unit/runtime/small_device.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// "a b<a c<b+a": layers of each program in its order, after < the one whose results it reads,
/// after + the one that computes its second operand, or * where the host does, after ! those whose
/// windows the host packs.
std::vector<std::string> texts(const DevicePlan& plan) {
  std::vector<std::string> programs;
  for (const DeviceProgram& program : plan.programs) {
    std::string text;
    for (const DeviceLayer& layer : program.layers) {
      text += (text.empty() ? "" : " ") + layer.job.name;
      if (layer.packed) text += "!";
      if (layer.source) text += "<" + program.layers.at(*layer.source).job.name;
      if (!layer.second.empty()) {
        text += layer.operand ? "+" + program.layers.at(*layer.operand).job.name : "+*";
      }
      EXPECT_EQ(layer.job.source, layer.source);
      EXPECT_EQ(layer.job.operand, layer.operand);
      EXPECT_EQ(layer.job.plan.output.takes_operands(), !layer.second.empty());
    }
    programs.push_back(text);
  }
  return programs;
}

const char* const kPad = "pads = [1,1,1,1]";

class DevicePlanTest : public testing::Test {
 protected:
  static DevicePlan plan(QuantizedText& text) {
    return plan_device(text.model(), small_geometry());
  }
};

TEST_F(DevicePlanTest, FusesLayersThatReadEachOther) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 16, 3, kPad).conv("a", "b", 16, 8, 1).conv("b", "y", 8, 8, 3);
  EXPECT_THAT(texts(plan(text)), ElementsAre("a b<a y<b"));
}

TEST_F(DevicePlanTest, FoldsStripsOfLargeMaps) {
  // On 8 lanes: 4 channels fill a half of each word, 12 one and a half.
  const DevicePlan found = plan_device(quantized_strips(), small_geometry());
  EXPECT_THAT(texts(found), ElementsAre("a! b<a c<b d<c e (rows 0 to 7)<d e (rows 8 to 15)<d "
                                        "y<e (rows 8 to 15)"));
  const std::vector<DeviceLayer>& layers = found.programs[0].layers;
  const auto shape = [&layers](std::size_t i) {
    const GemmShape& own = layers[i].job.plan.shape;
    return std::vector<std::uint64_t>{own.m, own.k, own.n};
  };
  EXPECT_THAT(shape(0), ElementsAre(18 * 32, 18, 8)) << "two rows more than a half of the map";
  EXPECT_THAT(shape(2), ElementsAre(18 * 32, 8, 24));
  EXPECT_THAT(shape(3), ElementsAre(9 * 16, 9, 24));
  EXPECT_THAT(shape(4), ElementsAre(8 * 16, 16, 6));
  EXPECT_EQ(layers[2].products().macs(), 32U * 32 * 4 * 12) << "what both strips have counts once";
  EXPECT_EQ(layers[4].job.source_row, 0U);
  EXPECT_EQ(layers[5].job.source_row, 1U * 16) << "past what is another one's";
  EXPECT_EQ(layers[5].job.source_tile, 1U);
  EXPECT_EQ(layers[5].job.plan.output.part->first_row, 8U * 16);
}

TEST_F(DevicePlanTest, KeepsMapsWholeIfNotFaster) {
  QuantizedText full("1,1,64,64");  // words are full
  full.conv("x", "a", 1, 8, 3, kPad).conv("a", "b", 8, 8, 3, kPad, 8).conv("b", "y", 8, 8, 1);
  EXPECT_THAT(texts(plan(full)), ElementsAre("a! b<a y<b"));
  QuantizedText images("2,1,64,64");
  images.conv("x", "a", 1, 4, 3, kPad).conv("a", "b", 4, 4, 3, kPad, 4).conv("b", "y", 4, 8, 1);
  EXPECT_THAT(texts(plan(images)), ElementsAre("a! b<a y<b"));
}

/// A first layer of 4 channels on 8 lanes and a depthwise one, of a map of 32x32: a! b<a.
QuantizedText& first_layers(QuantizedText& text) {
  return text.conv("x", "a", 1, 4, 3, "pads = [1,1,1,1], strides = [2,2]")
      .conv("a", "b", 4, 4, 3, kPad, 4);
}

TEST_F(DevicePlanTest, FoldsTheFastestNumberOfStrips) {
  QuantizedText two("1,1,64,64");
  first_layers(two).conv("b", "y", 4, 8, 1);
  EXPECT_THAT(texts(plan(two)), ElementsAre("a! b<a y (rows 0 to 15)<b y (rows 16 to 31)<b"));
  QuantizedText four("1,1,128,128");  // of 2 channels
  four.conv("x", "a", 1, 2, 3, kPad + std::string(", strides = [2,2]"))
      .conv("a", "b", 2, 2, 3, kPad, 2)
      .conv("b", "y", 2, 8, 1);
  EXPECT_THAT(texts(plan(four)),
              ElementsAre("a! b<a y (rows 0 to 15)<b y (rows 16 to 30)<b y (rows 31 to 45)<b "
                          "y (rows 46 to 63)<b"));
}

TEST_F(DevicePlanTest, AddsWithinStrips) {
  QuantizedText text("1,1,64,64");
  first_layers(text)
      .conv("b", "c", 4, 4, 1)
      .add("c", "b", "sum")
      .conv("sum", "d", 4, 4, 3, kPad, 4)
      .conv("d", "y", 4, 8, 1);
  EXPECT_THAT(texts(plan(text)),
              ElementsAre("a! b<a c<b+b d<c y (rows 0 to 15)<d y (rows 16 to 31)<d"));
}

TEST_F(DevicePlanTest, KeepsStripsWhileRowsSeparate) {
  const auto text_of = [](auto add, const char* x = "1,1,64,64") {
    QuantizedText text(x);
    add(first_layers(text));
    return texts(plan(text));
  };
  using Text = QuantizedText;
  EXPECT_THAT(text_of([](Text& t) { t.conv("b", "c", 4, 4, 3, kPad).conv("c", "y", 4, 8, 1); }),
              ElementsAre("a! b<a c<b y<c"))
      << "after a 3x3 convolution";
  EXPECT_THAT(
      text_of([](Text& t) { t.conv("b", "y", 4, 4, 1, "strides = [2,1], pads = [31,0,0,0]"); }),
      ElementsAre("a! b<a y<b"))
      << "a stride";
  EXPECT_THAT(text_of([](Text& t) { t.conv("b", "y", 4, 8, 1, kPad); }), ElementsAre("a! b<a y<b"))
      << "another size";
  EXPECT_THAT(text_of([](Text& t) {
                t.conv("x", "o", 1, 4, 3, "pads = [1,1,1,1], strides = [2,2]")
                    .conv("b", "c", 4, 4, 1)
                    .add("c", "o", "sum")
                    .conv("sum", "y", 4, 8, 1);
              }),
              ElementsAre("a! o! b<a c<b+o y<c"))
      << "an operand of another chain";
  EXPECT_THAT(text_of([](Text& t) {
                t.conv("x", "o", 1, 4, 3, "pads = [1,1,1,1], strides = [2,2]")
                    .conv("b", "c", 4, 4, 1)
                    .node("all", "com.microsoft.QLinearConcat <axis = 1> (s, z, c, s, z, o, s, z)")
                    .conv("all", "y", 8, 8, 1);
              }),
              ElementsAre("a! o! b<a c<b y<c"))
      << "a concatenation";
  EXPECT_THAT(
      text_of([](Text& t) {
        t.node("p", "MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (b)").conv("p", "y", 4, 8, 1);
      }),
      ElementsAre("a! b<a p<b y<p"))
      << "a pool";
  EXPECT_THAT(text_of([](Text& t) {
                t.node("p", "Slice (b, first_one, third, axis_one)").conv("p", "y", 3, 8, 1);
              }),
              ElementsAre("a! b<a y<b"))
      << "some channels";
  EXPECT_THAT(text_of([](Text& t) { t.conv("b", "c", 4, 4, 1).conv("b", "y", 4, 4, 1); }),
              ElementsAre("a! b<a c<b y<b"))
      << "two readers";
  EXPECT_THAT(text_of([](Text& t) { t.conv("b", "c", 4, 4, 1).add("c", "a", "y"); }),
              ElementsAre("a! b<a c<b+a"))
      << "the last layer adds a map in strips";
  EXPECT_THAT(text_of([](Text& t) { t.conv("b", "y", 4, 16, 1); }), ElementsAre("a! b<a y<b"))
      << "two planes of results";
  EXPECT_THAT(text_of([](Text& t) { t.conv("b", "y", 4, 8, 1); }, "1,1,16,400"),
              ElementsAre("a! b<a y<b"))
      << "rows longer than the lanes'";
  QuantizedText sums("1,1,64,64");  // a first layer whose weights have a zero point
  sums.weights("w_a", {4, 1, 3, 3})
      .weights("other", {})
      .node("a", "QLinearConv <pads = [1,1,1,1], strides = [2,2]> (x, s, z, w_a, s, other, s, z)")
      .conv("a", "b", 4, 4, 3, kPad, 4)
      .conv("b", "y", 4, 8, 1);
  EXPECT_THAT(texts(plan(sums)), ElementsAre("a! b<a y<b"));
}

TEST_F(DevicePlanTest, ListsInputsReadyAtProgramStart) {
  QuantizedText text("4,8");
  text.matmul("x", "a", 8, 8).matmul("x", "b", 8, 8).matmul("a", "c", 8, 8).add("b", "c", "y");
  const DevicePlan made = plan(text);
  ASSERT_THAT(texts(made), ElementsAre("b a c<a+b"));
  const std::vector<DeviceLayer>& layers = made.programs[0].layers;
  EXPECT_TRUE(layers[0].job.ready && layers[1].job.ready);
  EXPECT_FALSE(layers[2].job.ready);
}

TEST_F(DevicePlanTest, StartsAProgramAfterHostNodes) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 3, kPad)
      .node("p", "Transpose <perm = [0,1,3,2]> (a)")
      .conv("p", "b", 8, 8, 3, kPad)
      .conv("b", "y", 8, 8, 1);
  EXPECT_THAT(texts(plan(text)), ElementsAre("a", "b y<b"));
}

TEST_F(DevicePlanTest, MultipliesComputedTensors) {
  // Keys come by way of the host, so scores are the next program's; with a zero point, queries too.
  QuantizedText scores("2,3,8");
  scores.matmul("x", "q", 8, 8)
      .matmul("x", "k", 8, 8)
      .node("t", "Transpose <perm = [0,2,1]> (k)")
      .node("y", "QLinearMatMul (q, s, z, t, s, z, s, z)");
  const DevicePlan found = plan(scores);
  EXPECT_THAT(texts(found), ElementsAre("q k", "y"));
  const DeviceLayer& layer = found.programs[1].layers[0];
  EXPECT_EQ(layer.weights_value, "t");
  EXPECT_EQ(layer.products_of_stack(), 2U);
  EXPECT_EQ(layer.products().m, 6U);
  EXPECT_EQ(layer.products().n, 3U);
  EXPECT_EQ(layer.sum_columns, 2U);  // of the zero point 3, for 8 columns
  EXPECT_EQ(layer.depth_of_products(), 8U);
  EXPECT_TRUE(found.on_host.empty());
  EXPECT_EQ(found.between.count(2), 1U);
  // Without, what a layer gave is read where it is, if the other operand is there.
  QuantizedText moved("2,3,8");
  moved.node("t", "Transpose <perm = [0,2,1]> (x)")
      .matmul("x", "q", 8, 8)
      .node("y", "QLinearMatMul (q, s, z, t, s, middle, s, z)");
  EXPECT_THAT(texts(plan(moved)), ElementsAre("q y<q"));
  QuantizedText late("2,3,8");
  late.matmul("x", "q", 8, 8)
      .matmul("x", "k", 8, 8)
      .node("t", "Transpose <perm = [0,2,1]> (k)")
      .node("y", "QLinearMatMul (q, s, z, t, s, middle, s, z)");
  EXPECT_THAT(texts(plan(late)), ElementsAre("q k", "y"));
}

TEST_F(DevicePlanTest, FewColumnsShareTiles) {
  const auto plan_of = [&](const char* shape, const char* transposed) {
    QuantizedText text(shape);
    text.node("t", transposed).node("y", "QLinearMatMul (x, s, middle, t, s, middle, s, z)");
    const DevicePlan found = plan(text);
    return found.programs.at(0).layers.at(0);
  };
  const char* const last = "Transpose <perm = [0,2,1]> (x)";
  // Two of three columns each fill six of eight; of five products the sixth is padding.
  const DeviceLayer shared = plan_of("5,3,8", last);
  ASSERT_TRUE(shared.shared_tiles);
  EXPECT_EQ(shared.shared_tiles->together, 2U);
  EXPECT_EQ(shared.job.plan.products, 3U);
  EXPECT_EQ(shared.job.plan.shape.m, 18U);
  EXPECT_EQ(shared.job.plan.shape.n, 6U);
  EXPECT_EQ(shared.products().m, 15U);
  EXPECT_EQ(shared.products().n, 3U);
  // Five columns leave no space for others.
  EXPECT_FALSE(plan_of("5,5,8", last).shared_tiles);
  // More rows than the array has pass a tile one after the other, however many share it.
  const DeviceLayer high = plan_of("4,16,2", "Transpose <perm = [0,2,1]> (x)");
  EXPECT_FALSE(high.shared_tiles);
}

TEST_F(DevicePlanTest, StoredResultsShareNoTiles) {
  QuantizedText text("4,2,8");
  text.node("t", "Transpose <perm = [0,2,1]> (x)")
      .node("a", "QLinearMatMul (x, s, middle, t, s, middle, s, z)")
      .matmul("a", "y", 2, 8);
  const DevicePlan found = plan(text);
  EXPECT_THAT(texts(found), ElementsAre("a y<a"));
  EXPECT_FALSE(found.programs[0].layers[0].shared_tiles);
}

TEST_F(DevicePlanTest, HostMultipliesTheUnreadable) {
  const auto why = [](const char* node) {
    QuantizedText text("2,3,3");
    text.node("y", node);
    const DevicePlan found = plan(text);
    return found.on_host.empty() ? "" : found.on_host.begin()->second;
  };
  EXPECT_EQ(why("QLinearMatMul (x, s, z, x, s, z, s, z)"), "");
  EXPECT_EQ(why("QLinearMatMul (x, s, z, x, doubled, z, s, z)"),
            "its second operand has more than one scale");
  EXPECT_EQ(why("QLinearMatMul (x, s, x, x, s, z, s, z)"), "its scales depend on the input");
}

TEST_F(DevicePlanTest, FusesProjectionWithBottleneck) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 1)
      .conv("a", "b", 8, 8, 3, kPad)
      .conv("b", "c", 8, 16, 1)
      .conv("x", "side", 8, 16, 1)
      .add("c", "side", "sum")
      .conv("sum", "d", 16, 8, 1)
      .conv("d", "e", 8, 16, 1)
      .add("e", "sum", "y");
  EXPECT_THAT(texts(plan(text)), ElementsAre("a side b<a c<b+side d<c e<d+c"));
}

TEST_F(DevicePlanTest, AddsInTheLaterLayer) {
  QuantizedText later("1,8,6,6");
  later.conv("x", "a", 8, 8, 1).conv("a", "b", 8, 8, 3, kPad).add("a", "b", "y");
  const DevicePlan found = plan(later);
  EXPECT_THAT(texts(found), ElementsAre("a b<a+a"));
  const DeviceLayer& layer = found.programs[0].layers[1];
  EXPECT_THAT(layer.nodes(), ElementsAre(1, 2));
  EXPECT_TRUE(found.has(2));
  EXPECT_EQ(layer.job.plan.output.vector->swap, 1U);  // it is the node's second input
  QuantizedText earlier("1,8,6,6");
  earlier.conv("x", "a", 8, 8, 1).conv("a", "b", 8, 8, 3, kPad).add("b", "a", "y");
  EXPECT_EQ(plan(earlier).programs[0].layers[1].job.plan.output.vector->swap, 0U);
}

TEST_F(DevicePlanTest, AddsWhatTheHostGives) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 3, kPad)
      .add("a", "x", "b")
      .node("p", "Transpose <perm = [0,1,3,2]> (b)")
      .conv("p", "c", 8, 8, 1)
      .add("c", "b", "y");
  EXPECT_THAT(texts(plan(text)), ElementsAre("a+*", "c+*"));
}

TEST_F(DevicePlanTest, CopiesWhatOthersReadToAddToIt) {
  QuantizedText read("1,8,6,6");
  read.conv("x", "a", 8, 8, 1)
      .conv("x", "b", 8, 8, 1)
      .add("a", "b", "c")
      .conv("a", "d", 8, 8, 1)
      .conv("b", "e", 8, 8, 1)
      .add("d", "e", "y");
  EXPECT_THAT(texts(plan(read)), ElementsAre("b a e<b c<a+b d<a+e"));
  // Of two additions, the second needs a second turn of the element-wise unit.
  QuantizedText twice("1,8,6,6");
  twice.conv("x", "a", 8, 8, 1).add("a", "x", "b").add("b", "x", "y");
  EXPECT_THAT(texts(plan(twice)), ElementsAre("a+* y<a+*"));
}

TEST_F(DevicePlanTest, HostAddsIfNoLayerCan) {
  QuantizedText pixel("1,8,1,1");  // less than a row of the lanes
  pixel.conv("x", "a", 8, 8, 1).conv("x", "b", 8, 8, 1).add("a", "b", "y").conv("a", "c", 8, 8, 1);
  pixel.conv("b", "d", 8, 8, 1);
  EXPECT_THAT(texts(plan(pixel)), ElementsAre("a b c<a d<b"));
  QuantizedText stretched("2,8,6,6");
  stretched.conv("x", "a", 8, 1, 1).conv("x", "b", 8, 8, 1).add("a", "b", "y");
  EXPECT_THAT(texts(plan(stretched)), ElementsAre("a b"));
}

TEST_F(DevicePlanTest, MapsUnaryFunctionsToTables) {
  const auto table = [](QuantizedText& text) {
    const DevicePlan found = plan(text);
    const DeviceLayer& layer = found.programs.at(0).layers.at(0);
    EXPECT_EQ(layer.job.plan.output.takes_table(), !layer.table.empty());
    return layer.table;
  };
  QuantizedText bend("1,8,6,6");
  bend.conv("x", "a", 8, 8, 1)
      .node("y", "com.microsoft.QLinearLeakyRelu <alpha = 0.5> (a, s, z, s, z)");
  std::vector<std::uint8_t> halves = table(bend);
  ASSERT_EQ(halves.size(), 256U);
  EXPECT_EQ(halves[231], 231);
  EXPECT_EQ(halves[31], 81);  // 100 steps below zero
  // Nodes of float32 between integers, and one that reads a value twice.
  QuantizedText swish("1,8,6,6");
  swish.conv("x", "a", 8, 8, 1)
      .node("f", "DequantizeLinear (a, s, z)")
      .node("g", "HardSigmoid <alpha = 0.0, beta = 0.5> (f)")
      .node("h", "Mul (f, g)")
      .node("y", "QuantizeLinear (h, s, z)");
  EXPECT_EQ(table(swish)[31], 81);
  EXPECT_THAT(plan(swish).programs[0].layers[0].nodes(), ElementsAre(0, 1, 2, 3, 4));
  QuantizedText itself("1,8,6,6");
  itself.conv("x", "a", 8, 8, 1).add("a", "a", "y");
  EXPECT_EQ(table(itself)[151], 171);
  // Then a second operand.
  QuantizedText both("1,8,6,6");
  both.conv("x", "a", 8, 8, 1)
      .node("b", "com.microsoft.QLinearSigmoid (a, s, z, s, z)")
      .add("b", "x", "y");
  EXPECT_EQ(table(both).size(), 256U);
  EXPECT_THAT(texts(plan(both)), ElementsAre("a+*"));
}

TEST_F(DevicePlanTest, KeepsValuesReadByOthers) {
  QuantizedText read("1,8,6,6");
  read.conv("x", "a", 8, 8, 1)
      .node("b", "com.microsoft.QLinearSigmoid (a, s, z, s, z)")
      .conv("b", "c", 8, 8, 1)
      .conv("a", "y", 8, 8, 1);
  EXPECT_THAT(texts(plan(read)), ElementsAre("a b<a y<a c<b"));
  // What is between is an output: two programs, and the host between them.
  QuantizedText between("1,8,6,6");
  between.conv("x", "a", 8, 8, 1)
      .node("f", "DequantizeLinear (a, s, z)")
      .node("b", "QuantizeLinear (f, coarse, z)")
      .node("t", "Transpose (f)")
      .conv("b", "y", 8, 8, 1);
  EXPECT_THAT(texts(plan(between)), ElementsAre("a", "y"));
}

TEST_F(DevicePlanTest, AcceptsOperandsPerChannel) {
  const auto found = [](const std::string& x, const std::string& product) {
    QuantizedText text(x);
    text.conv("x", "a", 8, 8, 1)
        .node("m", "com.microsoft.QLinearGlobalAveragePool (a, s, z, s, z)")
        .node("y", product);
    return texts(plan(text));
  };
  const std::string product = "com.microsoft.QLinearMul (a, s, z, m, s, z, s, z)";
  EXPECT_THAT(found("1,8,6,6", product), ElementsAre("a m<a y<a+m"));
  EXPECT_THAT(found("1,8,6,6", "com.microsoft.QLinearAdd (m, s, z, a, s, z, s, z)"),
              ElementsAre("a m<a y<a+m"));
  EXPECT_THAT(found("2,8,6,6", product), ElementsAre("a m<a y<a+m")) << "one for each image";
  QuantizedText array("2,8,6,6");
  array.conv("x", "a", 8, 8, 1)
      .node("m", "com.microsoft.QLinearGlobalAveragePool (x, s, z, s, z)")
      .node("y", product);
  const DevicePlan by_copy = plan(array);
  EXPECT_THAT(texts(by_copy), ElementsAre("a y<a+*")) << "the lanes copy what the array gives";
  const Plan& lanes = by_copy.programs[0].layers[1].job.plan;
  EXPECT_EQ(lanes.operand_rows(), 2U);
  EXPECT_EQ(36 % lanes.groups[0].rows, 0U) << "no block has rows of two images";
}

// Rows of a matrix with three axes: a bias for each column, a function through a copy, and no copy
// for a second addition.
TEST_F(DevicePlanTest, AddsAValueForEachColumnOfRows) {
  QuantizedText text("2,3,8");
  text.matmul("x", "a", 8, 8)
      .node("biased", "com.microsoft.QLinearAdd (a, s, z, bias, s, z, s, z)")
      .node("curve", "com.microsoft.QLinearSigmoid (biased, s, z, s, z)")
      .matmul("curve", "c", 8, 8)
      .node("again", "com.microsoft.QLinearAdd (bias, s, z, c, s, z, s, z)")
      .add("again", "x", "y");
  EXPECT_THAT(texts(plan(text)), ElementsAre("a+* curve<a c<curve+*"));
  QuantizedText rows("2,8,8");
  rows.matmul("x", "a", 8, 8).node("y", "com.microsoft.QLinearAdd (a, s, z, rows, s, z, s, z)");
  EXPECT_THAT(texts(plan(rows)), ElementsAre("a")) << "a value for each row";
}

/// "a<x b" with, of each layer, what computes it: - the array, | the lanes.
std::string engines(const DevicePlan& plan) {
  std::string text;
  for (const DeviceProgram& program : plan.programs) {
    for (const DeviceLayer& layer : program.layers) {
      text += (layer.job.plan.lanes ? "|" : "-") + layer.job.name + " ";
    }
  }
  return text;
}

/// "a@0 b@5": where the parts of a concatenation begin, * after one that is a copy.
std::string parts(const DevicePlan& plan) {
  std::string text;
  for (const DeviceLayer& layer : plan.programs.at(0).layers) {
    if (!layer.part) continue;
    text += (text.empty() ? "" : " ") + layer.job.name + fmt::format("@{}", layer.part->first) +
            (layer.node == layer.part->node ? "*" : "");
  }
  return text;
}

TEST_F(DevicePlanTest, WritesPartsIntoConcatenations) {
  const auto found = [](const std::string& more) {
    QuantizedText text("1,8,6,6");
    text.conv("x", "a", 8, 5, 1).conv("x", "b", 8, 16, 3, kPad).node("all", more);
    text.conv("all", "y", 21, 8, 1);
    return plan(text);
  };
  const DevicePlan joined =
      found("com.microsoft.QLinearConcat <axis = 1> (s, z, a, s, z, b, s, z)");
  EXPECT_EQ(parts(joined), "a@0 b@5");
  EXPECT_THAT(texts(joined), ElementsAre("a b y<b"));
  EXPECT_EQ(joined.programs[0].layers[1].job.plan.n_tiles, 2U) << "it is ahead of a";
  EXPECT_TRUE(joined.programs[0].layers[0].table.empty());
  const DevicePlan others =
      found("com.microsoft.QLinearConcat <axis = -3> (s, z, a, coarse, z, b, s, z)");
  EXPECT_EQ(others.programs[0].layers[0].table.size(), 256U);
  QuantizedText host("1,8,6,6");
  host.conv("x", "a", 8, 5, 1)
      .node("all", "com.microsoft.QLinearConcat <axis = 1> (s, z, a, s, z, x, s, z)")
      .conv("all", "y", 13, 8, 1);
  const DevicePlan given = plan(host);
  EXPECT_EQ(parts(given), "a@0 all@5*") << "the host's part is copied";
  EXPECT_THAT(texts(given), ElementsAre("a all y<all"));
}

TEST_F(DevicePlanTest, JoinsPartsOfHostAndPrograms) {
  const auto found = [](const std::string& reader) {
    QuantizedText text("1,8,6,6");
    text.conv("x", "a", 8, 8, 1)
        .node("t", "Transpose <perm = [0,1,3,2]> (a)")
        .conv("t", "b", 8, 8, 1)
        .node("all",
              "com.microsoft.QLinearConcat <axis = 1> (s, z, a, s, z, t, coarse, z, b, s, z)")
        .node("y", reader)
        .weights("w_y", {4, 24, 1, 1});
    return plan(text);
  };
  const DevicePlan joined = found("QLinearConv (all, s, z, w_y, s, wz, s, z)");
  EXPECT_THAT(texts(joined), ElementsAre("a", "b all all y<all"));
  const std::vector<DeviceLayer>& layers = joined.programs[1].layers;
  EXPECT_EQ(layers[1].input_value, "a");
  EXPECT_TRUE(layers[1].table.empty());
  EXPECT_TRUE(layers[1].job.ready);
  EXPECT_EQ(layers[2].input_value, "t");
  EXPECT_EQ(layers[2].table.size(), 256U) << "its steps are others";
  // The host goes on with it.
  EXPECT_THAT(texts(found("Transpose <perm = [0,1,3,2]> (all)")), ElementsAre("a", "b"));
  // No layer of the program that reads it gives a part.
  QuantizedText none("1,8,6,6");
  none.conv("x", "a", 8, 8, 1)
      .node("t", "Transpose <perm = [0,1,3,2]> (a)")
      .node("all", "com.microsoft.QLinearConcat <axis = 1> (s, z, a, s, z, t, s, z)")
      .conv("all", "y", 16, 8, 1);
  const DevicePlan apart = plan(none);
  EXPECT_THAT(texts(apart), ElementsAre("a", "y"));
  EXPECT_EQ(apart.between.at(2), "t is not what a layer gives");
}

TEST_F(DevicePlanTest, ComputesFunctionsOfChannels) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 1)
      .node("d", "DequantizeLinear (a, s, z)")
      .node("n", "BatchNormalization (d, ones, ones, ones, ones)")
      .node("q", "QuantizeLinear (n, s, z)")
      .conv("q", "y", 8, 8, 3);
  const DevicePlan found = plan(text);
  EXPECT_THAT(texts(found), ElementsAre("a d<a y<d"));
  const DeviceLayer& layer = found.programs[0].layers[1];
  EXPECT_THAT(layer.nodes(), ElementsAre(1, 2, 3));
  EXPECT_EQ(layer.factors->scale.size(), 8U);
  EXPECT_EQ(layer.products().macs(), 0U);
  EXPECT_TRUE(found.between.empty());
}

/// "a@0 b@5": where parts lie.
std::string places(const DevicePlan& plan) {
  std::string text;
  for (const DeviceLayer& layer : plan.programs.at(0).layers) {
    if (!layer.part) continue;
    EXPECT_EQ(layer.job.plan.output.part->first, layer.part->place);
    text += (text.empty() ? "" : " ") + layer.job.name + fmt::format("@{}", layer.part->place);
  }
  return text;
}

TEST_F(DevicePlanTest, OrdersPartsForFewestTiles) {
  const auto found = [](const std::string& reader, int groups = 1) {
    QuantizedText text("1,8,6,6");
    text.conv("x", "a", 8, 5, 1).conv("x", "b", 8, 16, 3, kPad).conv("x", "c", 8, 3, 1);
    text.node("all", "com.microsoft.QLinearConcat <axis = 1> (s, z, a, s, z, b, s, z, c, s, z)");
    if (!reader.empty()) text.node("r", reader);
    text.conv(reader.empty() ? "all" : "r", "y", 24, 24, 1, "", groups);
    return plan(text);
  };
  const DevicePlan other = found("");
  EXPECT_EQ(places(other), "a@0 b@8 c@5");
  const ChannelOrder& order = other.programs[0].layers.back().input_order;
  ASSERT_EQ(order.size(), 24U);
  EXPECT_EQ(order[5], 8U) << "the first channel of b";
  EXPECT_EQ(order[21], 5U) << "the first channel of c";
  const DevicePlan pooled = found("MaxPool <kernel_shape = [2,2]> (all)");
  EXPECT_EQ(places(pooled), "a@0 b@8 c@5");
  EXPECT_EQ(pooled.programs[0].layers[3].result_order, order);
  const DevicePlan in_order = found("", 24);
  EXPECT_EQ(places(in_order), "a@0 b@5 c@21") << "channels by themselves";
  EXPECT_EQ(in_order.programs[0].layers[1].job.plan.n_tiles, 3U);
  EXPECT_EQ(places(found("com.microsoft.QLinearAdd (all, s, z, all, s, z, s, z)")), "a@0 b@5 c@21")
      << "another tensor's";
}

TEST_F(DevicePlanTest, BeginsEachPartWithATileIfAsked) {
  const auto found = [](const std::string& reader, const std::string& output = "") {
    QuantizedText text("1,8,6,6");
    text.conv("x", "a", 8, 5, 1).conv("x", "b", 8, 16, 3, kPad).conv("x", "c", 8, 3, 1);
    text.node("all", "com.microsoft.QLinearConcat <axis = 1> (s, z, a, s, z, b, s, z, c, s, z)");
    if (!reader.empty()) text.node("r", reader);
    text.conv(reader.empty() ? "all" : "r", output.empty() ? "y" : output, 24, 24, 1);
    if (!output.empty()) text.add("all", output, "y");
    PlanOptions options;
    options.whole_parts = true;
    return plan_device(text.model(), small_geometry(), options);
  };
  const DevicePlan whole = found("");
  EXPECT_EQ(places(whole), "a@0 b@8 c@24");
  const std::vector<DeviceLayer>& layers = whole.programs.at(0).layers;
  EXPECT_FALSE(layers[0].job.plan.output.vector) << "it writes all lanes of its words";
  const DeviceLayer& reader = layers.back();
  EXPECT_EQ(reader.job.plan.shape.k, 32U) << "8 of its columns meet zeros";
  EXPECT_EQ(reader.products().k, 24U);
  EXPECT_EQ(reader.input_order.at(5), 8U);
  EXPECT_EQ(reader.input_order.at(21), 24U);
  const DevicePlan pooled = found("MaxPool <kernel_shape = [2,2]> (all)");
  const DeviceLayer& pool = pooled.programs.at(0).layers.at(3);
  EXPECT_EQ(pool.job.plan.shape.n, 32U);
  EXPECT_EQ(pool.products().n, 24U);
  EXPECT_EQ(pool.result_order, reader.input_order);
  EXPECT_EQ(pooled.programs[0].layers.at(4).job.plan.shape.k, 32U);
  EXPECT_EQ(places(found("", "b2")), "a@0 b@5 c@21") << "an addition reads it in its order";
}

TEST_F(DevicePlanTest, ReadsChannelSlicesInPlace) {
  const auto found = [](const std::string& slice, int channels, int groups = 1) {
    QuantizedText text("1,8,6,6");
    text.conv("x", "a", 8, 24, 1)
        .node("b", slice)
        .conv("b", "y", channels, channels, 1, "", groups);
    return plan(text);
  };
  const DevicePlan sliced = found("Slice (a, ninth, end, axis_one)", 15);
  ASSERT_THAT(texts(sliced), ElementsAre("a y<a"));
  const DeviceLayer& layer = sliced.programs[0].layers[1];
  EXPECT_EQ(layer.job.source_tile, 1U);
  EXPECT_EQ(layer.convolution->channels, 16U) << "tiles 1 and 2";
  ASSERT_EQ(layer.input_order.size(), 15U);
  EXPECT_EQ(layer.input_order[0], 1U) << "channel 9 is at lane 1 of tile 1";
  const DevicePlan ahead = found("Slice (a, first_one, ninth, axis_one)", 9);
  EXPECT_EQ(ahead.programs[0].layers[1].job.source_tile, 0U);
  EXPECT_EQ(ahead.programs[0].layers[1].convolution->channels, 16U);
  EXPECT_EQ(engines(found("Slice (a, ninth, end, axis_one)", 15, 15)), "-a -b |y ")
      << "the array copies them for the lanes";
  EXPECT_THAT(texts(found("Slice (a, first_one, third, third)", 24)), ElementsAre("a", "y"))
      << "columns, not channels";
  EXPECT_THAT(texts(found("Slice (a, back, before, third, back)", 24)), ElementsAre("a", "y"))
      << "columns in reverse";
}

TEST_F(DevicePlanTest, ReadsColumnSlicesInPlace) {
  QuantizedText text("3,8");
  text.matmul("x", "a", 8, 24).node("b", "Slice (a, ninth, end, axis_one)").matmul("b", "y", 15, 8);
  const DevicePlan sliced = plan(text);
  ASSERT_THAT(texts(sliced), ElementsAre("a y<a"));
  EXPECT_EQ(sliced.programs[0].layers[1].view.size(), 15U);
  EXPECT_EQ(sliced.programs[0].layers[1].job.source_tile, 1U);
}

TEST_F(DevicePlanTest, CopiesAPartThatOthersRead) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 1)
      .conv("a", "b", 8, 4, 3, kPad)
      .node("all", "com.microsoft.QLinearConcat <axis = 1> (s, z, a, s, z, b, s, z, a, s, z)")
      .conv("all", "y", 20, 20, 1, "", 20);
  const DevicePlan found = plan(text);
  EXPECT_EQ(parts(found), "b@8 all@0* all@12*");
  EXPECT_EQ(engines(found), "-a -b |all -all |y ") << "the array moves to other lanes";
}

TEST_F(DevicePlanTest, EnlargesAMapThatResizeRepeats) {
  const auto found = [](const std::string& attributes, const std::string& to = "doubled",
                        const std::string& region = "", const PlanOptions& options = {}) {
    QuantizedText text("1,8,6,6");
    text.conv("x", "a", 8, 8, 1)
        .node("b", "Resize <" + attributes + "> (a, " + region + ", " + to + ")")
        .conv("b", "y", 8, 8, 1);
    return texts(plan_device(text.model(), small_geometry(), options));
  };
  EXPECT_THAT(found("mode = \"nearest\"", "doubled", "nothing"), ElementsAre("a b<a y<b"));
  EXPECT_THAT(found("mode = \"nearest\""), ElementsAre("a b<a y<b"));
  EXPECT_THAT(found("mode = \"nearest\"", "doubled, "), ElementsAre("a b<a y<b"));
  EXPECT_THAT(found("mode = \"nearest\", nearest_mode = \"ceil\""), ElementsAre("a", "y"));
  EXPECT_THAT(found("mode = \"linear\""), ElementsAre("a", "y"));
  EXPECT_THAT(found("mode = \"nearest\"", ", sizes"), ElementsAre("a b<a y<b"));
  EXPECT_THAT(
      found("mode = \"nearest\", coordinate_transformation_mode = \"align_corners\"", ", sizes"),
      ElementsAre("a", "y"));
  PlanOptions array;
  array.lanes = false;
  EXPECT_THAT(found("mode = \"nearest\"", "doubled", "", array), ElementsAre("a", "y"))
      << "the array repeats no pixel";
}

TEST_F(DevicePlanTest, EnlargesChannelsOfASlice) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 1)
      .node("half", "Slice (a, first_one, third, axis_one)")
      .node("b", "Resize <mode = \"nearest\"> (half, , doubled)")
      .conv("b", "y", 3, 8, 1);
  const DevicePlan made = plan(text);
  ASSERT_THAT(texts(made), ElementsAre("a half<a b<half y<b"));
  EXPECT_FALSE(made.programs[0].layers[2].identity) << "the array repeats no pixels";
  EXPECT_EQ(made.programs[0].layers[2].repeats, std::pair(2U, 2U));
}

TEST_F(DevicePlanTest, PoolsReaderWaitsForOtherParts) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 1)
      .node("p", "MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (a)")
      .node("all", "com.microsoft.QLinearConcat <axis = 1> (s, z, p, s, z, a, s, z)")
      .conv("all", "y", 16, 8, 1);
  Geometry geometry = small_geometry();
  geometry.tensor_memory = true;
  EXPECT_THAT(texts(plan_device(text.model(), geometry)), ElementsAre("a p<a all<a y<all"));
}

TEST_F(DevicePlanTest, ReportsWhyProgramsAreSplit) {
  const auto found = [](const std::string& node, const PlanOptions& options = {},
                        std::int64_t channels = 8) {
    QuantizedText text("1,8,6,6");
    text.conv("x", "a", 8, 8, 1).node("b", node).conv("b", "y", channels, 8, 1);
    const DevicePlan made = plan_device(text.model(), small_geometry(), options);
    const auto& between = made.between;
    return between.empty() ? "" : between.count(1) == 1 ? between.at(1) : "another node";
  };
  EXPECT_EQ(found("MaxPool <kernel_shape = [1,1]> (a)"), "");
  EXPECT_EQ(found("Transpose <perm = [0,1,3,2]> (a)"), "the device has no such operation");
  EXPECT_EQ(found("Resize <mode = \"linear\"> (a, , doubled)"),
            "it does more than repeat each pixel");
  EXPECT_EQ(found("com.microsoft.QLinearConcat <axis = 2> (s, z, a, s, z)"),
            "it does not concatenate channels");
  PlanOptions array;
  array.lanes = false;
  EXPECT_THAT(found("com.microsoft.QLinearConcat <axis = 1> (s, z, a, s, z, x, s, z)", array, 16),
              HasSubstr("x is not what a layer gives"));
  EXPECT_EQ(found("MaxPool <kernel_shape = [3,3]> (a)", array), "with --depthwise array");
}

TEST_F(DevicePlanTest, NamesProgramsStartedAfterANode) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 1)
      .node("t", "Transpose <perm = [0,1,3,2]> (a)")
      .conv("t", "b", 8, 8, 1)
      .node("u", "Transpose <perm = [0,1,3,2]> (b)")
      .node("v", "Transpose <perm = [0,1,3,2]> (u)")
      .conv("v", "c", 8, 8, 1)
      .conv("u", "d", 8, 8, 1)
      .add("c", "d", "y");
  const DevicePlan made = plan(text);
  ASSERT_EQ(made.programs.size(), 3U);
  EXPECT_THAT(made.programs_after(0), ElementsAre()) << "a layer";
  EXPECT_THAT(made.programs_after(1), ElementsAre(2));
  EXPECT_THAT(made.programs_after(3), ElementsAre(3));
  EXPECT_THAT(made.programs_after(4), ElementsAre(3));
}

TEST_F(DevicePlanTest, ReadsShuffledChannelsInPlace) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 1)
      .node("mixed", "Gather <axis = 1> (a, order)")
      .node("half", "Slice (mixed, first_one, third, axis_one)")
      .conv("half", "b", 3, 8, 1)
      .conv("mixed", "y", 8, 8, 1);
  const DevicePlan made = plan(text);
  EXPECT_THAT(texts(made), ElementsAre("a b<a y<a"));
  EXPECT_THAT(made.programs[0].layers[1].view, ElementsAre(0, 4, 1));
}

TEST_F(DevicePlanTest, CopiesChannelsTakenTwice) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 1)
      .node("mixed", "Gather <axis = 1> (a, twice)")
      .conv("mixed", "y", 8, 8, 1);
  EXPECT_THAT(texts(plan(text)), ElementsAre("a mixed<a y<mixed"));
  PlanOptions array;
  array.lanes = false;  // nothing makes copies, so that the host lays out what the layer reads
  EXPECT_THAT(texts(plan_device(text.model(), small_geometry(), array)), ElementsAre("a", "y"));
}

TEST_F(DevicePlanTest, ReportsNodesBetweenSumPrograms) {
  QuantizedText text("4,8");
  text.weights("w", {8, 8})
      .node("a", "MatMulInteger (x, w)")
      .node("b", "Cast <to = 2> (a)")
      .node("c", "MatMulInteger (b, w)")
      .node("y", "Cast <to = 2> (c)");
  EXPECT_THAT(plan(text).between,
              testing::ElementsAre(testing::Pair(1, "the device has no such operation")));
}

TEST_F(DevicePlanTest, OmitsNodesNoProgramWaitsFor) {
  QuantizedText text("1,8,6,6");
  text.node("r", "Transpose <perm = [0,1,3,2]> (x)")
      .conv("r", "a", 8, 8, 1)
      .node("y", "Transpose <perm = [0,1,3,2]> (a)");
  EXPECT_TRUE(plan(text).between.empty());
}

TEST_F(DevicePlanTest, DepthwiseIfWindowFits) {
  const auto found = [](const std::string& map, std::int64_t kernel, const std::string& attributes,
                        const PlanOptions& options = {}) {
    QuantizedText text(map);
    text.conv("x", "a", 8, 8, 1).conv("a", "y", 8, 8, kernel, attributes, 8);
    return engines(plan_device(text.model(), small_geometry(), options));
  };
  EXPECT_EQ(found("1,8,6,6", 3, kPad), "-a |y ");
  EXPECT_EQ(found("2,8,9,8", 5, "strides = [2,1]"), "-a |y ");
  EXPECT_EQ(found("1,8,9,128", 7, "pads = [3,3,3,3]"), "-a |y ");
  EXPECT_EQ(found("1,8,9,9", 3, "dilations = [3,3]"), "-a |y ");
  EXPECT_EQ(found("1,8,13,13", 3, "dilations = [6,6]"), "-a |y ");
  EXPECT_EQ(found("1,8,15,15", 3, "dilations = [7,7]"), "-a -y ");
  EXPECT_EQ(found("1,8,9,9", 8, ""), "-a -y ");
  EXPECT_EQ(found("1,8,9,129", 3, ""), "-a |y ") << "in strips";
  EXPECT_EQ(found("1,8,9,1", 1, ""), "-a |y ") << "a column is a row";
  EXPECT_EQ(found("1,8,1,1", 1, ""), "-a -y ");
  EXPECT_EQ(found("1,8,6,6", 3, "pads = [3,0,0,0]"), "-a -y ");
  PlanOptions array;
  array.lanes = false;
  EXPECT_EQ(found("1,8,6,6", 3, kPad, array), "-a -y ");
  QuantizedText groups("1,8,6,6");
  groups.conv("x", "a", 8, 8, 3, "", 4).conv("a", "y", 8, 16, 3, "", 8);
  EXPECT_EQ(engines(plan(groups)), "-a -y ");
}

TEST_F(DevicePlanTest, DepthwiseUnitPoolsLayers) {
  const auto found = [](const std::string& pool, const PlanOptions& options = {},
                        const std::string& map = "1,8,9,9") {
    QuantizedText text(map);
    text.conv("x", "a", 8, 8, 1).node("p", pool).conv("p", "y", 8, 8, 1);
    return texts(plan_device(text.model(), small_geometry(), options));
  };
  const std::vector<std::string> one = {"a p<a y<p"}, two = {"a", "y"};
  EXPECT_EQ(found("MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (a)"), one);
  EXPECT_EQ(found("MaxPool <kernel_shape = [2,3], strides = [2,3], ceil_mode = 1> (a)"), one);
  EXPECT_EQ(found("MaxPool <kernel_shape = [7,7]> (a)"), one);
  EXPECT_EQ(found("MaxPool <kernel_shape = [8,8]> (a)"), two);
  EXPECT_EQ(found("MaxPool <kernel_shape = [9,9]> (a)"), one) << "of the whole map";
  EXPECT_EQ(found("MaxPool <kernel_shape = [9,9], pads = [0,0,1,1]> (a)"), two);
  const std::string mean = "com.microsoft.QLinearGlobalAveragePool (a, s, z, s, z)";
  EXPECT_EQ(found(mean), one);
  EXPECT_EQ(found(mean, {}, "2,8,128,128"), one);
  EXPECT_EQ(found(mean, {}, "1,8,129,128"), two) << "more than a sum holds";
  EXPECT_EQ(found(mean, {}, "1,8,9,129"), one) << "in rows of 43";
  EXPECT_EQ(found(mean, {}, "1,8,1,131"), two) << "a prime";
  PlanOptions array;
  array.lanes = false;
  EXPECT_EQ(found("MaxPool <kernel_shape = [3,3]> (a)", array), two);
}

TEST_F(DevicePlanTest, AveragesOfEqualCountsOnly) {
  std::string why;
  const auto found = [&why](const std::string& attributes, const std::string& result = "s, z") {
    QuantizedText text("1,8,9,9");
    text.conv("x", "a", 8, 8, 1)
        .node("p",
              "com.microsoft.QLinearAveragePool <" + attributes + "> (a, s, z, " + result + ")")
        .conv("p", "y", 8, 8, 1);
    const DevicePlan made = plan(text);
    why = made.between.count(1) != 0 ? made.between.at(1) : "";
    return texts(made);
  };
  const std::vector<std::string> one = {"a p<a y<p"}, two = {"a", "y"};
  EXPECT_EQ(found("kernel_shape = [3,3], strides = [2,2]"), one);
  EXPECT_EQ(why, "");
  EXPECT_EQ(found("kernel_shape = [3,3], pads = [1,1,1,1], count_include_pad = 1"), one);
  EXPECT_EQ(found("kernel_shape = [9,9]"), one) << "of the whole map";
  EXPECT_EQ(found("kernel_shape = [3,3], pads = [1,1,1,1]"), two);
  EXPECT_THAT(why, Says("fewer values at the border"));
  EXPECT_EQ(found("kernel_shape = [2,2], strides = [2,2], ceil_mode = 1"), two);
  EXPECT_THAT(why, Says("fewer values at the border"));
  EXPECT_EQ(found("kernel_shape = [8,8]"), two);
  EXPECT_THAT(why, Says("larger than the lanes'"));
}

// What an adaptive pool of as many outputs as inputs becomes.
TEST_F(DevicePlanTest, ReadsThroughUnitAverages) {
  const auto found = [](const std::string& attributes, const std::string& result = "s, z") {
    QuantizedText text("1,8,9,9");
    text.conv("x", "a", 8, 8, 1)
        .node("p",
              "com.microsoft.QLinearAveragePool <" + attributes + "> (a, s, z, " + result + ")")
        .conv("p", "y", 8, 8, 1);
    return texts(plan(text));
  };
  const std::vector<std::string> one = {"a y<a"}, two = {"a", "y"}, pool = {"a p<a y<p"};
  EXPECT_EQ(found("kernel_shape = [1,1]"), one);
  EXPECT_EQ(found("kernel_shape = [1,1]", "s"), pool) << "another zero point";
  EXPECT_EQ(found("kernel_shape = [1,1], strides = [2,1]"), pool);
  EXPECT_EQ(found("kernel_shape = [1,3], pads = [0,1,0,1]"), two);
}

TEST_F(DevicePlanTest, FusesBranchesInOrderOfWaits) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "one", 8, 8, 1)
      .conv("x", "r3", 8, 8, 1)
      .conv("r3", "three", 8, 8, 3, kPad)
      .conv("x", "r5", 8, 8, 1)
      .conv("r5", "five", 8, 8, 5, "pads = [2,2,2,2]")
      .node("pool", "MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (x)")
      .conv("pool", "four", 8, 8, 1)
      .node("y", "Concat <axis = 1> (one, three, five, four)");
  EXPECT_THAT(texts(plan(text)), ElementsAre("one r3 r5 four three<r3 five<r5"));
}

TEST_F(DevicePlanTest, PacksWindowsOfFirstLayer) {
  QuantizedText text("1,3,8,8");
  text.conv("x", "a", 3, 8, 3, "strides = [2,2]").conv("a", "y", 8, 8, 1);
  const DevicePlan found = plan(text);
  EXPECT_THAT(texts(found), ElementsAre("a! y<a"));
  EXPECT_EQ(found.programs[0].layers[0].job.plan.shape.k, 27U);
  // Not where a word holds but one pixel, and not what is on the device already.
  QuantizedText more("1,5,8,8");
  more.conv("x", "a", 5, 3, 3, kPad).conv("a", "y", 3, 8, 3, kPad);
  EXPECT_THAT(texts(plan(more)), ElementsAre("a y<a"));
  // Nor where it saves no tile.
  QuantizedText point("1,4,8,8");
  point.conv("x", "y", 4, 8, 1);
  EXPECT_THAT(texts(plan(point)), ElementsAre("y"));
}

TEST_F(DevicePlanTest, RunsLinearAfterFlattenAsWindow) {
  QuantizedText text("2,8,4,3");
  text.conv("x", "a", 8, 12, 1)
      .node("f", "Flatten (a)")
      .matmul("f", "b", 144, 10)
      .matmul("b", "y", 10, 4);
  const DevicePlan found = plan(text);
  EXPECT_THAT(texts(found), ElementsAre("a b<a y<b"));
  const Convolution& window = found.programs[0].layers[1].convolution.value();
  EXPECT_EQ(window.kernel_height, 4U);
  EXPECT_EQ(window.kernel_width, 3U);
  EXPECT_EQ(window.channels, 12U);
  EXPECT_EQ(found.programs[0].layers[1].job.plan.shape.macs(), 2U * 144 * 10);
  EXPECT_FALSE(found.programs[0].layers[2].convolution);
}

TEST_F(DevicePlanTest, HostTransposesBetweenLayers) {
  QuantizedText text("2,8,4,4");
  text.conv("x", "a", 8, 8, 1)
      .node("t", "Transpose <perm = [0,1,3,2]> (a)")
      .conv("t", "y", 8, 8, 1);
  EXPECT_THAT(texts(plan(text)), ElementsAre("a", "y"));
}

TEST_F(DevicePlanTest, ReadsMapsInPlaceInOwnShapeOnly) {
  for (const char* const shape : {"2,4,4,4", "1,8,4,4", "1,8,2,8", "1,4,8,4"}) {
    SCOPED_TRACE(shape);
    const bool same = std::string(shape) == "1,8,4,4";
    QuantizedText text("1,8,4,4");
    text.conv("x", "a", 8, 8, 1)
        .node("shape", std::string("Constant <value_ints = [") + shape + "]> ()")
        .node("r", "Reshape (a, shape)")
        .conv("r", "y", shape[2] - '0', 8, 1);
    const std::vector<std::string> apart{"a", "y"}, together{"a y<a"};
    EXPECT_EQ(texts(plan(text)), same ? together : apart);
  }
}

TEST_F(DevicePlanTest, GivesInt8WhereTheDeviceReadsIt) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 1).conv("a", "y", 8, 8, 1);
  const DevicePlan found = plan(text);
  const std::vector<DeviceLayer>& layers = found.programs.at(0).layers;
  EXPECT_EQ(layers[0].job.plan.output.format.code(), ResultCode::kInt8);
  EXPECT_EQ(layers[0].job.plan.output.zero, 131 - 128);
  EXPECT_EQ(layers[1].job.plan.output.format.code(), ResultCode::kUint8);
  EXPECT_EQ(layers[1].job.plan.output.zero, 131);
  EXPECT_EQ(layers[0].convolution.value().zero, 131 - 128);
}

TEST_F(DevicePlanTest, SumsGroupsWithWeightZeroPoint) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "y", 8, 8, 1, "", 2);
  const DevicePlan found = plan_device(text.model(3), small_geometry());
  EXPECT_TRUE(found.programs.empty());
  EXPECT_EQ(found.sums.at(0), "its weights have a zero point, and it has groups");
}

TEST_F(DevicePlanTest, AppendsRowSumsForZeroPoints) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 1).conv("a", "b", 8, 8, 3, kPad).node("f", "Flatten (b)");
  text.matmul("f", "y", 288, 4);
  const DevicePlan found = plan_device(text.model(3), small_geometry());
  EXPECT_THAT(texts(found), ElementsAre("a!"));
  const DeviceLayer& layer = found.programs[0].layers[0];
  EXPECT_EQ(layer.sum_columns, 2U);
  EXPECT_EQ(layer.depth_of_products(), 8U);
  EXPECT_EQ(layer.job.plan.shape.k, 10U);
  // 72 columns are nine tiles, with those of sums ten: int32 results take less.
  EXPECT_EQ(found.sums.at(1), "its weights have a zero point");
  EXPECT_EQ(found.sums.at(3), "its weights have a zero point");
  const DevicePlan left = plan_device(text.model(3), small_geometry(), {false});
  EXPECT_EQ(left.on_host.at(0), "with --convolutions host");
  EXPECT_EQ(left.on_host.at(1), "with --convolutions host");
}

TEST_F(DevicePlanTest, SumsConvolutionsOfOneGroup) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 1).node("i", "ConvInteger (a, w_a)").node("y", "Cast <to = 2> (i)");
  const DevicePlan found = plan_device(text.model(), small_geometry());
  EXPECT_EQ(found.sums.at(1), "its results are not of 8 bits");
  EXPECT_TRUE(found.on_host.empty());
  const DevicePlan left = plan_device(text.model(), small_geometry(), {false});
  EXPECT_EQ(left.on_host.at(1), "with --convolutions host");
  EXPECT_TRUE(left.sums.empty());
  EXPECT_EQ(plan_sums(text.model(), "why").on_host.at(1), "why");
}

TEST_F(DevicePlanTest, HostConvolvesIfSumsRequested) {
  QuantizedText text("2,8,1,1");
  text.conv("x", "a", 8, 8, 1).node("f", "Flatten (a)").matmul("f", "y", 8, 4);
  const DevicePlan found = plan_sums(text.model(), "why");
  EXPECT_TRUE(found.programs.empty());
  EXPECT_EQ(found.on_host.at(0), "why");
  EXPECT_EQ(found.sums.at(2), "why");
}

TEST_F(DevicePlanTest, PredictsEachLayerOfAProgram) {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 8, 3, kPad).conv("a", "y", 8, 8, 1);
  const DevicePlan found = plan(text);
  const JobProgram made = make_program(found.programs[0], small_geometry());
  const std::vector<Counters> layers = predict_layers(made, small_geometry(), {});
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0][counter::kComputeCompute], 36U * 9);
  EXPECT_EQ(layers[1][counter::kComputeCompute], 36U);
}

}  // namespace
}  // namespace gemm64
