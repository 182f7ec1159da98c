// SPDX-License-Identifier: Apache-2.0
#include "host/driver/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "host/device/snapshot.hpp"
#include "host/tiling/packing.hpp"

namespace gemm64 {
namespace {

// Even an impatient driver looks so often whether a soft reset has ended.
constexpr std::uint32_t kLeastResetPolls = 100;
// Cycles between two reports of progress.
constexpr std::uint64_t kProgressCycles = 1 << 16;
// The device's watchdog ends a wait without progress. A program that goes on for this many times
// the cycles that an unthrottled memory needs will not end in a time that anyone waits for.
constexpr std::uint64_t kSlowestMemory = 1000;
// A wait of this number of latencies without any progress is a fault: a request waits for all
// those that the other ports may have in flight.
constexpr std::uint64_t kLatenciesWithoutProgress = 16;

}  // namespace

Driver::Driver(Device& device, const Timeouts& timeouts)
    : device_(device), timeouts_(timeouts), hooks_(device) {
  check(gemm64_open(&core_, &hooks_.hooks()));
  if (timeouts.watchdog != 0) {
    core_.reset_polls = std::max(timeouts.watchdog, kLeastResetPolls);
  }
  geometry_ = read_sizes(device);
}

void Driver::check(gemm64_result result) {
  hooks_.rethrow();
  switch (result) {
    case GEMM64_OK:
      return;
    case GEMM64_ALTERED:
      fail_altered();
    case GEMM64_NO_GEMM64:
    case GEMM64_NO_VERSION:
      read_geometry(device_);  // throws, and says what was found
      [[fallthrough]];
    default:
      throw DeviceError(fmt::format("device '{}': {}", device_.name(), gemm64_result_text(result)));
  }
}

void Driver::reset() { check(gemm64_reset(&core_)); }

std::uint64_t Driver::read_counter(std::size_t index) {
  std::uint64_t value = 0;
  check(gemm64_read_counter(&core_, static_cast<std::uint32_t>(index), &value));
  return value;
}

Counters Driver::read_counters() {
  Counters counters;
  for (std::size_t i = 0; i < counters.size(); ++i) counters[i] = read_counter(i);
  return counters;
}

std::string register_name(std::uint32_t offset) {
  for (const Register& entry : kRegisters) {
    if (entry.offset == offset) return entry.name;
  }
  return fmt::format("{:#05x}", offset);
}

/// Where the device found a fault of its own, or a word that no command wrote; else empty.
std::string place_of(const gemm64_error& error) {
  const bool unwritten = error.code == GEMM64_ERROR_UNWRITTEN;
  if (gemm64_is_own_fault(&error) == 0 && !unwritten) return "";
  return error.code == GEMM64_ERROR_PARITY || unwritten
             ? fmt::format(" in word {} of the memory '{}'", error.word,
                           gemm64_memory_name(error.memory))
             : fmt::format(" in row {} of its tile {}", error.row, error.tile);
}

void Driver::fail(const std::vector<Command>& program) {
  const gemm64_error error = core_.error;
  const std::uint64_t reported = hooks_.waited_until();
  const std::string message = fmt::format(
      "device '{}': {} at command {} ({}){}, found by engine '{}': {}", device_.name(),
      gemm64_error_name(error.code), error.command,
      error.command < program.size() ? to_string(program[error.command]) : "not in the ring",
      place_of(error), gemm64_engine_name(error.engine), gemm64_error_text(error.code));
  std::optional<FoundFault> own;
  // The caller looks for its command.
  if (gemm64_is_own_fault(&error) != 0 && error.command < program.size()) {
    own = {error.code, error.command, error.tile, error.row, error.memory, error.word, 0, reported};
  }
  fail_after_reset(message, own);
}

void Driver::fail_altered() {
  const gemm64_altered altered = core_.altered;
  FoundFault own;
  own.offset = altered.offset;
  own.clock = device_.cycles();
  fail_after_reset(
      fmt::format("device '{}': register {} is {:#x}, it should be {:#x}", device_.name(),
                  register_name(altered.offset), altered.found, altered.written),
      own);
}

void Driver::fail_after_reset(const std::string& message, const std::optional<FoundFault>& own) {
  try {
    reset();
  } catch (const DeviceError& again) {
    throw DeviceError(fmt::format("{} ({})", message, again.what()));
  }
  if (own) throw OwnFault(message, *own);
  throw DeviceError(message);
}

std::uint32_t Driver::wanted_watchdog() {
  if (timeouts_.watchdog != 0) return timeouts_.watchdog;
  const std::uint64_t quiet = kLatenciesWithoutProgress * timeouts_.memory_latency;
  std::uint32_t own = 0;
  check(gemm64_read(&core_, GEMM64_REG_WATCHDOG, &own));
  if (own == 0 || quiet <= own) return 0;  // a watchdog of 0 waits for ever
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(quiet, kMax));
}

