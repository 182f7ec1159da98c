// SPDX-License-Identifier: Apache-2.0
// Boots firmware on the platform, and watches it.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "host/util/error.hpp"
#include "sim/integrations/systemc/firmware/job_list.h"
#include "sim/integrations/systemc/parts.hpp"

namespace gemm64 {
namespace {

template <class T>
void append(std::vector<std::uint8_t>& bytes, const T& value) {
  const auto* const from = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

std::vector<std::uint8_t> job_list_bytes(const FirmwareOptions& options,
                                         const std::vector<FirmwareJob>& jobs) {
  job_list list{};
  list.magic = JOB_LIST_MAGIC;
  list.count = static_cast<std::uint32_t>(jobs.size());
  list.mode = options.one_at_a_time ? JOB_LIST_ONE_AT_A_TIME : JOB_LIST_ONE_RING;
  list.attempts = options.attempts;
  list.ring = options.ring;
  list.places = options.places;
  list.watchdog = options.watchdog;
  list.limit = options.limit;
  std::vector<std::uint8_t> bytes;
  append(bytes, list);
  std::uint64_t commands = PLATFORM_JOBS + sizeof list + jobs.size() * sizeof(job);
  for (const FirmwareJob& from : jobs) {
    job to{};
    to.commands = commands;
    to.command_count = static_cast<std::uint32_t>(from.commands.size());
    to.results = from.results;
    to.result_bytes = from.result_bytes;
    to.crc = from.crc;
    to.check = from.check ? 1 : 0;
    to.classes = from.classes;
    to.sign = from.is_unsigned ? 0 : 0x80;
    append(bytes, to);
    commands += from.commands.size() * kCommandBytes;
  }
  for (const FirmwareJob& from : jobs) {
    for (const Command& command : from.commands) {
      std::uint8_t encoded[kCommandBytes];
      command.encode(encoded);
      append(bytes, encoded);
    }
  }
  return bytes;
}

void check(const FirmwareOptions& options, const std::vector<FirmwareJob>& jobs,
           std::uint64_t memory_bytes) {
  if (jobs.size() > JOB_LIST_MOST) {
    throw UsageError(
        fmt::format("{} jobs for the firmware; it takes {}", jobs.size(), JOB_LIST_MOST));
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].results > memory_bytes || jobs[i].result_bytes > memory_bytes - jobs[i].results) {
      throw UsageError(fmt::format(
          "job {} of the firmware's: its results, {} bytes at {:#x}, lie outside the memory of {}",
          i, jobs[i].result_bytes, jobs[i].results, memory_bytes));
    }
  }
  if (options.places == 0 || (options.places & (options.places - 1)) != 0) {
    throw UsageError(fmt::format("a ring of {} places; it must be a power of two", options.places));
  }
}

void load(const Elf& elf, platform::Ram& local) {
  for (const Elf::Segment& segment : elf.segments) {
    const std::uint64_t offset = segment.address - PLATFORM_LOCAL;
    if (segment.address < PLATFORM_LOCAL || offset > local.size() ||
        segment.bytes.size() > local.size() - offset) {
      throw UsageError(
          fmt::format("{}: {} bytes at {:#x} do not fit; firmware starts at {:#x}, "
                      "at most {} bytes",
                      elf.file, segment.bytes.size(), segment.address, PLATFORM_LOCAL,
                      PLATFORM_JOBS - PLATFORM_LOCAL));
    }
    std::memcpy(local.data() + offset, segment.bytes.data(), segment.bytes.size());
  }
}

FirmwareJobResult result_of(const job& job) {
  FirmwareJobResult result;
  result.status = job.status;
  result.crc = job.found;
  result.attempts = job.attempts;
  result.order = job.order;
  result.error_code = job.error_code;
  result.error_engine = job.error_engine;
  result.error_command = job.error_command;
  return result;
}

}  // namespace

std::uint32_t crc32(const void* data, std::size_t bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, static_cast<const unsigned char*>(data), bytes));
}

std::uint64_t FirmwareReport::span() const {
  return doorbells.empty() ? 0 : std::max(last_idle, doorbells.front()) - doorbells.front();
}

