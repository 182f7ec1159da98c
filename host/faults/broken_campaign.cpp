// SPDX-License-Identifier: Apache-2.0
#include "host/faults/broken_campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <mutex>
#include <string_view>
#include <utility>

#include "host/check/program_truth.hpp"
#include "host/device/counters.hpp"
#include "host/device/reference_device.hpp"
#include "host/driver/device_hooks.hpp"
#include "host/driver/gemm64_driver.h"
#include "host/faults/watchdog.hpp"
#include "host/util/error.hpp"
#include "host/util/parallel_for.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using Program = std::vector<Command>;
using Kind = ProgramEnd::Kind;

constexpr std::uint64_t kMostCycles = 3'000'000;
constexpr std::uint64_t kRound = 0x10000;

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + kRound - 1) / kRound * kRound; }

/// A device through its driver, and the programs that it is given one after the other. The ring
/// is after the memory that programs know of.
class Side {
 public:
  Side(Device& device, std::uint64_t ring, std::uint32_t places, std::uint32_t watchdog)
      : device_(device), hooks_(device), ring_(ring), places_(places), watchdog_(watchdog) {
    check(gemm64_open(&core_, &hooks_.hooks()));
    prepare();
  }

  ProgramEnd run(std::vector<std::uint8_t> memory, const Program& program) {
    memory.resize(ring_);
    device_.write_memory(0, memory.data(), memory.size());
    check(gemm64_clear_counters(&core_));
    std::vector<std::uint8_t> bytes(program.size() * kCommandBytes);
    for (std::size_t i = 0; i < program.size(); ++i) {
      program[i].encode(bytes.data() + i * kCommandBytes);
    }
    const std::uint32_t first = core_.submitted;
    std::uint32_t ticket = 0;
    check(gemm64_submit(&core_, bytes.data(), static_cast<std::uint32_t>(program.size()), &ticket));
    ProgramEnd end = wait(ticket, first);
    if (end.kind == Kind::kDone) count(end);
    if (end.kind != Kind::kDone) {
      check(gemm64_reset(&core_));
      prepare();
    }
    end.memory.resize(ring_);
    device_.read_memory(0, end.memory.data(), end.memory.size());
    return end;
  }

 private:
  void check(gemm64_result result) {
    hooks_.rethrow();
    if (result != GEMM64_OK) throw DeviceError(gemm64_result_text(result));
  }

  void prepare() {
    check(gemm64_set_ring(&core_, ring_, places_));
    check(gemm64_write(&core_, GEMM64_REG_WATCHDOG, watchdog_));
  }

  ProgramEnd wait(std::uint32_t ticket, std::uint32_t first) {
    ProgramEnd end;
    const gemm64_result result = gemm64_wait_for(&core_, ticket, kMostCycles);
    hooks_.rethrow();
    if (result == GEMM64_OK) {
      end.text = "DONE";
      return end;
    }
    if (result == GEMM64_TIMEOUT) {
      end.kind = Kind::kUnending;
      end.text = fmt::format("no end within {} cycles", kMostCycles);
      return end;
    }
    if (result != GEMM64_FAILED) check(result);
    end.code = core_.error.code;
    end.engine = core_.error.engine;
    end.command = (core_.error.command - first) & 0xffff;
    end.kind = end.code == GEMM64_ERROR_WATCHDOG ? Kind::kWaited : Kind::kRefused;
    end.text = fmt::format("{} ({}, command {})", gemm64_error_name(end.code),
                           gemm64_engine_name(end.engine), end.command);
    return end;
  }

  void count(ProgramEnd& end) {
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      if (std::string_view(kCounters[i].engine) != "bytes") continue;
      std::uint64_t value = 0;
      check(gemm64_read_counter(&core_, static_cast<std::uint32_t>(i), &value));
      end.bytes.push_back(value);
    }
  }

  Device& device_;
  DeviceHooks hooks_;
  gemm64_driver core_{};
  const std::uint64_t ring_;
  const std::uint32_t places_, watchdog_;
};

std::string difference(const std::vector<std::uint8_t>& found,
                       const std::vector<std::uint8_t>& wanted) {
  const auto at = std::mismatch(found.begin(), found.end(), wanted.begin());
  if (at.first == found.end()) return {};
  std::size_t count = 0;
  for (std::size_t i = 0; i < found.size(); ++i) count += found[i] != wanted[i];
  return fmt::format("{} differ{}, the first at {:#x}", counted(count, "byte"),
                     count == 1 ? "s" : "", at.first - found.begin());
}