void Driver::give_up(std::uint64_t spent, std::uint64_t clock_limit) {
  std::uint32_t next = 0;
  check(gemm64_dispatched(&core_, &next));
  throw DeviceError(fmt::format(
      "device '{}': no interrupt after {} cycles (limit {}); command {} is the next to be "
      "dispatched",
      device_.name(), spent, clock_limit, next));
}

void Driver::read_tensor_words() {
  if (!geometry_.tensor_memory) geometry_.tensor_words = device_.read_register(reg::kTensorWords);
}

void Driver::enable_tensor_memory() {
  read_tensor_words();
  if (!geometry_.has_tensor_memory()) {
    throw UsageError(fmt::format("device '{}' has no tensor memory", device_.name()));
  }
  geometry_ = geometry_.with_tensor_memory();
  tensor_memory_ = true;
}

/// With which the next program runs.
void Driver::use_tensor_memory(bool use) {
  tensor_memory_ = use;
  if (!use || geometry_.tensor_memory) return;
  const std::uint32_t words = device_.read_register(reg::kTensorWords);
  if (words == geometry_.tensor_words) return;
  throw UsageError(
      fmt::format("device '{}' has a tensor memory of {} words; the program is for one of {}",
                  device_.name(), words, geometry_.tensor_words));
}

void Driver::start_program(std::uint64_t ring, const std::vector<Command>& program) {
  std::vector<std::uint8_t> bytes(program.size() * kCommandBytes);
  for (std::size_t i = 0; i < program.size(); ++i) {
    program[i].encode(bytes.data() + i * kCommandBytes);
  }
  reset();  // the ring starts at its first place, so that a run does not depend on those before
  if (tensor_memory_ || enabled_) {
    check(gemm64_write(&core_, GEMM64_REG_TENSOR_MEMORY,
                       tensor_memory_ ? GEMM64_TENSOR_MEMORY_ENABLE_MASK : 0));
    reset();  // waits for the end of the one that this began
    enabled_ = tensor_memory_;
  }
  check(gemm64_set_ring(&core_, ring, ring_places(program.size())));
  if (const std::uint32_t watchdog = wanted_watchdog(); watchdog != 0) {
    check(gemm64_write(&core_, GEMM64_REG_WATCHDOG, watchdog));
  }
  check(gemm64_clear_counters(&core_));
  check(gemm64_submit(&core_, bytes.data(), static_cast<std::uint32_t>(program.size()), nullptr));
}

bool Driver::has_ended(const std::vector<Command>& program, std::uint64_t cycles) {
  const gemm64_result result = gemm64_wait(&core_, cycles);
  if (result == GEMM64_FAILED) fail(program);
  if (result != GEMM64_TIMEOUT) check(result);
  const bool reported = result == GEMM64_OK;
  if (core_.info.self_check != 0) check_end(reported);
  return reported;
}

