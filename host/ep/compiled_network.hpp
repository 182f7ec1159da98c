// SPDX-License-Identifier: Apache-2.0
// A compiled network (.g64) for a session of ONNX Runtime's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "host/compile/executable.hpp"
#include "host/ep/group.hpp"
#include "host/ep/partition.hpp"

namespace gemm64::ep {

/// The operator of a node that has a compiled group.
inline constexpr const char* kContextType = "EPContext";

/// Cuts a compiled network into groups, each of which is a node of the graph that ONNX Runtime
/// sees. The model and the executable outlive this.
class CompiledNetwork {
 public:
  CompiledNetwork(const OnnxModel& model, const Executable& executable);

  /// The network's graph. In place of each group's nodes it has an EPContext node, whose content is
  /// the group's number.
  const onnx::ModelProto& graph() const { return graph_; }
  /// Makes the group of a node with this content: a program as it was compiled, or nodes whose
  /// sums the device computes. Throws UsageError if there is none.
  std::unique_ptr<Group> make_group(const std::string& content, Accelerator& accelerator,
                                    RunLog& log) const;
  /// The nodes of ONNX Runtime's graph that are not the device's, with the compiler's reasons.
  std::vector<NotClaimed> not_claimed(const onnx::GraphProto& graph) const;
  /// Nodes for which programs wait.
  std::vector<HostLayer> between() const;

 private:
  /// A group's nodes as a model, without a name.
  onnx::ModelProto model_of(const DeviceWork& group) const;
  LoadedExecutable program_of(const DeviceWork& group) const;
  void add_node(onnx::GraphProto& graph, std::size_t group) const;

  const OnnxModel& model_;
  const Executable& executable_;
  std::vector<DeviceWork> groups_;
  onnx::ModelProto graph_;
};

}  // namespace gemm64::ep
