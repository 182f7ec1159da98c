// SPDX-License-Identifier: Apache-2.0
// The simulated accelerator with one work, cycle by cycle, and all that the page shows of it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/device/counters.hpp"
#include "host/device/debug_device.hpp"
#include "host/driver/driver.hpp"
#include "sim/models/rtl_device.hpp"
#include "sim/web/port_trail.hpp"
#include "sim/web/work.hpp"

namespace gemm64::web {

class Bench final : private Observer {
 public:
  /// An array of this size with a memory; the work is in it, and the doorbell has rung. Throws
  /// UsageError where there is no such array, or the memory cannot hold the work.
  Bench(int array, const MemoryTiming& memory, const nlohmann::json& work);

  /// Why cycles ceased to pass.
  enum class State { kGoing, kStopped, kEnded, kFailed };

  /// Simulates at most that many cycles. What is shown is the last of them, as it is before its
  /// edge.
  State step(std::uint64_t cycles);

  /// Where a step ends early: in a cycle in which the counter counts (-1: none), in which the
  /// signal of that name has that value ("" : none), or in which the byte at that address crosses
  /// the weights, data or results port (0, 1, 2; -1: none). Throws UsageError for no such thing.
  void stop_at(int counter, const std::string& signal, std::uint64_t value, int port = -1);

  /// Flips a bit from the next cycle on: as `gemm64 --inject` says it, without the clock; or a
  /// register's, by the name of its signal. Throws UsageError where there is no such bit.
  void flip(const std::string& fault);
  void flip(const std::string& signal, std::size_t word, std::size_t bit);

  /// What does not change: sizes, commands, jobs, operands, counters as predicted, and where each
  /// signal is in view().
  nlohmann::json description() const;
  /// Where it stands: the clock, counted from the first in which the accelerator was busy, what was
  /// counted, and how many beats of results have left.
  nlohmann::json standing() const;
  /// Counters of the device, results of each job, and whether all is as it must be. Where the
  /// program ended.
  nlohmann::json outcome() const;

  const Work& work() const { return work_; }
  const PortTrail& trail() const { return *trail_; }
  /// What the device's memory holds now.
  std::vector<std::uint8_t> memory(std::uint64_t address, std::size_t bytes);

  const std::vector<std::uint8_t>& view() const { return view_; }
  /// The last kPast cycles: a word for the clock, two of events, the addresses of the beats on the
  /// weights, data and results ports (PortTrail), then one for each small signal.
  static constexpr std::size_t kPast = 512, kPastHead = 6;
  const std::vector<std::uint32_t>& past() const { return past_; }

  State state() const { return state_; }
  std::uint64_t busy_cycles() const { return live_[counter::kTotalClocks]; }

 private:
  struct Shown {
    std::string name;
    SignalView signal;
    std::size_t offset;  // in view_
  };

  void clock(std::uint64_t clock, const Probe& probe) override;
  const Shown* find(const std::string& name) const;
  void look();
  void fail(const std::string& why);
  void end();

  const MemoryTiming memory_;
  std::unique_ptr<RtlDevice> device_;
  std::unique_ptr<Driver> driver_;
  Work work_;

  std::vector<Shown> shown_;
  std::vector<std::uint8_t> view_;
  std::vector<const Shown*> small_;  // of at most 32 bits
  std::vector<std::uint32_t> past_;
  std::unique_ptr<PortTrail> trail_;
  const Shown* block_done_ = nullptr;  // null: the model does not show it
  std::uint64_t blocks_ = 0;           // of results, whose sums are all there
  bool block_ends_ = false;            // with the edge of the cycle that is shown
  std::uint64_t stored_before_ = 0;    // beats of results before the cycle that is shown

  State state_ = State::kGoing;
  bool watching_ = true, look_now_ = false, stop_now_ = false, flipped_ = false;
  int stop_counter_ = -1, stop_port_ = -1;
  const Shown* stop_signal_ = nullptr;
  std::uint64_t stop_value_ = 0;
  std::optional<std::uint64_t> first_busy_;
  std::uint64_t last_clock_ = 0;
  std::uint64_t dispatched_ = 0;  // commands
  Counters live_{};               // counted from the events
  Counters counters_{};           // of the device, once the program ended
  std::vector<MatrixI32> results_;
  std::string failure_;
};

}  // namespace gemm64::web