/// A try in progress.
class Try {
 public:
  Try(const BrokenProgram& drawn, const Geometry& geometry)
      : drawn_(drawn), geometry_(geometry), program_(drawn.work.programs[0].commands) {
    const std::uint64_t commands = program_.size() + drawn.next.programs[0].commands.size();
    places_ = ring_places(commands);
    ring_ = rounded(std::max(drawn.work.memory.size(), drawn.next.memory.size()));
    bytes_ = ring_ + rounded(places_ * kCommandBytes);
    watchdog_ = campaign_watchdog(drawn.memory.latency);
  }

  TriedProgram run(const MakeRtl& make) {
    TriedProgram tried;
    tried.index = drawn_.index;
    tried.kind = drawn_.kind;
    tried.changes = drawn_.changes;
    const std::unique_ptr<Device> device = make(geometry_.n, drawn_.memory, drawn_.seed, bytes_);
    ReferenceDevice reference(geometry_, bytes_);
    const Ends rtl = both(*device), plain = both(reference);
    tried.rtl = rtl.broken.text;
    tried.reference = plain.broken.text;
    tried.outcome = compare(rtl.broken, plain.broken, tried.why);

    ReferenceDevice untouched(geometry_, bytes_);
    const ProgramEnd right = side(untouched).run(drawn_.next.memory, next());
    for (const auto& [name, end] :
         {std::pair<const char*, const ProgramEnd&>{"RTL", rtl.next}, {"reference", plain.next}}) {
      const std::string wrong = next_wrong(end, right);
      if (wrong.empty()) continue;
      tried.outcome = BrokenOutcome::kNextWrong;
      tried.why += fmt::format("{}the next program on the {}: {}", tried.why.empty() ? "" : "; ",
                               name, wrong);
    }
    return tried;
  }

 private:
  struct Ends {
    ProgramEnd broken, next;
  };

  const Program& next() const { return drawn_.next.programs[0].commands; }
  Side side(Device& device) const { return {device, ring_, places_, watchdog_}; }

  Ends both(Device& device) const {
    Ends ends;
    ends.broken.kind = ends.next.kind = Kind::kBroken;
    ends.next.text = "not begun";
    try {
      Side on(device, ring_, places_, watchdog_);
      ends.broken = on.run(drawn_.work.memory, program_);
      ends.next.text.clear();
      ends.next = on.run(drawn_.next.memory, next());
    } catch (const std::exception& error) {
      (ends.broken.text.empty() ? ends.broken : ends.next).text = error.what();
    }
    return ends;
  }

  std::string next_wrong(const ProgramEnd& found, const ProgramEnd& right) const {
    if (right.kind != Kind::kDone) return "it is no legal program: " + right.text;
    if (found.kind != Kind::kDone) return found.text;
    return difference(without_snapshots(found.memory, next()),
                      without_snapshots(right.memory, next()));
  }

  /// The counters of cycles are the RTL's only.
  std::vector<std::uint8_t> without_snapshots(std::vector<std::uint8_t> memory,
                                              const Program& program) const {
    for (const Command& command : program) {
      if (is_snapshot(command)) clear(memory, command);
    }
    return memory;
  }

  void clear(std::vector<std::uint8_t>& memory, const Command& command) const {
    for (const ByteRange& range : reached(command, geometry_)) {
      const std::uint64_t end = std::min<std::uint64_t>(range.end, memory.size());
      for (std::uint64_t at = range.begin; at < end; ++at) memory[at] = 0;
    }
  }

  /// What no STORE and no snapshot reaches stays as it was, however the program ended.
  std::string stray_write(const ProgramEnd& end) const {
    std::vector<std::uint8_t> before = drawn_.work.memory, after = end.memory;
    if (after.empty()) return {};
    before.resize(after.size());
    for (const Command& command : program_) {
      if (!writes(command)) continue;
      clear(before, command);
      clear(after, command);
    }
    const std::string wrong = difference(after, before);
    return wrong.empty() ? wrong : "in addition to what it stores " + wrong;
  }

