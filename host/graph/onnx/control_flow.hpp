// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan that are known before the network runs, as the nodes that they come to.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "host/graph/onnx/shapes.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Is the node one whose subgraphs run as its inputs say?
bool is_control_flow(const onnx::NodeProto& node);

/// The reason of a Loop that never ends, or not within days.
inline constexpr const char* kEndless = "without an end";

/// Why such nodes stay, in words that follow their operator's name, by the name of their first
/// output.
using KeptControlFlow = std::map<std::string, std::string>;

struct Unfolded {
  bool any = false;
  bool by_shapes = false;  // inputs of other shapes might come to other nodes
};

/// Replaces, in the graph itself, what `facts` tell of:
/// - an If whose condition is known, by the branch that it takes;
/// - a Loop whose trip count is known and whose condition stays true, and a Scan over sizes that
/// are
///   known, by their turns.
/// Before:
///
///     y = If(c) <then: {t = Relu(x)}, else: {e = Neg(x)}>      with c = true
///
/// After: y = Relu(x). Subgraphs of what is put there become the graph's own; a further call goes
/// on with them. `fixed`: values that are the same whatever the inputs are. A turn's constants are
/// stored once. What would make more than 100,000 nodes stays.
Unfolded unfold_control_flow(onnx::ModelProto& model, const ValueFacts& facts,
                             const std::set<std::string>& fixed, std::int64_t opset,
                             KeptControlFlow& kept);

}  // namespace gemm64
