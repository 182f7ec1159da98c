// SPDX-License-Identifier: Apache-2.0
#include "host/driver/device_hooks.hpp"

#include <utility>

namespace gemm64 {

template <class Action>
int DeviceHooks::guard(Action action) {
  try {
    return action();
  } catch (...) {
    thrown_ = std::current_exception();
    return -1;
  }
}

DeviceHooks::DeviceHooks(Device& device) : device_(device) {
  hooks_.context = this;
  hooks_.read = [](void* self, std::uint32_t offset, std::uint32_t* value) {
    auto& hooks = *static_cast<DeviceHooks*>(self);
    return hooks.guard([&] {
      *value = hooks.device_.read_register(offset);
      return 0;
    });
  };
  hooks_.write = [](void* self, std::uint32_t offset, std::uint32_t value) {
    auto& hooks = *static_cast<DeviceHooks*>(self);
    return hooks.guard([&] {
      hooks.device_.write_register(offset, value);
      return 0;
    });
  };
  hooks_.store = [](void* self, std::uint64_t address, const void* data, std::size_t bytes) {
    auto& hooks = *static_cast<DeviceHooks*>(self);
    return hooks.guard([&] {
      hooks.device_.write_memory(address, data, bytes);
      return 0;
    });
  };
  hooks_.wait = [](void* self, std::uint64_t limit) {
    auto& hooks = *static_cast<DeviceHooks*>(self);
    return hooks.guard([&] {
      const bool interrupted = hooks.device_.wait_interrupt(limit);
      hooks.waited_until_ = hooks.device_.cycles();
      return static_cast<int>(interrupted);
    });
  };
}

void DeviceHooks::rethrow() {
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

}  // namespace gemm64
