// SPDX-License-Identifier: Apache-2.0
// Devices by name: how each is made, and what it can do.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "host/device/debug_device.hpp"
#include "host/device/geometry.hpp"
#include "host/device/memory_timing.hpp"

namespace gemm64 {

/// The device that is wanted. What a kind of device has no notion of it ignores.
struct DeviceOptions {
  int array = 64;      // rows and columns
  std::string design;  // sizes of its memories, as read_design() reads them; empty: the defaults
  std::uint32_t seed = 1;
  bool self_check = false;  // built to find its own faults
  MemoryTiming memory;

  /// The accelerator that they describe. Throws UsageError where the RTL has no such one.
  Geometry geometry() const;
};

/// The waveform of a device that can be looked into.
struct TraceOptions {
  std::string file;  // empty: none
  std::uint64_t begin = 0;
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
};

struct DeviceKind {
  std::string name;
  std::string summary;      // for help texts
  bool has_cycles = false;  // does it count cycles, so that predictions can be checked?
  std::vector<int> arrays;  // the sizes that it can have
  bool any_design = false;  // are its memories as large as a design asks?
  std::string hint;         // what comes after a message that it lacks something; may be empty
  /// Hardware: a single one, with a memory of its own, which DeviceOptions::memory does not
  /// describe.
  bool is_board = false;
  std::function<std::unique_ptr<Device>(const DeviceOptions&)> make;
  /// In place of make, until find() knows the place.
  std::function<std::unique_ptr<Device>(const DeviceOptions&, const std::string& place)> make_at;
  /// A slower build that can be looked into; empty: there is none.
  std::function<std::unique_ptr<DebugDevice>(const DeviceOptions&, const TraceOptions&)>
      make_inspectable;

  bool is_inspectable() const { return make_inspectable != nullptr; }
};

class DeviceRegistry {
 public:
  explicit DeviceRegistry(std::vector<DeviceKind> kinds) : kinds_(std::move(kinds)) {}

  const std::vector<DeviceKind>& kinds() const { return kinds_; }
  /// "rtl, reference"
  std::string names() const;

  /// The kind of that name; of one that is somewhere, "serial:/dev/ttyUSB0", the one there. Throws
  /// UsageError, which lists those that exist, if there is none.
  DeviceKind find(const std::string& name) const;

  /// The kind called `name`, which must have that array and those memories. Throws UsageError.
  DeviceKind find(const std::string& name, const DeviceOptions& options) const;

  /// The kind called `name`, which must be inspectable since `option` needs it. Throws UsageError,
  /// which names those that are.
  DeviceKind find_inspectable(const std::string& name, const std::string& option) const;

 private:
  std::vector<DeviceKind> kinds_;
};

}  // namespace gemm64
