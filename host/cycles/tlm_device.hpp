// SPDX-License-Identifier: Apache-2.0
// The accelerator, fast and with cycles: what it does from the reference device, when from the
// prediction.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "host/cycles/cycle_model.hpp"
#include "host/device/counters.hpp"
#include "host/device/memory_timing.hpp"
#include "host/device/reference_device.hpp"
#include "host/device/registry.hpp"

namespace gemm64 {

/// Reads the commands of the ring when its tail moves, predicts how long they take, and lets the
/// reference device execute them in the cycle in which the last of them ends: until then memory,
/// RING_HEAD and INTERRUPT are as before. A program up to a FINISH is one such piece of work, with
/// all the FENCEs in it.
///
/// Cycles and counters are the prediction's, also of programs that are queued after others that
/// still run. They are estimates of a program that ends with an error or without FINISH, and with a
/// memory that stalls.
class TlmDevice final : public Device {
 public:
  /// Cycles of one access to a register, and of a hard reset, as on the RTL.
  static constexpr std::uint64_t kRegisterCycles = 2;
  static constexpr std::uint64_t kResetCycles = 8;

  explicit TlmDevice(const Geometry& geometry = Geometry{}, const MemoryTiming& memory = {},
                     std::uint64_t memory_bytes = ReferenceDevice::kDefaultMemoryBytes);

  /// The same on a memory that outlives it.
  TlmDevice(const Geometry& geometry, const MemoryTiming& timing, DeviceMemory& memory);

  /// What the memory's latency is, for work that begins from now on.
  void set_latency(std::uint32_t cycles) { memory_.latency = cycles; }

  std::uint32_t read_register(std::uint32_t offset) override;
  void write_register(std::uint32_t offset, std::uint32_t value) override;
  std::uint64_t memory_bytes() const override { return function_.memory_bytes(); }
  void write_memory(std::uint64_t address, const void* data, std::size_t bytes) override {
    function_.write_memory(address, data, bytes);
  }
  void place_memory(std::uint64_t address, const SharedBytes& bytes) override {
    function_.place_memory(address, bytes);
  }
  void read_memory(std::uint64_t address, void* data, std::size_t bytes) override {
    function_.read_memory(address, data, bytes);
  }
  bool wait_interrupt(std::uint64_t max_cycles) override;
  void reset() override;
  void reset_at(std::uint64_t clock) override;
  std::uint64_t cycles() const override { return clock_; }
  std::string name() const override { return "tlm"; }
  DramCounts dram_counts() const override {
    DramCounts counts = dram_before_;
    return counts += dram_;
  }

  /// Lets `cycles` cycles pass, whatever the interrupt does.
  void run(std::uint64_t cycles);
  /// The interrupt line as it is now.
  bool interrupt() const { return function_.interrupt(); }
  /// The cycle in which the device does something next by itself; nothing: never.
  std::optional<std::uint64_t> next_event() const;

 private:
  /// Commands that are executed together.
  struct Work {
    std::size_t begin = 0, past_last = 0;  // in busy_
    std::uint32_t tail = 0;                // of the ring, after them
    bool complete = false;                 // does it end with FINISH?
    std::uint64_t first = 0, end = 0;
    Counters counters{};  // what it adds
    std::vector<PredictedSnapshot> snapshots;
  };

  /// Commands since the device was idle, and what was predicted of them.
  struct Busy {
    std::uint64_t first = 0;  // clock in which it became busy
    std::vector<Command> commands;
    Ring ring;                         // in which they are
    std::vector<std::uint64_t> given;  // for each the first cycle in which it was there, from then
    std::size_t done = 0;              // that were executed
    Counters counted{};                // of these
  };

  void doorbell();
  void take(std::uint32_t from);
  void shorten_busy();
  void schedule();
  Counters estimate(const Work& work) const;
  void pass(std::uint64_t clock);
  void execute();
  void write_snapshots(const Work& work, const Counters& before);
  bool halted();
  void expect_standstill();
  void end_standstill();
  void forget();
  std::uint64_t counter(std::size_t index) const;

  Geometry geometry_;
  MemoryTiming memory_;
  ReferenceDevice function_;
  std::uint64_t clock_ = 0;
  std::uint32_t tail_ = 0;  // as it was last written
  Busy busy_;
  std::deque<Work> works_;             // one after the other
  std::uint64_t busy_until_ = 0;       // the end of the last one that was executed
  std::uint64_t reset_until_ = 0;      // of a soft reset
  std::optional<std::uint64_t> hang_;  // when the watchdog ends a wait without end
  std::uint64_t still_since_ = 0;
  Counters counters_{};
  DramCounts dram_before_, dram_;  // of commands before those of busy_, and of these
};

/// The entry of the registry.
DeviceKind tlm_kind();

}  // namespace gemm64
