// SPDX-License-Identifier: Apache-2.0
// The parts of the module, and what they share.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>

#include "python/src/simulated_device.hpp"

namespace gemm64::python {

/// The device of a Python object.
struct BoundDevice {
  explicit BoundDevice(const DeviceSettings& settings) : device(settings) {}

  SimulatedDevice device;
  std::atomic<bool> used{false};
  std::unordered_map<std::string, SignalView> signals;  // once they were asked for
};

/// By the words that the program's options have. Throws UsageError.
Accumulate accumulate_named(const std::string& text);
MemoryTiming memory_timing(std::uint32_t latency, std::uint32_t bytes_per_cycle,
                           const std::string& sharing);

/// Text for Python's json.loads(); what is no UTF-8 is replaced.
std::string dump(const nlohmann::ordered_json& json);

/// Device, and the tables of registers and counters.
void bind_device(nanobind::module_& module);

/// Network, predict, analyze, quantize, sweep_points, sweep_row.
void bind_network(nanobind::module_& module);

/// NetworkUnits, UnitWorker.
void bind_cluster(nanobind::module_& module);

/// run_program: the program itself.
void bind_program(nanobind::module_& module);

}  // namespace gemm64::python
