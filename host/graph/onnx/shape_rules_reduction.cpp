// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "host/graph/onnx/shape_rules.hpp"

namespace gemm64 {
namespace shapes {

using onnx::TensorProto;

void reduce(RuleNode& node) {
  const Dims& x = node.dims(0);
  // ReduceSum takes the axes as an input since opset 13, the others as an attribute up to 17.
  const bool as_input = node.has(1);
  const Dims axes = as_input ? node.needed_integers(1) : node.list("axes");
  const bool keep = node.integer("keepdims", 1) != 0;
  std::vector<bool> reduced(x.size(), axes.empty() && node.integer("noop_with_empty_axes", 0) == 0);
  for (const std::int64_t axis : axes) reduced[node.axis(axis, x.size())] = true;
  Dims result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!reduced[i]) {
      result.push_back(x[i]);
    } else if (keep) {
      result.push_back(1);
    }
  }
  node.set(0, node.input(0).data_type, result);
}

/// QLinearReduceMean: its inputs from the second on are scales and zero points.
void quantized_reduce(RuleNode& node) {
  Dims x = node.dims(0);
  const bool keep = node.integer("keepdims", 1) != 0;
  const Dims axes = node.list("axes");
  std::vector<bool> reduced(x.size(), axes.empty());
  for (const std::int64_t axis : axes) reduced[node.axis(axis, x.size())] = true;
  Dims result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!reduced[i] || keep) result.push_back(reduced[i] ? 1 : x[i]);
  }
  node.set(0, node.input(0).data_type, result);
}

void arg(RuleNode& node) {
  Dims result = node.dims(0);
  const std::size_t axis = node.axis(node.integer("axis", 0), result.size());
  if (node.integer("keepdims", 1) != 0) {
    result[axis] = 1;
  } else {
    result.erase(result.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  node.set(0, TensorProto::INT64, result);
}

void top_k(RuleNode& node) {
  Dims result = node.dims(0);
  const std::size_t axis = node.axis(node.integer("axis", -1), result.size());
  const Dims k = node.opset() < 10 ? Dims{node.integer("k", -1)} : node.needed_integers(1);
  node.require(k.size() == 1 && k[0] >= 0 && k[0] <= result[axis],
               fmt::format("k does not fit axis {} of {}", axis, dims_text(result)));
  result[axis] = k[0];
  const int type = node.input(0).data_type;
  node.set(0, type, result);
  node.set(1, TensorProto::INT64, result);
}

void one_hot(RuleNode& node) {
  Dims result = node.dims(0);
  const Dims depth = node.needed_integers(1);
  node.require(depth.size() == 1 && depth[0] >= 1, "its depth must be one positive number");
  const std::size_t axis = node.axis(node.integer("axis", -1), result.size() + 1);
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(axis), depth[0]);
  node.set(0, node.input(2).data_type, result);
}

}  // namespace shapes
}  // namespace gemm64
