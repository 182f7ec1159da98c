// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph the device runs: groups, each for one program, and why not the others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/compile/executable.hpp"
#include "host/device/geometry.hpp"
#include "host/proto/onnx.pb.h"

namespace gemm64::ep {

/// A node that stays with ONNX Runtime.
struct NotClaimed {
  std::string name, op_type, reason;
};

struct Partition {
  /// Nodes of each group, by their indices in the graph, in its order. No path leads from one node
  /// of a group to another one through a node outside.
  std::vector<std::vector<std::size_t>> groups;
  std::vector<NotClaimed> not_claimed;  // in the graph's order
};

/// Sizes for the open ones of a graph's inputs and of what its opaque nodes produce, `first` for a
/// first one: groups are found for these, and compiled for those that come.
onnx::ModelProto with_sizes(onnx::ModelProto graph, std::int64_t first, std::int64_t size);

/// Partitions a graph (host/ort/graph.hpp), whose large constants may lack their data. From shapes
/// and constants, so before anything runs. Nodes that are not as their operators ask are not
/// claimed. Throws UsageError where nothing can be known of the graph: then no node is.
Partition partition(const onnx::ModelProto& graph, const Geometry& geometry,
                    const CompileOptions& options);

}  // namespace gemm64::ep
