// SPDX-License-Identifier: Apache-2.0
// A quantized network as jobs for the firmware: programs of layers for the accelerator, and between
// them work for the processor.
#pragma once

#include <cstdint>
#include <vector>

#include "host/cli/network_plan.hpp"
#include "host/execute/executor.hpp"
#include "host/job/job_program.hpp"
#include "sim/platform/platform.hpp"

namespace gemm64 {

struct NetworkJobs {
  std::vector<std::uint8_t> memory;  // from address 0 on: weights, parameters, and the input
  std::uint64_t ring = 0;
  std::uint32_t places = 0;
  std::vector<FirmwareJob> jobs;       // each with the CRC of what ONNX's arithmetic gives
  std::vector<std::uint32_t> classes;  // of each image, as the last job finds them
  JobProgram layers;                   // of all programs, one behind the other
};

/// Packs a planned network for one set of inputs, computes on the host what each job must give, and
/// adds the search for the classes: the places of the largest values of the first output. Throws
/// UsageError where the inputs do not fit the network, the network does not fit the platform's
/// memory, or its first output has no row of values for each image.
NetworkJobs make_network_jobs(const NetworkPlan& plan, const NamedTensors& inputs,
                              const Geometry& geometry);

}  // namespace gemm64
