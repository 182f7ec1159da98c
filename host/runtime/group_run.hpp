// SPDX-License-Identifier: Apache-2.0
// A network of which the device computes all products, once: a group of ONNX Runtime's.
#pragma once

#include "host/compile/executable.hpp"
#include "host/graph/onnx/host_nodes.hpp"
#include "host/runtime/job_runner.hpp"
#include "host/runtime/network_run.hpp"
#include "host/runtime/node_observer.hpp"

namespace gemm64 {

/// Runs it on the runner's device. `executable`: what the network was compiled to by the runner's
/// options, with its buffers. The report, without layers before, is added to; an error of the
/// device is in it. Programs and views need no kernel of the host's: these compute what the
/// runner's options compare, what the graph makes of products that are no layers of programs, and
/// what `after` asks for. Throws UsageError if the inputs do not fit.
NetworkRun run_group(const HostNodes& nodes, const Executable& executable, JobRunner& runner,
                     const NamedTensors& inputs, RunReport report, const RunProgress& progress,
                     const NodeObserver& after = nullptr);

}  // namespace gemm64