void Driver::check_end(bool reported) {
  std::uint32_t dispatched = 0;
  check(gemm64_dispatched(&core_, &dispatched));
  if (reported == (dispatched == core_.submitted)) return;
  // A FINISH that was reached has not been reported: it may have been since.
  std::uint32_t cause = 0;
  check(gemm64_read(&core_, GEMM64_REG_INTERRUPT, &cause));
  if (!reported && cause != 0) return;
  const std::uint32_t done = GEMM64_INTERRUPT_DONE_MASK;
  core_.altered = {GEMM64_REG_INTERRUPT, reported ? 0 : done, reported ? done : 0};
  fail_altered();
}

void Driver::run_program(std::uint64_t ring, const std::vector<Command>& program,
                         std::uint64_t clock_limit, const Progress& progress,
                         std::uint64_t weight_bytes) {
  start_program(ring, program);
  const std::uint64_t started = device_.cycles();
  while (!has_ended(program, kProgressCycles)) {
    const std::uint64_t spent = device_.cycles() - started;
    if (clock_limit != 0 && spent >= clock_limit) give_up(spent, clock_limit);
    if (progress && weight_bytes != 0) {
      const double read = static_cast<double>(read_counter(counter::kBytesWeights));
      progress(read / static_cast<double>(weight_bytes));
    }
  }
  if (core_.info.self_check == 0) return;
  // Counters that were cleared in between have not counted each command.
  const std::uint64_t fetched = read_counter(counter::kBytesCommands);
  if (fetched != program.size() * kCommandBytes) {
    core_.altered = {GEMM64_REG_CONTROL, 0, GEMM64_CONTROL_CLEAR_COUNTERS_MASK};
    fail_altered();
  }
}

void Driver::check_fits(std::uint64_t bytes, const std::string& what) const {
  if (bytes <= device_.memory_bytes()) return;
  throw UsageError(fmt::format("{} needs {} bytes of device memory; the device has {}", what, bytes,
                               device_.memory_bytes()));
}

void Driver::check_fits(const Job& job) const {
  const GemmShape& shape = job.plan.shape;
  check_fits(job.layout.end, fmt::format("{}x{}x{}", shape.m, shape.k, shape.n));
}

void Driver::check_fits(const JobProgram& list) const {
  check_fits(list.end, fmt::format("a program of {} jobs", list.jobs.size()));
}

void Driver::check_operands(const Job& job, const JobOperands& operands) const {
  if (job.plan.array != geometry_.n) {
    throw std::invalid_argument(
        fmt::format("a job for an array of {0}x{0}, device '{1}' has {2}x{2}", job.plan.array,
                    device_.name(), geometry_.n));
  }
  if (operands.weights.size() != job.plan.weight_bytes()) {
    throw std::invalid_argument(fmt::format("{} bytes of packed weights, the job has {}",
                                            operands.weights.size(), job.plan.weight_bytes()));
  }
  const std::size_t parameters = operands.parameters == nullptr ? 0 : operands.parameters->size();
  if (parameters != job.plan.parameter_bytes()) {
    throw std::invalid_argument(fmt::format("{} bytes of packed parameters, the job has {}",
                                            parameters, job.plan.parameter_bytes()));
  }
  if (job.plan.output.takes_operands() && !job.operand && operands.operands == nullptr) {
    throw std::invalid_argument(job.name + ": no second operands for its results");
  }
}

void Driver::write_operands(const Job& job, const JobOperands& operands) {
  device_.place_memory(job.layout.weights, operands.weights);
  if (operands.parameters != nullptr) {
    device_.write_memory(job.layout.parameters, operands.parameters->data(),
                         operands.parameters->size());
  }
  const auto write = [this](std::uint64_t address, const std::vector<std::uint8_t>& packed) {
    device_.write_memory(address, packed.data(), packed.size());
  };
  if (!job.source) write(job.layout.activations, pack_activations(job, operands.activations));
  if (job.plan.output.takes_operands() && !job.operand) {
    write(job.layout.operands, pack_operands(job, *operands.operands));
  }
}

