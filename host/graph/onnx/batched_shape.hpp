// SPDX-License-Identifier: Apache-2.0
// Shapes for a batch of 1 that exporters wrote into the graph, for a larger batch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/graph/onnx/shapes.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// The batch that takes the place of the file's own batch of 1: the first size of all inputs that
/// the file gives one of 1. 0 where they keep it, or where they disagree.
std::int64_t new_batch(const onnx::GraphProto& graph, const ValueFacts& facts);

/// A constant input of a node that holds a shape, and what it is for the batch.
struct BatchedShape {
  int input = 0;
  std::vector<std::int64_t> shape;
};

/// Where a Reshape or Resize of a value with `batch` images asks for one image, [1, ...]: the same
/// shape with the batch first. Empty where the node fits as it is.
std::optional<BatchedShape> batched_shape(const onnx::NodeProto& node, const ValueFacts& facts,
                                          std::int64_t batch);

/// Does a Reshape or Flatten of a value with `batch` images leave no whole number of rows to each?
bool mixes_images(const onnx::NodeProto& node, const ValueFacts& facts, std::int64_t batch);

}  // namespace gemm64
