// SPDX-License-Identifier: Apache-2.0
// What a network gives the device to do: known before anything runs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "host/compile/executable.hpp"
#include "host/runtime/job_runner.hpp"
#include "host/runtime/named_tensors.hpp"

namespace gemm64 {

/// What of a network the device is asked for, by the options of a run.
CompileOptions compile_options(const RunOptions& options);

/// The jobs of a run of the network, in their order. `executable`: what it was compiled to by the
/// runner's options. Throws UsageError if the device has no space for a job.
std::vector<Job> jobs_of(const OnnxModel& model, const JobRunner& runner,
                         const Executable& executable);

/// Why a node that is in no program runs on the host, for these arguments; empty if the device
/// computes its products.
std::string why_product_on_host(const OnnxModel& model, const Executable& executable,
                                const RunOptions& options, int node, const Tensors& arguments);

/// A node that ran on the host, and why; empty if it has no MACs.
std::optional<HostLayer> host_layer(const OnnxModel& model, int node, std::string reason);

/// Adds to the reports of a program's layers, counted from 0, what these are in the network.
void describe_layers(const OnnxModel& model, const Executable& executable, std::size_t program,
                     std::vector<LayerReport>& reports);

/// Adds to a report what a layer is to the network.
void describe_layer(const DeviceLayer& layer, LayerReport& report);

/// Returns a layer for each node of a program of sums, from one for each job.
std::vector<LayerReport> layers_of(const SumsProgram& program, std::vector<LayerReport> jobs,
                                   const Geometry& geometry, const MemoryTiming& memory);

}  // namespace gemm64
