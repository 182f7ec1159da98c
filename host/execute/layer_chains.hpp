// SPDX-License-Identifier: Apache-2.0
// Quantized layers in the order in which a network runs them, as chains: each layer of a chain
// reads what the one before gave, so that a device can run them all as one program.
#pragma once

#include <functional>
#include <vector>

#include "host/execute/quantized_layer.hpp"
#include "host/run/job_runner.hpp"

namespace gemm64 {

class LayerChains {
 public:
  /// `run` is told each chain once it is known to be complete.
  using Run = std::function<void(std::vector<QuantizedLayer> chain)>;
  explicit LayerChains(Run run) : run_(std::move(run)) {}

  /// The next layer. Runs the chain before it, unless the layer goes on with it.
  void add(QuantizedLayer layer);
  /// Runs the chain that is known so far, if there is one.
  void finish();

 private:
  bool continues(const QuantizedLayer& layer) const;

  Run run_;
  std::vector<QuantizedLayer> chain_;
};

/// Runs a chain on the device, as one program: int8 between its layers, and what the network has at
/// its end. Throws as JobRunner::run_program() does.
std::vector<LayerReport> run_chain(JobRunner& runner, std::vector<QuantizedLayer> chain,
                                   const ProgressShare& progress);

}  // namespace gemm64