  BrokenOutcome compare(const ProgramEnd& rtl, const ProgramEnd& reference,
                        std::string& why) const {
    for (const ProgramEnd* end : {&rtl, &reference}) {
      if (why.empty()) why = stray_write(*end);
    }
    if (!why.empty()) return BrokenOutcome::kDiffers;
    const ProgramTruth truth(program_, geometry_, ring_, bytes_);
    if (rtl.kind == Kind::kDone && reference.kind == Kind::kDone) {
      return compare_done(rtl, reference, truth, why);
    }
    // A device with checks reports what the others read as it happens to be.
    if (rtl.kind == Kind::kRefused && rtl.code == GEMM64_ERROR_UNWRITTEN &&
        reads_by_chance(truth)) {
      return BrokenOutcome::kRaced;
    }
    if (rtl.kind == Kind::kRefused && reference.kind == Kind::kRefused) {
      if (rtl.same_error(reference)) return BrokenOutcome::kSameRefusal;
      if (has_error(truth, rtl) && has_error(truth, reference)) return BrokenOutcome::kOtherRefusal;
    }
    if (rtl.kind == Kind::kWaited &&
        (reference.kind == Kind::kWaited ||
         truth.may_wait_at(rtl.command, reference.kind == Kind::kDone))) {
      return BrokenOutcome::kWaited;
    }
    why = "they end differently";
    return BrokenOutcome::kDiffers;
  }

  static bool reads_by_chance(const ProgramTruth& truth) {
    return truth.is_raced() || truth.reads_unkept_pixels() || truth.stores_stale_sums();
  }

  static bool has_error(const ProgramTruth& truth, const ProgramEnd& end) {
    return truth.has_error(static_cast<ErrorCode>(end.code), static_cast<Engine>(end.engine),
                           end.command);
  }

  BrokenOutcome compare_done(const ProgramEnd& rtl, const ProgramEnd& reference,
                             const ProgramTruth& truth, std::string& why) const {
    if (rtl.bytes != reference.bytes) why = "other numbers of bytes crossed the ports";
    if (why.empty() && reads_by_chance(truth)) return BrokenOutcome::kRaced;
    if (why.empty()) {
      why = difference(without_snapshots(rtl.memory, program_),
                       without_snapshots(reference.memory, program_));
    }
    return why.empty() ? BrokenOutcome::kSameResult : BrokenOutcome::kDiffers;
  }

  const BrokenProgram& drawn_;
  const Geometry& geometry_;
  const Program& program_;
  std::uint64_t ring_ = 0, bytes_ = 0;
  std::uint32_t places_ = 0, watchdog_ = 0;
};

}  // namespace

const char* name(BrokenOutcome outcome) {
  constexpr std::array kNames{"same_result", "same_refusal", "other_refusal", "waited",
                              "raced",       "differs",      "next_wrong"};
  return kNames.at(static_cast<std::size_t>(outcome));
}

std::uint64_t BrokenReport::count(ProgramKind kind, BrokenOutcome outcome) const {
  return static_cast<std::uint64_t>(std::count_if(
      tries.begin(), tries.end(),
      [&](const TriedProgram& tried) { return tried.kind == kind && tried.outcome == outcome; }));
}

std::uint64_t BrokenReport::count(BrokenOutcome outcome) const {
  return static_cast<std::uint64_t>(
      std::count_if(tries.begin(), tries.end(),
                    [&](const TriedProgram& tried) { return tried.outcome == outcome; }));
}

bool BrokenReport::holds() const {
  return count(BrokenOutcome::kDiffers) == 0 && count(BrokenOutcome::kNextWrong) == 0;
}

TriedProgram try_broken_program(const BrokenProgram& drawn, const Geometry& geometry,
                                const MakeRtl& make) {
  return Try(drawn, geometry).run(make);
}

BrokenReport run_broken_programs(const BrokenOptions& options, const MakeRtl& make,
                                 const BrokenProgress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  const Geometry geometry = read_geometry(*make(options.array, MemoryTiming(), 1, kRound));
  BrokenReport report;
  report.array = options.array;
  report.seed = options.seed;
  report.first = options.first;
  report.jobs = std::max(options.jobs, 1U);

  std::mutex mutex;  // of report
  parallel_for(options.count, report.jobs, [&](std::size_t i) {
    TriedProgram tried = try_broken_program(
        draw_broken_program(options.seed, options.first + i, geometry), geometry, make);
    const std::lock_guard<std::mutex> lock(mutex);
    report.tries.push_back(std::move(tried));
    if (progress) progress(report);
  });

  std::sort(report.tries.begin(), report.tries.end(),
            [](const TriedProgram& a, const TriedProgram& b) { return a.index < b.index; });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  report.seconds = seconds.count();
  return report;
}

}  // namespace gemm64
