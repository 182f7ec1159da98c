// SPDX-License-Identifier: Apache-2.0
// A Device as the hooks of the driver in C.
#pragma once

#include <cstdint>
#include <exception>

#include "host/device/device.hpp"
#include "host/driver/gemm64_driver.h"

namespace gemm64 {

/// No exception passes through C: a hook that throws fails, and rethrow() throws on.
class DeviceHooks {
 public:
  /// The device outlives the hooks. Its memory is coherent, and `limit` of waiting is in cycles.
  explicit DeviceHooks(Device& device);
  DeviceHooks(const DeviceHooks&) = delete;
  DeviceHooks& operator=(const DeviceHooks&) = delete;

  const gemm64_hooks& hooks() const { return hooks_; }

  /// The device's clock at the end of the last wait for an interrupt.
  std::uint64_t waited_until() const { return waited_until_; }

  /// Throws what a hook has thrown since the last call, if any has.
  void rethrow();

 private:
  template <class Action>
  int guard(Action action);

  Device& device_;
  gemm64_hooks hooks_{};
  std::uint64_t waited_until_ = 0;
  std::exception_ptr thrown_;
};

}  // namespace gemm64
