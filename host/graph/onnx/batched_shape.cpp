// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/batched_shape.hpp"

#include <algorithm>

#include "host/graph/onnx/model.hpp"

namespace gemm64 {
namespace {

using Sizes = std::vector<std::int64_t>;

/// Would `shape`, [1, ...], take one of the `batch` images of `x` and leave the others?
bool takes_one_image(const Sizes& x, const Sizes& shape, std::int64_t batch, bool keeps_zeros) {
  if (std::find(shape.begin(), shape.end(), -1) != shape.end()) return x[0] == batch;
  double elements = static_cast<double>(batch);  // of a file's making: they may be any
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool copied = shape[i] == 0 && !keeps_zeros && i < x.size();
    elements *= static_cast<double>(copied ? x[i] : shape[i]);
  }
  double given = 1;
  for (const std::int64_t size : x) given *= static_cast<double>(size);
  return elements > 0 && elements == given;
}

}  // namespace

std::int64_t new_batch(const onnx::GraphProto& graph, const ValueFacts& facts) {
  std::int64_t batch = 0;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    const auto& shape = input.type().tensor_type().shape();
    const auto type = facts.types.find(input.name());
    if (shape.dim_size() == 0 || shape.dim(0).dim_value() != 1 || type == facts.types.end()) {
      continue;
    }
    const std::int64_t size = type->second.dims.at(0);
    if (batch != 0 && size != batch) return 0;
    batch = size;
  }
  return batch > 1 ? batch : 0;
}

std::optional<BatchedShape> batched_shape(const onnx::NodeProto& node, const ValueFacts& facts,
                                          std::int64_t batch) {
  const bool reshape = node.op_type() == "Reshape";
  const int input = reshape ? 1 : 3;
  if (batch == 0 || !node.domain().empty() || (!reshape && node.op_type() != "Resize") ||
      node.input_size() <= input) {
    return std::nullopt;
  }
  const auto x = facts.types.find(node.input(0));
  const auto shape = facts.integers.find(node.input(input));
  if (x == facts.types.end() || shape == facts.integers.end() || x->second.dims.empty() ||
      shape->second.empty() || shape->second[0] != 1) {
    return std::nullopt;
  }
  const Sizes& dims = x->second.dims;
  const bool keeps_zeros = attribute(node, "allowzero", std::int64_t{0}) != 0;
  const bool fits = reshape ? takes_one_image(dims, shape->second, batch, keeps_zeros)
                            : dims[0] == batch && dims.size() == shape->second.size() &&
                                  attribute(node, "axes", Sizes{}).empty();
  if (!fits) return std::nullopt;
  BatchedShape result{input, shape->second};
  result.shape[0] = batch;
  return result;
}

bool mixes_images(const onnx::NodeProto& node, const ValueFacts& facts, std::int64_t batch) {
  if (batch == 0 || !node.domain().empty() || node.input_size() == 0 || node.output_size() == 0 ||
      (node.op_type() != "Reshape" && node.op_type() != "Flatten")) {
    return false;
  }
  const auto x = facts.types.find(node.input(0));
  const auto y = facts.types.find(node.output(0));
  if (x == facts.types.end() || y == facts.types.end()) return false;
  const Sizes& from = x->second.dims;
  const Sizes& to = y->second.dims;
  return !from.empty() && from[0] == batch && (to.empty() || to[0] % batch != 0);
}

}  // namespace gemm64
