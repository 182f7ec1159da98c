// SPDX-License-Identifier: Apache-2.0
// What a point's products take on a design, without a device: the report that a run would have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/compile/executable.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/runtime/run_report.hpp"
#include "host/tiling/job_program.hpp"

namespace gemm64 {

/// The device's work, cut for one geometry and memory. It runs with any memory.
struct DeviceWork {
  /// A program, with a layer for each of its jobs that lacks nothing but its counters.
  struct Program {
    JobProgram jobs;
    std::vector<LayerReport> layers;
    /// Of sums: how these layers are those of nodes; nothing where each is one.
    std::optional<SumsProgram> sums;
  };
  std::string name;
  Geometry geometry;
  std::uint64_t batch = 1;
  std::int64_t passes = 1;  // how often all this runs
  std::vector<Program> programs;
  std::vector<HostLayer> host_layers;  // of all passes
  bool whole_network = false;          // or one product
};

/// One product with int32 results. Throws UsageError where the accelerator cannot have it.
DeviceWork plan_product(const std::string& name, const GemmShape& shape, const Geometry& geometry);

/// A network in QOperator form, as `gemm64 run` runs it with that memory, `passes` times. Throws
/// UsageError where that refuses it, or a shape is not known.
DeviceWork plan_network(const OnnxModel& model, const Geometry& geometry, std::int64_t passes,
                        bool lanes = true, const MemoryTiming& memory = {});

/// The report of the work, whose counters are the predicted ones.
RunReport predict(const DeviceWork& work, const MemoryTiming& memory);

}  // namespace gemm64