MatrixI32 Driver::read_results(const Job& job) {
  const std::uint64_t bytes = job.plan.result_bytes();
  const ResultFormat format = job.plan.results();
  if (format.bytes() == sizeof(std::int32_t)) {
    std::vector<std::int32_t> values(bytes / sizeof(std::int32_t));
    device_.read_memory(job.layout.results, values.data(), bytes);
    return unpack_results(job, values);
  }
  std::vector<std::uint8_t> blocks(bytes);
  device_.read_memory(job.layout.results, blocks.data(), bytes);
  return unpack_results(job, result_values(format, blocks));
}

/// Cycles after which a wait ends.
std::uint64_t Driver::clock_limit(const Traffic& traffic) const {
  const std::uint64_t bytes = traffic.weights + traffic.parameters + traffic.activations +
                              traffic.operands + traffic.results;
  // At worst each beat is a burst of its own, and waits for a latency.
  return kProgressCycles +
         (kSlowestMemory + timeouts_.memory_latency) * (bytes / geometry_.n + 1000);
}

void Driver::run_or_again(const std::function<void()>& write_operands,
                          const std::function<void()>& run, const RunsAgain& again) {
  write_operands();
  try {
    return run();
  } catch (const OwnFault& first) {
    if (again) again(first.fault());
    write_operands();
    try {
      run();
    } catch (const OwnFault& second) {
      throw DeviceError(
          fmt::format("{}; when the program ran the first time: {}", second.what(), first.what()));
    }
  }
}

GemmResult Driver::run(const Job& job, const SharedBytes& weights, const MatrixI8& activations,
                       const Progress& progress, const RunsAgain& again) {
  return run(job, JobOperands{weights, activations}, progress, again);
}

GemmResult Driver::run(const Job& job, const JobOperands& operands, const Progress& progress,
                       const RunsAgain& again) {
  check_operands(job, operands);
  check_fits(job);
  use_tensor_memory(job.plan.tensor_memory);
  const Traffic traffic = predict_traffic(job.plan);
  run_or_again([&] { write_operands(job, operands); },
               [&] {
                 run_program(job.layout.ring, job.program, clock_limit(traffic), progress,
                             traffic.weights);
               },
               again);
  const Counters counters = read_counters();
  return {read_results(job), counters};
}

void Driver::write_operands(const JobProgram& list, const std::vector<JobOperands>& operands) {
  if (operands.size() != list.jobs.size()) {
    throw std::invalid_argument(
        fmt::format("operands of {} jobs, the list has {}", operands.size(), list.jobs.size()));
  }
  for (std::size_t i = 0; i < operands.size(); ++i) check_operands(list.jobs[i], operands[i]);
  check_fits(list);
  for (std::size_t i = 0; i < operands.size(); ++i) write_operands(list.jobs[i], operands[i]);
}

std::vector<GemmResult> Driver::run(const JobProgram& list,
                                    const std::vector<JobOperands>& operands,
                                    const Progress& progress, const RunsAgain& again) {
  use_tensor_memory(list.tensor_memory);
  Traffic traffic;
  for (const Job& job : list.jobs) {
    const Traffic own = predict_traffic(job.plan);
    traffic.weights += own.weights;
    traffic.parameters += own.parameters;
    traffic.activations += own.activations;
    traffic.operands += own.operands;
    traffic.results += own.results;
  }
  run_or_again([&] { write_operands(list, operands); },
               [&] {
                 run_program(list.ring, list.program, clock_limit(traffic), progress,
                             traffic.weights);
               },
               again);

  std::vector<GemmResult> results;
  Counters before{};
  for (std::size_t i = 0; i < list.jobs.size(); ++i) {
    Counters after;
    if (i + 1 == list.jobs.size()) {
      after = read_counters();
    } else {
      std::uint8_t bytes[kSnapshotBytes];
      device_.read_memory(list.snapshots + i * list.snapshot_bytes, bytes, sizeof bytes);
      after = decode_snapshot(bytes);
    }
    results.push_back(
        {list.is_on_chip(i) ? MatrixI32() : read_results(list.jobs[i]), between(before, after)});
    before = after;
  }
  return results;
}

}  // namespace gemm64
