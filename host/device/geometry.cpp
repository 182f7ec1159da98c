// SPDX-License-Identifier: Apache-2.0
#include "host/device/geometry.hpp"

#include <fmt/format.h>

#include "host/device/registers.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

Geometry read_geometry(Device& device) {
  const std::uint32_t id = device.read_register(reg::kId);
  std::uint32_t expected = 0;
  for (const Register& entry : kRegisters) {
    if (entry.offset == reg::kId) expected = entry.reset;
  }
  if (id != expected) {
    throw DeviceError(fmt::format("device '{}': register ID is {:#010x}, a gemm64 has {:#010x}",
                                  device.name(), id, expected));
  }
  return read_sizes(device);
}

Geometry read_design_geometry(Device& device) {
  Geometry geometry = read_geometry(device);
  geometry.tensor_words = device.read_register(reg::kTensorWords);
  return geometry;
}

Geometry read_sizes(Device& device) {
  const std::uint32_t version = device.read_register(reg::kVersion);
  if (field::kVersionMajor.get(version) != kVersionMajor) {
    throw DeviceError(fmt::format("device '{}': version {}.{}, this driver needs {}.x",
                                  device.name(), field::kVersionMajor.get(version),
                                  field::kVersionMinor.get(version), kVersionMajor));
  }
  const std::uint32_t array = device.read_register(reg::kArray);
  const std::uint32_t bus = device.read_register(reg::kBus);
  Geometry geometry;
  geometry.n = field::kArrayN.get(array);
  geometry.stage_rows = field::kArrayStageRows.get(array);
  geometry.weight_tiles = field::kArrayWeightTiles.get(array);
  geometry.scratchpad_words = device.read_register(reg::kScratchpadWords);
  geometry.accumulator_rows = device.read_register(reg::kAccumulatorRows);
  geometry.reads = field::kBusReads.get(bus);
  geometry.writes = field::kBusWrites.get(bus);
  geometry.commands = field::kBusCommands.get(bus);
  geometry.burst_beats = field::kBusBurstBeats.get(bus);
  geometry.address_width = device.read_register(reg::kAddressWidth);
  geometry.parameter_sets = device.read_register(reg::kParameterSets);
  geometry.tensor_words = usual_tensor_words(geometry);
  return geometry;
}

std::uint32_t usual_tensor_words(const Geometry& geometry) {
  const std::uint32_t third = geometry.scratchpad_words / 3;
  return third >= geometry.accumulator_rows + geometry.burst_beats - 1 ? 2 * third : 0;
}

}  // namespace gemm64
