// SPDX-License-Identifier: Apache-2.0
// A quantized network for the firmware: the very program that `run` gives a device.
#pragma once

#include <cstdint>
#include <vector>

#include "host/check/cosim.hpp"
#include "host/compile/executable.hpp"
#include "host/device/memory_timing.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/runtime/input_passes.hpp"
#include "host/runtime/run_report.hpp"
#include "sim/integrations/systemc/platform.hpp"

namespace gemm64 {

/// Throws UsageError where what a device does of the network is not one program: it names the first
/// operator that the host has in between, or the device by itself, and the tensor that it gives.
void require_one_program(const Executable& executable, const OnnxModel& model);

struct FirmwareNetwork {
  CosimWork work;  // one program; its memory holds constants and inputs, and zeros where it writes
  /// What the reference device made of it, equal to ONNX's arithmetic, and where the memory does
  /// not stall the counters that are predicted.
  CosimOutcome expected;
  std::vector<FirmwareJob> jobs;       // a layer each, with the CRC of its results
  std::vector<std::uint32_t> classes;  // of each image, where a layer gives the first output
  RunReport report;                    // of the reference device's run
};

/// Runs a network on the reference device, once. `executable`: the model compiled in its own
/// arithmetic, one program. Throws UsageError where the inputs do not fit the network, or the
/// network does not fit the platform's memory; DeviceError where a result is not the host's.
FirmwareNetwork make_firmware_network(const OnnxModel& model, const Executable& executable,
                                      const NetworkInputs& inputs, const MemoryTiming& memory);

}  // namespace gemm64
