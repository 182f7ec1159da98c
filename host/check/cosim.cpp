// SPDX-License-Identifier: Apache-2.0
#include "host/check/cosim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "host/device/snapshot.hpp"
#include "host/driver/device_hooks.hpp"
#include "host/driver/gemm64_driver.h"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kLimit = std::uint64_t{1}
                                 << 40;  // cycles of a wait; the watchdog is shorter

void check(gemm64_result result, DeviceHooks& hooks) {
  hooks.rethrow();
  if (result != GEMM64_OK) throw DeviceError(gemm64_result_text(result));
}

std::vector<std::uint8_t> encoded(const std::vector<Command>& commands) {
  std::vector<std::uint8_t> bytes(commands.size() * kCommandBytes);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    commands[i].encode(bytes.data() + i * kCommandBytes);
  }
  return bytes;
}

/// The work in progress on one device.
class Run {
 public:
  Run(Device& device, const CosimWork& work, CosimOutcome& outcome)
      : device_(device), work_(work), outcome_(outcome), hooks_(device) {}

  void run() {
    device_.write_memory(0, work_.memory.data(), work_.memory.size());
    check(gemm64_open(&core_, &hooks_.hooks()), hooks_);
    check(gemm64_clear_counters(&core_), hooks_);
    prepare();
    using Disturbance = CosimWork::Disturbance;
    if (work_.disturbance == Disturbance::kReset && !work_.programs.empty()) {
      submit(work_.programs.front());
      device_.wait_interrupt(work_.after);
      check(gemm64_reset(&core_), hooks_);
      check(gemm64_clear_counters(&core_), hooks_);
      prepare();
    }
    if (work_.disturbance == Disturbance::kDoorbell) {
      together();
    } else if (work_.disturbance == Disturbance::kClear) {
      clear();
    } else {
      one_by_one();
    }
    finish();
  }

 private:
  void prepare() {
    check(gemm64_set_ring(&core_, work_.ring, work_.places), hooks_);
    if (work_.watchdog != 0) {
      check(gemm64_write(&core_, GEMM64_REG_WATCHDOG, work_.watchdog), hooks_);
    }
  }

  std::uint32_t submit(const CosimProgram& program) {
    const std::vector<std::uint8_t> bytes = encoded(program.commands);
    std::uint32_t ticket = 0;
    check(gemm64_submit(&core_, bytes.data(), static_cast<std::uint32_t>(program.commands.size()),
                        &ticket),
          hooks_);
    return ticket;
  }

  /// Waits until a program is done; false where the device has stopped.
  bool wait_for(std::uint32_t ticket) {
    const gemm64_result result = gemm64_wait_for(&core_, ticket, kLimit);
    hooks_.rethrow();
    if (result == GEMM64_OK) {
      outcome_.interrupts.push_back("done");
      return true;
    }
    if (result != GEMM64_FAILED) check(result, hooks_);
    outcome_.interrupts.push_back(fmt::format("error {}", gemm64_error_name(core_.error.code)));
    failed_ = true;
    return false;
  }

  void one_by_one() {
    for (const CosimProgram& program : work_.programs) {
      if (!program.commands.empty() && !wait_for(submit(program))) return;
    }
  }

  void together() {
    std::vector<std::uint32_t> tickets;
    for (const CosimProgram& program : work_.programs) {
      if (program.commands.empty()) continue;
      if (!tickets.empty()) device_.wait_interrupt(work_.after);
      tickets.push_back(submit(program));
    }
    for (const std::uint32_t ticket : tickets) {
      if (!wait_for(ticket)) return;
    }
  }

  // No interrupt may be lost but the one that is cleared.
  void clear() {
    const std::uint32_t ticket = submit(work_.programs.front());
    const std::uint64_t until = device_.cycles() + work_.after;
    while (device_.cycles() < until && !device_.wait_interrupt(until - device_.cycles())) {
    }
    check(gemm64_write(&core_, GEMM64_REG_INTERRUPT, GEMM64_INTERRUPT_DONE_MASK), hooks_);
    wait_for(ticket);
  }

  void finish() {
    for (const auto& [name, offset] :
         {std::pair<const char*, std::uint32_t>{"STATUS", GEMM64_REG_STATUS},
          {"INTERRUPT", GEMM64_REG_INTERRUPT},
          {"ERROR", GEMM64_REG_ERROR}}) {
      std::uint32_t value = 0;
      check(gemm64_read(&core_, offset, &value), hooks_);
      outcome_.registers.emplace_back(name, value);
    }
    // A device that has stopped goes on counting, and a burst of results may be half written: a
    // reset ends it.
    if (failed_) {
      check(gemm64_reset(&core_), hooks_);
    } else {
      read_counters();
    }
    outcome_.memory.resize(work_.memory.size());
    device_.read_memory(0, outcome_.memory.data(), outcome_.memory.size());
    take_snapshots(work_, outcome_);
  }

