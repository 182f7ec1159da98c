// SPDX-License-Identifier: Apache-2.0
// Devices of a run that note the programs they ran, and damage some of them.
#pragma once

#include <chrono>
#include <mutex>
#include <thread>

#include "host/cycles/tlm_device.hpp"
#include "tests/test.hpp"
#include "tests/unit/device/wrapped_device.hpp"
#include "tests/unit/runtime/small_device.hpp"

namespace gemm64 {

enum class Damage { kNone, kFlips, kFails };

/// What all devices of a run share. A program is known by the bytes that the host gives it,
/// wherever it runs.
struct Marks {
  std::mutex mutex;
  std::vector<std::uint64_t> ran;  // in the order in which they ended
  std::map<std::uint64_t, Damage> damage;
  bool slow = false;  // programs take turns at taking long
};

class MarkedDevice : public WrappedDevice<TlmDevice> {
 public:
  explicit MarkedDevice(Marks& marks)
      : WrappedDevice(small_geometry(), MemoryTiming{}, std::uint64_t{16} << 20), marks_(marks) {}

  void write_memory(std::uint64_t address, const void* data, std::size_t bytes) override {
    for (std::size_t i = 0; i < bytes; ++i) {
      mark_ = (mark_ ^ static_cast<const std::uint8_t*>(data)[i]) * 0x100000001b3U;
    }
    inner_.write_memory(address, data, bytes);
  }
  void read_memory(std::uint64_t address, void* data, std::size_t bytes) override {
    inner_.read_memory(address, data, bytes);
    if (damage() == Damage::kFlips) static_cast<std::uint8_t*>(data)[0] ^= 1;
  }
  bool wait_interrupt(std::uint64_t max_cycles) override {
    const bool done = inner_.wait_interrupt(max_cycles);
    if (!done) return false;
    if (marks_.slow && damage() != Damage::kFails) {
      std::this_thread::sleep_for(std::chrono::milliseconds(mark_ % 3 * 4));
    }
    {
      const std::lock_guard<std::mutex> lock(marks_.mutex);
      marks_.ran.push_back(mark_);
    }
    if (damage() == Damage::kFails) throw DeviceError("burnt down in " + std::to_string(mark_));
    return true;
  }
  void reset() override {
    inner_.reset();
    mark_ = 0xcbf29ce484222325U;
  }

 private:
  Damage damage() const {
    const auto found = marks_.damage.find(mark_);
    return found == marks_.damage.end() ? Damage::kNone : found->second;
  }

  Marks& marks_;
  std::uint64_t mark_ = 0xcbf29ce484222325U;
};

}  // namespace gemm64
