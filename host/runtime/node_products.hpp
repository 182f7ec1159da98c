// SPDX-License-Identifier: Apache-2.0
// Nodes of which the device computes the products and the host all else.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/compile/executable.hpp"
#include "host/compile/layer_buffers.hpp"
#include "host/graph/onnx/host_nodes.hpp"
#include "host/kernels/operators.hpp"
#include "host/runtime/job_runner.hpp"

namespace gemm64 {

class NodeProducts {
 public:
  /// `executable`: what the nodes' network was compiled to. None is owned.
  NodeProducts(const HostNodes& nodes, const Executable& executable, JobRunner& runner)
      : nodes_(nodes), executable_(executable), runner_(runner) {}

  /// Runs program `index` of sums: what its nodes multiply is known first, and then, with the
  /// device's sums, what becomes of these. Adds the outputs to `values`, and a layer for each node
  /// to `layers`. Throws as JobRunner::run_program() does.
  void run_sums(std::size_t index, NamedBuffers& values, const ProgressShare& progress,
                std::vector<LayerReport>& layers);
  /// Runs a Linear layer, of float32 or of integers, by itself. Returns its outputs, and adds its
  /// jobs to `layers`.
  Tensors run(int node, const Tensors& arguments, const ProgressShare& progress,
              std::vector<LayerReport>& layers);

  /// Returns the outputs of a node by ONNX Runtime.
  Tensors on_host(int node, const Tensors& arguments) const;

  /// What a node reads: `values`, constants, or others that are computed from such.
  Tensors arguments(int node, const NamedBuffers& values) const;
  /// Adds a node's outputs to `values`.
  void store(int node, const Tensors& outputs, NamedBuffers& values) const;

  /// Of wall time on the device so far, preparation included.
  double seconds() const { return seconds_; }

 private:
  Tensors run_floats(int node, const Tensors& arguments, const ProgressShare& progress,
                     std::vector<LayerReport>& layers);
  Tensors run_integers(int node, const Tensors& arguments, const ProgressShare& progress,
                       std::vector<LayerReport>& layers);
  template <class Function>
  Tensors named(const NodeContext& context, Function&& function) const;
  Tensors compute_by(int node, const Tensors& arguments, const IntegerProduct& product) const;
  NodeContext context_of(int node) const;
  const onnx::NodeProto& proto(int node) const { return nodes_.model().graph().node(node); }
  std::string name(int node) const { return node_label(proto(node), node); }

  const HostNodes& nodes_;
  const Executable& executable_;
  JobRunner& runner_;
  double seconds_ = 0;
};

}  // namespace gemm64
