// SPDX-License-Identifier: Apache-2.0
#include "host/driver/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "host/error.hpp"
#include "host/job/packing.hpp"

namespace gemm64 {
namespace {

// A soft reset lasts as long as the bus transfers under way; their answers may be slow.
constexpr std::uint64_t kResetPolls = 100000;
// Clocks between two reports of progress.
constexpr std::uint64_t kProgressClocks = 1 << 16;
// The device's watchdog ends a wait without progress. A program that goes on for this many times
// the clocks that an unthrottled memory needs will not end in a time that anyone waits for.
constexpr std::uint64_t kSlowestMemory = 1000;
// A wait of so many latencies without any progress is a fault: a request waits behind all those
// that the other ports may have under way.
constexpr std::uint64_t kLatenciesWithoutProgress = 16;

}  // namespace

Driver::Driver(Device& device, const Patience& patience)
    : device_(device), patience_(patience), geometry_(read_geometry(device)) {
  reset();
}

void Driver::reset() {
  device_.write_register(reg::kControl, field::kControlReset.put(1));
  for (std::uint64_t poll = 0; poll < kResetPolls; ++poll) {
    const std::uint32_t status = device_.read_register(reg::kStatus);
    if (field::kStatusResetting.get(status) == 0) return;
  }
  throw DeviceError(
      fmt::format("device '{}': a soft reset did not end, since the memory owes answers; a hard "
                  "reset is needed",
                  device_.name()));
}

std::uint64_t Driver::read_counter(std::size_t index) {
  const std::uint32_t offset = kCounters[index].offset;
  const std::uint64_t low = device_.read_register(offset);
  return std::uint64_t{device_.read_register(offset + 4)} << 32 | low;
}

Counters Driver::read_counters() {
  Counters counters;
  for (std::size_t i = 0; i < counters.size(); ++i) counters[i] = read_counter(i);
  return counters;
}

void Driver::fail(const std::vector<Command>& program) {
  const std::uint32_t error = device_.read_register(reg::kError);
  const std::uint32_t index = field::kErrorCommand.get(error);
  const auto code = static_cast<ErrorCode>(field::kErrorCode.get(error));
  const auto engine = static_cast<Engine>(field::kErrorEngine.get(error));
  std::string message =
      fmt::format("device '{}': {} at command {} ({}), found by engine '{}': {}", device_.name(),
                  gemm64::name(code), index,
                  index < program.size() ? to_string(program[index]) : "not in the ring",
                  gemm64::name(engine), text(code));
  try {
    reset();
  } catch (const DeviceError& again) {
    message += fmt::format(" ({})", again.what());
  }
  throw DeviceError(message);
}

void Driver::run_program(std::uint64_t ring, const std::vector<Command>& program,
                         std::uint64_t clock_limit, const Progress& progress,
                         std::uint64_t weight_bytes) {
  if (program.size() >= kRingCommands) {
    throw std::invalid_argument(fmt::format("a program of {} commands; the ring holds {}",
                                            program.size(), kRingCommands - 1));
  }
  std::vector<std::uint8_t> bytes(program.size() * kCommandBytes);
  for (std::size_t i = 0; i < program.size(); ++i) {
    program[i].encode(bytes.data() + i * kCommandBytes);
  }
  reset();  // the ring starts at its first place, so that a run does not depend on those before
  device_.write_memory(ring, bytes.data(), bytes.size());
  device_.write_register(reg::kRingBaseLow, static_cast<std::uint32_t>(ring));
  device_.write_register(reg::kRingBaseHigh, static_cast<std::uint32_t>(ring >> 32));
  device_.write_register(reg::kRingMask, kRingCommands - 1);
  // A watchdog of 0 waits for ever.
  const std::uint64_t quiet = kLatenciesWithoutProgress * patience_.memory_latency;
  if (const std::uint32_t watchdog = device_.read_register(reg::kWatchdog);
      watchdog != 0 && quiet > watchdog) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
    device_.write_register(reg::kWatchdog, static_cast<std::uint32_t>(std::min(quiet, kMax)));
  }
  device_.write_register(reg::kControl, field::kControlClearCounters.put(1));
  device_.write_register(reg::kRingTail, static_cast<std::uint32_t>(program.size()));

  const std::uint64_t started = device_.clocks();
  while (!device_.wait_interrupt(kProgressClocks)) {
    const std::uint64_t spent = device_.clocks() - started;
    if (clock_limit != 0 && spent >= clock_limit) {
      const std::uint32_t head = device_.read_register(reg::kRingHead);
      throw DeviceError(fmt::format(
          "device '{}': no interrupt after {} clocks (limit {}); command {} is the next to be "
          "dispatched",
          device_.name(), spent, clock_limit, head));
    }
    if (progress && weight_bytes != 0) {
      const double read = static_cast<double>(read_counter(counter::kBytesWeights));
      progress(read / static_cast<double>(weight_bytes));
    }
  }
  const std::uint32_t cause = device_.read_register(reg::kInterrupt);
  if (field::kInterruptError.get(cause) != 0) fail(program);
  device_.write_register(reg::kInterrupt, field::kInterruptDone.put(1));
}

void Driver::check_fits(const Job& job) const {
  const std::uint64_t needed = job.layout.end;
  if (needed <= device_.memory_bytes()) return;
  const GemmShape& shape = job.plan.shape;
  throw UsageError(fmt::format("{}x{}x{} needs {} bytes of device memory; the device has {}",
                               shape.m, shape.k, shape.n, needed, device_.memory_bytes()));
}

GemmResult Driver::run(const Job& job, const std::vector<std::uint8_t>& weights,
                       const MatrixI8& activations, const Progress& progress) {
  const Plan& plan = job.plan;
  const Layout& layout = job.layout;
  if (plan.array != geometry_.n) {
    throw std::invalid_argument(
        fmt::format("a job for an array of {0}x{0}, device '{1}' has {2}x{2}", plan.array,
                    device_.name(), geometry_.n));
  }
  check_fits(job);
  if (weights.size() != plan.weight_bytes()) {
    throw std::invalid_argument(fmt::format("{} bytes of packed weights, the job has {}",
                                            weights.size(), plan.weight_bytes()));
  }
  const std::vector<std::uint8_t> packed = pack_activations(job, activations);
  device_.write_memory(layout.weights, weights.data(), weights.size());
  device_.write_memory(layout.activations, packed.data(), packed.size());

  const Traffic traffic = predict_traffic(plan);
  const std::uint64_t bytes = traffic.weights + traffic.activations + traffic.results;
  // At worst each beat is a burst of its own, and waits for a latency.
  const std::uint64_t limit =
      kProgressClocks + (kSlowestMemory + patience_.memory_latency) * (bytes / geometry_.n + 1000);
  run_program(layout.ring, job.program, limit, progress, traffic.weights);

  GemmResult result;
  result.counters = read_counters();
  std::vector<std::int32_t> results(plan.result_bytes() / sizeof(std::int32_t));
  device_.read_memory(layout.results, results.data(), plan.result_bytes());
  result.sums = unpack_results(job, results);
  return result;
}

}  // namespace gemm64
