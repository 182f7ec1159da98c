// SPDX-License-Identifier: Apache-2.0
// How each operator makes the shapes of its outputs from those of its inputs: a rule is a function
// `void name(RuleNode&)` in namespace shapes, which the operators' rows name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/graph/onnx/model.hpp"
#include "host/graph/onnx/shapes.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

using Dims = std::vector<std::int64_t>;

/// Thrown by a rule where a shape cannot be known before the network runs; the text says why.
struct NotKnown {
  std::string why;
};

/// One node for its rule: what is known of its inputs, and where to put what follows.
class RuleNode {
 public:
  RuleNode(const onnx::NodeProto& node, std::int64_t opset,
           const std::map<std::string, const onnx::TensorProto*>& constants, std::string where,
           ValueFacts& facts)
      : node_(node),
        opset_(opset),
        constants_(constants),
        where_(std::move(where)),
        facts_(facts) {}

  const onnx::NodeProto& proto() const { return node_; }
  std::int64_t opset() const { return opset_; }

  int inputs() const { return node_.input_size(); }
  int outputs() const { return node_.output_size(); }
  /// Is input `i` there? Optional ones may be left out.
  bool has(int i) const { return i < node_.input_size() && !node_.input(i).empty(); }
  /// Throws NotKnown if the input's shape is not known, UsageError if there is none.
  const TensorType& input(int i) const;
  const Dims& dims(int i) const { return input(i).dims; }
  /// The values of an input of integers, or nullptr.
  const std::vector<std::int64_t>* integers(int i) const;
  /// The same where the shape depends on them: throws NotKnown.
  const std::vector<std::int64_t>& needed_integers(int i) const;
  /// The values of a constant input of float32; throws NotKnown if it is none.
  std::vector<float> needed_floats(int i) const;

  bool has_attribute(const char* name) const;
  std::int64_t integer(const char* name, std::int64_t otherwise) const;
  std::string text(const char* name, const char* otherwise) const;
  Dims list(const char* name, const Dims& otherwise = {}) const;

  /// `axis`, negative ones counted from the end, or UsageError where it is not in [-rank, rank).
  std::size_t axis(std::int64_t axis, std::size_t rank) const;

  /// Sets output `i` where the node has it.
  void set(int i, int data_type, const Dims& dims);
  void set_integers(int i, std::vector<std::int64_t> values);

  /// Throws UsageError: the file, the node, and `what`.
  [[noreturn]] void fail(const std::string& what) const;
  void require(bool holds, const std::string& what) const {
    if (!holds) fail(what);
  }

 private:
  const onnx::NodeProto& node_;
  std::int64_t opset_;
  const std::map<std::string, const onnx::TensorProto*>& constants_;
  std::string where_;
  ValueFacts& facts_;
};

namespace shapes {

/// The rule of operators whose shapes are not inferred.
void unknown(RuleNode& node);

}  // namespace shapes

/// The shape of NumPy's broadcasting; fails where the shapes do not fit.
Dims broadcast(const RuleNode& node, const Dims& a, const Dims& b);

}  // namespace gemm64
