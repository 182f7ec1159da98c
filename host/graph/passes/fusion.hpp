// SPDX-License-Identifier: Apache-2.0
// What passes that fuse nodes have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// What stands in place of a node, and of others that it was joined with.
struct Joined {
  std::vector<onnx::NodeProto> nodes;         ///< in the order in which they run
  std::vector<const onnx::NodeProto*> parts;  ///< nodes that go
  std::vector<onnx::TensorProto> constants = {};
};

/// The model with what `rule` gives for each of its nodes, in their order; empty where that is
/// nothing. A node that is part of another is not asked for; one that a graph inside of a node
/// reads stays.
std::optional<OnnxModel> with_joined(
    const OnnxModel& model, const ImportOptions& import,
    const std::function<std::optional<Joined>(const onnx::NodeProto&)>& rule);

/// The model with what the rule of a `Joiner` made for it gives, join(); as it is where that is
/// nothing: its weights may be large.
template <class Joiner>
OnnxModel fuse_by(OnnxModel model, const ImportOptions& import) {
  Joiner joiner(model);
  std::optional<OnnxModel> other = with_joined(
      model, import, [&joiner](const onnx::NodeProto& node) { return joiner.join(node); });
  return other ? *std::move(other) : std::move(model);
}

/// Is it a node of ONNX's own, of one output?
bool is_onnx(const onnx::NodeProto* node, const char* type);

void set_integer(onnx::NodeProto& node, const char* name, std::int64_t value);

}  // namespace gemm64