double FirmwareReport::reaction() const {
  std::uint64_t sum = 0, count = 0;
  std::size_t after = 0;
  for (std::size_t i = 0; i < interrupts.size(); ++i) {
    while (after < doorbells.size() && doorbells[after] <= interrupts[i]) ++after;
    // As many doorbells as interrupts have come: the accelerator has nothing left.
    if (after != i + 1 || after == doorbells.size()) continue;
    sum += doorbells[after] - interrupts[i];
    ++count;
  }
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

FirmwareReport Platform::run(const Elf& elf, const FirmwareOptions& options,
                             const std::vector<FirmwareJob>& jobs, bool events) {
  Parts::Modules& modules = *parts_->modules;
  platform::Kernel::Use use(parts_->kernel);
  check(options, jobs, modules.memory.size());
  load(elf, modules.local);
  std::vector<std::uint8_t> list = job_list_bytes(options, jobs);
  const std::uint64_t list_at = PLATFORM_JOBS - PLATFORM_LOCAL;
  if (list.size() > modules.local.size() - list_at) {
    throw UsageError(fmt::format("a job list of {} bytes; there is room for {}", list.size(),
                                 modules.local.size() - list_at));
  }
  if (spoil_job_list) spoil_job_list(list);
  std::memcpy(modules.local.data() + list_at, list.data(), list.size());

  FirmwareReport report;
  using Kind = PlatformEvent::Kind;
  const auto clock_of = [&modules](const sc_core::sc_time& time) {
    return time.value() / modules.period.value();
  };
  Accelerator::Watch watch;
  watch.access = [&](std::uint64_t clock, bool write, std::uint32_t offset, std::uint32_t) {
    if (!write || offset != reg::kRingTail) return;
    report.doorbells.push_back(clock);
    if (events) report.events.push_back({Kind::kDoorbell, clock, "RING_TAIL"});
  };
  watch.interrupt = [&](std::uint64_t clock, bool high) {
    if (high) report.interrupts.push_back(clock);
    if (events) {
      report.events.push_back({high ? Kind::kInterrupt : Kind::kInterruptEnd, clock, "interrupt"});
    }
  };
  watch.idle = [&](std::uint64_t clock) {
    // What comes after the last interrupt is idling that registers interrupt.
    if (report.last_idle <= (report.doorbells.empty() ? 0 : report.doorbells.back())) {
      report.last_idle = clock;
      if (events) report.events.push_back({Kind::kIdle, clock, "idle"});
    }
  };
  modules.accelerator->watch(watch);
  if (events) {
    modules.processor.watch([&](std::uint64_t clock, std::uint64_t pc) {
      report.events.push_back({Kind::kFunction, clock, elf.function(pc), pc});
    });
    modules.bus.watch([&](const char* target, const tlm::tlm_generic_payload& transaction,
                          const sc_core::sc_time& begin, const sc_core::sc_time& end) {
      report.events.push_back({Kind::kBus, clock_of(begin), target, transaction.get_address(),
                               transaction.get_data_length(), clock_of(end) - clock_of(begin),
                               transaction.is_write()});
    });
  }
  modules.processor.boot(elf, PLATFORM_JOBS, options.max_instructions);
  modules.host.run(static_cast<double>(options.max_cycles) * modules.period);
  modules.accelerator->watch({});
  modules.processor.watch(nullptr);
  modules.bus.watch(nullptr);

  report.stopped = modules.stopped;
  report.exit_code = modules.exit_code;
  report.printed = modules.printed;
  report.instructions = modules.processor.instructions();
  report.cycles = clock_of(sc_core::sc_time_stamp());
  if (report.stopped.empty() && !modules.exited) {
    report.stopped = fmt::format("the firmware has not ended after {} cycles; {}", report.cycles,
                                 modules.processor.state());
  }
  std::memcpy(list.data(), modules.local.data() + list_at, list.size());
  job_list header;
  std::memcpy(&header, list.data(), sizeof header);
  report.resets = header.resets;
  report.hard_resets = header.hard_resets;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    job job;
    std::memcpy(&job, list.data() + sizeof header + i * sizeof job, sizeof job);
    report.jobs.push_back(result_of(job));
  }
  return report;
}

}  // namespace gemm64
