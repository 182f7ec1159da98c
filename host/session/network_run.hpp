// SPDX-License-Identifier: Apache-2.0
// A whole network: its Linear layers on the device, everything else on the host.
#pragma once

#include <vector>

#include "host/compile/executable.hpp"
#include "host/execute/executor.hpp"
#include "host/execute/head.hpp"
#include "host/run/job_runner.hpp"

namespace gemm64 {

struct NetworkRun {
  RunReport report;
  NamedTensors outputs;
  Tensor first;  // the first output; absent where there is none
  Tensor exact;  // the same by float32; absent where nothing else was computed
  /// Why one device ran all, though there were to be several; empty where it did not.
  std::string why_one_job;
};

/// Adds to a report how images went through the network.
void describe(const NetworkInputs& inputs, RunReport& report);

/// Throws UsageError where the device has no room for a product whose shape the model tells.
void check_jobs(const OnnxModel& model, const JobRunner& runner);

/// The outputs of the network on the host, in the arithmetic that the device has. `first`: the
/// node that is the first with work for the device.
NamedTensors host_outputs(const Executor& executor, const Executable& executable, std::size_t first,
                          const NetworkInputs& inputs, JobRunner& runner);

/// Compares the network's outputs, value by value.
void compare_outputs(const NamedTensors& expected, const NamedTensors& found, OutputCheck& check);

/// Runs the network once (or once for each image, as `inputs` says). Linear layers of float32 are
/// computed as the runner's options say (Precision); with kInt8 and kFloat32 there are two values
/// where they differ, one of them in float32 throughout, and the report has the quality of the
/// first output. The report has a layer for each, by node name, whose largest error is against the
/// float32 network, and what ran on the host, with the reason. Before the device runs, the jobs are
/// announced. Products of 8-bit integers have one value: the device's sums, and the host's
/// arithmetic on them. `exact`: the float network that a quantized one is to be compared with;
/// `compiled`: what the network was compiled to, by who has it; nullptr: none. What the device
/// wrote is what goes on, into the outputs too; what of it is compared with what, the runner's
/// options say (CheckLevel).
NetworkRun run_network(const Executor& executor, const NetworkInputs& inputs, JobRunner& runner,
                       RunReport report, const NodeObserver& after, const RunProgress& progress,
                       const Executor* exact = nullptr, const Executable* compiled = nullptr);

/// The float32 network by itself. Each Linear layer is compared with a product in double, and may
/// be as far from it as float32 sums of its length can be.
NetworkRun run_on_host(const Executor& executor, const NetworkInputs& inputs, RunReport report,
                       const NodeObserver& after, const RunProgress& progress);

}  // namespace gemm64
