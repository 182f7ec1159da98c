// SPDX-License-Identifier: Apache-2.0
#include "host/device/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "host/device/array_geometry.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

Geometry DeviceOptions::geometry() const {
  DesignSizes sizes = read_design(design);
  sizes.array = array;
  return geometry_of(sizes);
}

std::string DeviceRegistry::names() const {
  std::vector<std::string> names;
  for (const DeviceKind& kind : kinds_) names.push_back(kind.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

DeviceKind DeviceRegistry::find(const std::string& name) const {
  const std::size_t colon = name.find(':');
  for (const DeviceKind& kind : kinds_) {
    if (kind.make_at == nullptr ? kind.name != name : kind.name != name.substr(0, colon)) continue;
    if (kind.make_at == nullptr) return kind;
    if (colon == std::string::npos || colon + 1 == name.size()) {
      throw UsageError(
          fmt::format("device '{0}' needs its port, as in {0}:/dev/ttyUSB0", kind.name));
    }
    DeviceKind there = kind;
    there.make = [make_at = kind.make_at, place = name.substr(colon + 1)](
                     const DeviceOptions& options) { return make_at(options, place); };
    return there;
  }
  throw UsageError(fmt::format("there is no device called '{}'; give one of {}", name, names()));
}

DeviceKind DeviceRegistry::find(const std::string& name, const DeviceOptions& options) const {
  DeviceKind kind = find(name);
  if (std::find(kind.arrays.begin(), kind.arrays.end(), options.array) == kind.arrays.end()) {
    throw UsageError(fmt::format("device '{}' has no array of {}x{}; its sizes are {}{}", name,
                                 options.array, options.array, fmt::join(kind.arrays, ", "),
                                 kind.hint));
  }
  const Geometry built = geometry_of_array(options.array);
  if (!kind.any_design && !(options.geometry() == built)) {
    throw UsageError(
        fmt::format("design {}: device '{}' is built with {}; device 'tlm' has the memories of any "
                    "design",
                    options.design, name, design_text(built)));
  }
  return kind;
}

DeviceKind DeviceRegistry::find_inspectable(const std::string& name,
                                            const std::string& option) const {
  DeviceKind kind = find(name);
  if (kind.is_inspectable()) return kind;
  std::vector<std::string> others;
  for (const DeviceKind& other : kinds_) {
    if (other.is_inspectable()) others.push_back(other.name);
  }
  throw UsageError(
      fmt::format("{} needs a device with signals to look at: --device {}; '{}' has none", option,
                  fmt::join(others, " or "), name));
}

}  // namespace gemm64
