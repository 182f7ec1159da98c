// SPDX-License-Identifier: Apache-2.0
// The arithmetic of one node: multiply-accumulates, and the matrix products that they make up. A
// rule is a function `std::optional<Work> name(const NodeShapes&)` in namespace work, which the
// operators' rows name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/graph/onnx/model.hpp"
#include "host/graph/onnx/operator.hpp"

namespace gemm64 {

/// A product [m x k] * [k x n].
struct ProductSizes {
  std::uint64_t m = 0, k = 0, n = 0;
};

/// `count` products of one shape: a Conv is one for each group (im2col), a batched MatMul one for
/// each matrix.
struct Products {
  ProductSizes shape;
  std::uint64_t count = 0;
};

struct Work {
  /// One multiply and one add is one; a bias is none; products with padded zeros count.
  std::uint64_t macs = 0;
  /// Additions of a bias of Conv, ConvTranspose or Gemm: one for each output where it has one.
  std::uint64_t bias_adds = 0;
  /// For Conv, ConvTranspose, Gemm and MatMul (and their integer forms) of at least one MAC: those
  /// with weights.
  std::optional<Products> products;
};

/// What a node computes. Empty where that is not known: its operator is not, or depends on a
/// subgraph, or a shape is missing. Throws std::overflow_error where a count is beyond 63 bits.
std::optional<Work> work_of(const OnnxModel& model, const onnx::NodeProto& node);

/// The values that a node takes of others or gives, whichever are more; 0 where a shape is missing,
/// or its effort is that of its MACs.
std::uint64_t values_of(const OnnxModel& model, const onnx::NodeProto& node);

/// A node and its shapes, for a rule. What only the file says of an output may contradict the
/// inputs, so that ranks are looked at again.
class NodeShapes {
 public:
  using Dims = std::vector<std::int64_t>;
  NodeShapes(const OnnxModel& model, const onnx::NodeProto& node) : model_(model), node_(node) {}

  const onnx::NodeProto& node() const { return node_; }
  bool has(int i) const { return i >= 0 && i < node_.input_size() && !node_.input(i).empty(); }
  /// Sizes of input `i`, or of the first output, if they are known and at least `rank`.
  std::optional<Dims> input(int i, std::size_t rank) const;
  std::optional<Dims> output(std::size_t rank) const;
  /// The type of input `i`'s values, if it is known.
  std::optional<int> type(int i) const;
  /// Of a convolution; 0 where the attribute is no number of groups.
  std::uint64_t groups() const;

 private:
  std::optional<Dims> sizes(const std::string& value, std::size_t rank) const;

  const OnnxModel& model_;
  const onnx::NodeProto& node_;
};

namespace work {

/// The rule of operators without matrix products whose effort grows only with their values.
WorkRule none;

}  // namespace work

}  // namespace gemm64
