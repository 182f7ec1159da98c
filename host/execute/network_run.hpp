// SPDX-License-Identifier: Apache-2.0
// A whole network: its Linear layers on the device, all else on the host.
#pragma once

#include "host/execute/executor.hpp"
#include "host/run/runner.hpp"

namespace gemm64 {

struct NetworkRun {
  RunReport report;
  NamedTensors outputs;
};

/// Told each node's outputs, and which part of the nodes has run.
using NodeObserver = std::function<void(const Step& step, const Tensors& outputs)>;

/// Is the node a Linear layer for the device: Gemm or MatMul whose weights are the same whatever
/// the network's inputs are?
bool is_linear_layer(const Step& step, const Tensors& inputs);

/// Runs the network in float32 on the host, and then with its Linear layers by `runner`, each
/// quantized by its own input (or in float32, as the runner's options ask). The report has a layer
/// for each, by node name, whose largest error is against the float32 network, and the quality of
/// the first output. `after` is told the second run's nodes; `progress` the first's names.
NetworkRun run_network(const Executor& executor, const NamedTensors& inputs, Runner& runner,
                       RunReport report, const NodeObserver& after, const RunProgress& progress);

/// The first of these runs by itself: the float path. Each Linear layer is compared with a product
/// in double, and may be as far from it as float32 sums of its length can be.
NetworkRun run_on_host(const Executor& executor, const NamedTensors& inputs, RunReport report,
                       const NodeObserver& after, const RunProgress& progress);

}  // namespace gemm64