  void read_counters() {
    Counters counters;
    for (std::size_t i = 0; i < counters.size(); ++i) {
      check(gemm64_read_counter(&core_, static_cast<std::uint32_t>(i), &counters[i]), hooks_);
    }
    outcome_.counters = counters;
    if (!outcome_.family.empty()) outcome_.cycles = counters[counter::kTotalClocks];
  }

  Device& device_;
  const CosimWork& work_;
  CosimOutcome& outcome_;
  DeviceHooks hooks_;
  gemm64_driver core_{};
  bool failed_ = false;
};

std::string memory_difference(const std::vector<std::uint8_t>& expected,
                              const std::vector<std::uint8_t>& found) {
  if (expected.size() != found.size()) {
    return fmt::format("{}, not {}", counted(found.size(), "byte"), grouped(expected.size()));
  }
  const auto first = std::mismatch(expected.begin(), expected.end(), found.begin());
  if (first.first == expected.end()) return {};
  std::size_t count = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) count += expected[i] != found[i];
  return fmt::format("{} differ{}, the first at {:#x}: {:#04x}, not {:#04x}",
                     counted(count, "byte"), count == 1 ? "s" : "", first.first - expected.begin(),
                     *first.second, *first.first);
}

std::string list_difference(const std::vector<std::string>& expected,
                            const std::vector<std::string>& found) {
  for (std::size_t i = 0; i < std::max(expected.size(), found.size()); ++i) {
    const std::string e = i < expected.size() ? expected[i] : "none";
    const std::string f = i < found.size() ? found[i] : "none";
    if (e != f) return fmt::format("interrupt {} is {}, not {}", i, f, e);
  }
  return {};
}

std::string register_difference(const CosimOutcome& expected, const CosimOutcome& found) {
  for (const auto& [name, value] : found.registers) {
    for (const auto& [other, other_value] : expected.registers) {
      if (name == other && value != other_value) {
        return fmt::format("{} is {:#x}, not {:#x}", name, value, other_value);
      }
    }
  }
  return {};
}

std::string counter_difference(const CosimOutcome& expected, const CosimOutcome& found) {
  const bool cycles = !expected.family.empty() && !found.family.empty();
  const auto compare = [&](const std::string& place, const Counters& e, const Counters& f) {
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      const bool bytes = std::string_view(kCounters[i].engine) == "bytes";
      if ((!bytes && !cycles) || e[i] == f[i]) continue;
      return fmt::format("{}{}.{} is {}, on '{}' {}", place, kCounters[i].engine,
                         kCounters[i].cause, f[i], expected.side, e[i]);
    }
    return std::string();
  };
  // Without cycles a FENCE finds other transfers in flight, so bytes are compared in the end.
  for (std::size_t i = 0; cycles && i < found.snapshots.size(); ++i) {
    const std::string difference =
        compare(fmt::format("at FENCE {}, ", i), expected.snapshots[i], found.snapshots[i]);
    if (!difference.empty()) return difference;
  }
  return compare("", *expected.counters, *found.counters);
}

}  // namespace

void take_snapshots(const CosimWork& work, CosimOutcome& outcome) {
  for (const std::uint64_t address : work.snapshots) {
    std::uint8_t* const bytes = outcome.memory.data() + address;
    outcome.snapshots.push_back(decode_snapshot(bytes));
    std::memset(bytes, 0, kSnapshotBytes);
  }
}

CosimOutcome run_cosim(Device& device, const CosimWork& work, std::string side,
                       std::string family) {
  CosimOutcome outcome;
  outcome.side = std::move(side);
  outcome.family = std::move(family);
  try {
    Run(device, work, outcome).run();
  } catch (const std::exception& error) {
    outcome.failure = error.what();
  }
  return outcome;
}

const CosimVerdict& Cosim::add(CosimOutcome outcome) {
  CosimVerdict verdict;
  verdict.side = outcome.side;
  verdict.cycles = outcome.cycles;
  verdict.failure = outcome.failure;
  if (outcome.failure.empty() && !outcomes_.empty()) {
    const CosimOutcome& first = outcomes_.front();
    verdict.memory = memory_difference(first.memory, outcome.memory);
    verdict.interrupts = list_difference(first.interrupts, outcome.interrupts);
    verdict.registers = register_difference(first, outcome);
    const auto peer = std::find_if(outcomes_.begin(), outcomes_.end(), [&](const auto& other) {
      if (!other.counters) return false;
      return exact_ ? !other.family.empty() || outcome.family.empty()
                    : other.family == outcome.family;
    });
    if (repeatable_ && outcome.counters && peer != outcomes_.end()) {
      verdict.counters = counter_difference(*peer, outcome);
    }
    outcome.memory.clear();
  }
  if (outcome.failure.empty()) outcomes_.push_back(std::move(outcome));
  verdicts_.push_back(std::move(verdict));
  return verdicts_.back();
}

bool Cosim::agree() const {
  return std::all_of(verdicts_.begin(), verdicts_.end(),
                     [](const CosimVerdict& verdict) { return verdict.agrees(); });
}

}  // namespace gemm64
