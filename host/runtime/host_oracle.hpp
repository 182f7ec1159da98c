// SPDX-License-Identifier: Apache-2.0
// What layers must write, by ONNX Runtime's CPU provider.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/graph/onnx/host_nodes.hpp"
#include "host/runtime/node_observer.hpp"
#include "host/runtime/program_run.hpp"

namespace gemm64 {

/// Runs a layer's own nodes on the inputs that the device had.
class HostOracle : public LayerOracle {
 public:
  /// `nodes`: of the network whose layers run; they outlive this.
  explicit HostOracle(const HostNodes& nodes) : nodes_(nodes) {}

  /// Computes what the layers of a program must write, all in one session, for expected_ahead().
  /// Layers that read strips of a map are not among them. `values`: those of the network that are
  /// known.
  void begin(const DeviceProgram& program, const NamedBuffers& values);

  Tensor expected(const DeviceLayer& layer, NamedBuffers given) const override;
  Tensor expected_ahead(const DeviceProgram& program, const DeviceLayer& layer,
                        NamedBuffers given) override;

 private:
  const onnx::NodeProto& node(int index) const { return nodes_.model().graph().node(index); }
  std::string value_of(const DeviceLayer& layer) const;
  onnx::NodeProto node_of_part(const DeviceLayer& layer) const;
  Tensor of_map(const DeviceLayer& layer, const NamedBuffers& given) const;

  const HostNodes& nodes_;
  std::map<std::string, Tensor> ahead_;  // of the program that began
};

/// Shows `after` the outputs of nodes that it wants and the device computes within a layer and
/// stores nowhere, such as those of a convolution to which it adds a tensor before it stores the
/// sum: what ONNX Runtime computes from the layer's inputs, which are as the device wrote them.
/// `results`: of each layer; `values`: those of the network that are known.
void show_inner(const ProgramRun& run, const std::vector<Tensor>& results,
                const NamedBuffers& values, const HostNodes& nodes, const NodeObserver& after);

}  // namespace gemm64
