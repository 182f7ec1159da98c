// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "host/graph/onnx/shape_rules.hpp"

namespace gemm64 {
namespace shapes {

using onnx::TensorProto;

void same(RuleNode& node) { node.set(0, node.input(0).data_type, node.dims(0)); }

/// Softmax and the like, along an axis.
void same_along_axis(RuleNode& node) {
  const std::size_t rank = node.dims(0).size();
  // Up to opset 12 the axis is where the input is folded into a matrix, and may be its end.
  if (node.opset() >= 13 || node.integer("axis", 1) != static_cast<std::int64_t>(rank)) {
    node.axis(node.integer("axis", node.opset() < 13 ? 1 : -1), rank);
  }
  same(node);
}

void same_as_bool(RuleNode& node) { node.set(0, TensorProto::BOOL, node.dims(0)); }

namespace {

/// Any number of operands that broadcast.
Dims broadcast_all(const RuleNode& node) {
  // Before opset 7 the second operand was fitted to the first.
  if (node.opset() < 7) return node.dims(0);
  Dims dims = node.dims(0);
  for (int i = 1; i < node.inputs(); ++i) dims = broadcast(node, dims, node.dims(i));
  return dims;
}

}  // namespace

void arithmetic(RuleNode& node) {
  const Dims dims = broadcast_all(node);
  node.set(0, node.input(0).data_type, dims);
}

void comparison(RuleNode& node) { node.set(0, TensorProto::BOOL, broadcast_all(node)); }

void where(RuleNode& node) {
  const Dims dims = broadcast(node, broadcast(node, node.dims(0), node.dims(1)), node.dims(2));
  node.set(0, node.input(1).data_type, dims);
}

/// QLinearAdd and its like: A, its scale and zero point, B and its own.
void quantized_arithmetic(RuleNode& node) {
  const Dims dims = broadcast(node, node.dims(0), node.dims(3));
  node.set(0, node.input(0).data_type, dims);
}

void quantized_where(RuleNode& node) {
  const Dims dims = broadcast(node, broadcast(node, node.dims(0), node.dims(1)), node.dims(4));
  node.set(0, node.input(1).data_type, dims);
}

void prelu(RuleNode& node) {
  if (node.opset() >= 7 && broadcast(node, node.dims(0), node.dims(1)) != node.dims(0)) {
    node.fail(fmt::format("a slope of shape {} does not fit an input of {}",
                          dims_text(node.dims(1)), dims_text(node.dims(0))));
  }
  same(node);
}

void cast(RuleNode& node) { node.set(0, static_cast<int>(node.integer("to", 0)), node.dims(0)); }

void cast_like(RuleNode& node) { node.set(0, node.input(1).data_type, node.dims(0)); }

/// A cut of the input along the axes, or padding.
void center_crop_pad(RuleNode& node) {
  Dims result = node.dims(0);
  const Dims sizes = node.needed_integers(1);
  const Dims axes = node.list("axes");
  node.require(axes.empty() ? sizes.size() == result.size() : sizes.size() == axes.size(),
               fmt::format("{} sizes for an input of {}", sizes.size(), dims_text(result)));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    result[axes.empty() ? i : node.axis(axes[i], result.size())] = sizes[i];
  }
  node.set(0, node.input(0).data_type, result);
}

void dropout(RuleNode& node) {
  same(node);
  node.set(1, node.opset() < 10 ? node.input(0).data_type : int{TensorProto::BOOL}, node.dims(0));
}

void batch_normalization(RuleNode& node) {
  const Dims& x = node.dims(0);
  for (int i = 1; i < 5 && node.has(i); ++i) {
    const Dims& statistic = node.dims(i);
    node.require(x.size() >= 2 && statistic.size() == 1 && statistic[0] == x[1],
                 fmt::format("input {} of shape {} does not fit an input of {}", i,
                             dims_text(statistic), dims_text(x)));
  }
  const int type = node.input(0).data_type;
  const Dims channels = node.dims(1);
  node.set(0, type, x);
  for (int i = 1; i < node.outputs(); ++i) node.set(i, type, channels);
}

void layer_normalization(RuleNode& node) {
  const Dims x = node.dims(0);
  const int type = node.input(0).data_type;
  const std::size_t axis = node.axis(node.integer("axis", -1), x.size());
  Dims statistics = x;
  for (std::size_t i = axis; i < statistics.size(); ++i) statistics[i] = 1;
  node.set(0, type, x);
  for (int i = 1; i < node.outputs(); ++i) node.set(i, TensorProto::FLOAT, statistics);
}

void quantize(RuleNode& node) {
  const auto asked = static_cast<int>(node.integer("output_dtype", 0));
  const int otherwise = asked != 0 ? asked : int{TensorProto::UINT8};
  node.set(0, node.has(2) ? node.input(2).data_type : otherwise, node.dims(0));
}

void dequantize(RuleNode& node) {
  const auto asked = static_cast<int>(node.integer("output_dtype", 0));
  node.set(0, asked != 0 ? asked : node.input(1).data_type, node.dims(0));
}

void dynamic_quantize(RuleNode& node) {
  node.set(0, TensorProto::UINT8, node.dims(0));
  node.set(1, TensorProto::FLOAT, {});
  node.set(2, TensorProto::UINT8, {});
}

}  // namespace shapes
}  // namespace gemm64
