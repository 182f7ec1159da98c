// SPDX-License-Identifier: Apache-2.0
#include "host/compile/layer_buffers.hpp"

#include <fmt/ranges.h>

#include "host/compile/device_plan.hpp"
#include "tests/test.hpp"
#include "tests/unit/runtime/quantized_graph_text.hpp"
#include "tests/unit/runtime/small_device.hpp"

namespace gemm64 {
namespace {

/// Dimensions of a type, "-" of none.
std::string text_of(const TensorType& type) {
  return type.data_type == 0 ? "-" : fmt::format("{}", fmt::join(type.dims, "x"));
}

std::string text_of(const MatrixI8& rows) {
  return rows.size() == 0 ? "-" : fmt::format("{}x{}", rows.rows(), rows.cols());
}

std::vector<std::string> sorted_names(const NamedBuffers& buffers) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : buffers) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

/// Of each layer: what it reads, weights that the network computes, its second operand and this as
/// a constant, its result, the rows of its weights, and the known values.
std::vector<std::string> texts(QuantizedText& text) {
  const OnnxModel model = text.model();
  const DevicePlan plan = plan_device(model, small_geometry());
  std::vector<std::string> found;
  for (const DeviceProgram& program : plan.programs) {
    const std::vector<LayerBuffers> all = layer_buffers(model, program);
    EXPECT_EQ(all.size(), program.layers.size());
    for (const LayerBuffers& made : all) {
      found.push_back(fmt::format(
          "{} * {} + {} ({}) = {} {}; {} biases; {}", text_of(made.input), text_of(made.weights),
          text_of(made.operand), text_of(made.operand_rows), made.result_name, text_of(made.result),
          made.constants.bias.size(), fmt::join(sorted_names(made.known), " ")));
    }
  }
  return found;
}

using testing::ElementsAre;

TEST(LayerBuffers, AreOfTheNodesOfEachLayer) {
  QuantizedText text("4,8");
  text.matmul("x", "a", 8, 24)
      .matmul("a", "b", 24, 8)
      .node("biased", "com.microsoft.QLinearAdd (b, s, z, bias, s, z, s, z)")
      .matmul("biased", "c", 8, 8)
      .add("c", "x", "y");
  EXPECT_THAT(texts(text), ElementsAre("4x8 * - + - (-) = a 4x24; 24 biases; ",
                                       "4x24 * - + 8 (1x8) = biased 4x8; 8 biases; ",
                                       "4x8 * - + 4x8 (-) = y 4x8; 8 biases; "));
}

TEST(LayerBuffers, HoldWhatNodesMakeOfConstants) {
  QuantizedText text("4,1");
  text.node("e", "Transpose (rows)")
      .node("a", "QLinearMatMul (x, s, z, e, s, middle, s, z)")
      .node("f", "Identity (bias)")
      .matmul("a", "b", 8, 8)
      .node("y", "com.microsoft.QLinearAdd (b, s, z, f, s, z, s, z)");
  EXPECT_THAT(texts(text), ElementsAre("4x1 * - + - (-) = a 4x8; 8 biases; e",
                                       "4x8 * - + 8 (1x8) = y 4x8; 8 biases; f"));
}

// A layer that reads what nodes make of constants needs no other layer for it.
TEST(LayerBuffers, HoldInputsThatAreConstant) {
  QuantizedText text("1,8");
  text.node("e", "Transpose (rows)").matmul("e", "f", 8, 8).add("f", "x", "y");
  EXPECT_THAT(texts(text), ElementsAre("1x8 * - + 1x8 (-) = y 1x8; 8 biases; e f"));
}

// uint8 is moved to int8.
TEST(LayerBuffers, MoveConstantOperandsToInt8) {
  QuantizedText text("4,8");
  text.matmul("x", "a", 8, 8).node("y", "com.microsoft.QLinearAdd (a, s, z, bias, s, z, s, z)");
  const OnnxModel model = text.model();
  const DevicePlan plan = plan_device(model, small_geometry());
  const MatrixI8 rows = layer_buffers(model, plan.programs.at(0)).at(0).operand_rows;
  std::vector<int> values;
  for (Eigen::Index i = 0; i < rows.size(); ++i) values.push_back(rows(0, i));
  EXPECT_THAT(values, ElementsAre(-128, -119, -73, 3, 12, 72, 126, 127));
}

TEST(LayerBuffers, OfTwoTensorsHaveNoWeights) {
  QuantizedText text("2,3,8");
  text.node("t", "Transpose <perm = [0,2,1]> (x)")
      .matmul("x", "q", 8, 8)
      .node("y", "QLinearMatMul (q, s, z, t, s, middle, s, z)");
  EXPECT_THAT(texts(text), ElementsAre("2x3x8 * - + - (-) = q 2x3x8; 8 biases; ",
                                       "2x3x8 * 2x8x3 + - (-) = y 2x3x3; 0 biases; "));
}

}  // namespace
}  // namespace gemm64
