// SPDX-License-Identifier: Apache-2.0
#include "host/device/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "host/error.hpp"

namespace gemm64 {

std::string DeviceRegistry::names() const {
  std::vector<std::string> names;
  for (const DeviceKind& kind : kinds_) names.push_back(kind.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const DeviceKind& DeviceRegistry::find(const std::string& name) const {
  for (const DeviceKind& kind : kinds_) {
    if (kind.name == name) return kind;
  }
  throw UsageError(fmt::format("there is no device called '{}'; give one of {}", name, names()));
}

const DeviceKind& DeviceRegistry::find(const std::string& name, int array) const {
  const DeviceKind& kind = find(name);
  if (std::find(kind.arrays.begin(), kind.arrays.end(), array) != kind.arrays.end()) return kind;
  throw UsageError(fmt::format("device '{}' has no array of {}x{}; its sizes are {}{}", name, array,
                               array, fmt::join(kind.arrays, ", "), kind.hint));
}

const DeviceKind& DeviceRegistry::find_inspectable(const std::string& name,
                                                   const std::string& option) const {
  const DeviceKind& kind = find(name);
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
