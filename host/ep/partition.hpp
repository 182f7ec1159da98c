// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph the device runs: groups, each for one program, and why not the others.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/compile/executable.hpp"
#include "host/device/geometry.hpp"
#include "host/graph/proto/onnx.pb.h"
#include "host/runtime/run_report.hpp"

namespace gemm64::ep {

/// A node that stays with ONNX Runtime.
struct NotClaimed {
  std::string name, op_type, reason;
};

/// The reason of a node of which the compiler says none.
inline constexpr const char* kNoReason =
    "the device has nothing for it, or its values are not of 8 bits";

struct Partition {
  /// Nodes of each group, by their indices in the graph, in its order. No path leads from one node
  /// of a group to another one through a node outside.
  std::vector<std::vector<std::size_t>> groups;
  std::vector<std::size_t> programs;    // the number of each group's program; 0: it has none
  std::vector<NotClaimed> not_claimed;  // in the graph's order
  std::vector<HostLayer> between;       // nodes without MACs for which programs wait
  std::map<std::string, std::vector<std::int64_t>>
      shapes;  // of the graph's values, as far as known
};

/// Sizes by the names of open dimensions.
using NamedSizes = std::map<std::string, std::int64_t>;

/// Sizes for the open ones of a graph's inputs and of what its opaque nodes produce: those that are
/// `known`, else `first` for a first one, else `size`. Groups are found for these, and compiled for
/// those that come.
onnx::ModelProto with_sizes(onnx::ModelProto graph, const NamedSizes& known, std::int64_t first,
                            std::int64_t size);

/// Nodes of a model that the device computes together, and the number of their program; 0: it has
/// none.
struct DeviceWork {
  std::set<std::size_t> nodes;
  std::size_t program = 0;
};

/// The device's work of a compiled model, in the order of its programs.
std::vector<DeviceWork> work_of_device(const OnnxModel& model, const Executable& executable);

/// Adds to nodes of a graph in order those on a path between two of them.
std::set<std::size_t> closed(const onnx::GraphProto& graph, std::set<std::size_t> nodes);

/// Partitions a graph (host/ort/graph.hpp), whose large constants may lack their data. From shapes
/// and constants, so before anything runs. Nodes that are not as their operators ask are not
/// claimed. Throws UsageError where nothing can be known of the graph: then no node is.
Partition partition(const onnx::ModelProto& graph, const Geometry& geometry,
                    const CompileOptions& options, const NamedSizes& known);

}  // namespace gemm64::ep
