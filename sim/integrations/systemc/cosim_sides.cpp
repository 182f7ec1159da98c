// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/systemc/cosim_sides.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "host/driver/gemm64_registers.h"
#include "sim/integrations/systemc/firmware/job_list.h"

namespace gemm64 {
namespace {

std::uint64_t read_counter(Device& device, std::size_t index) {
  const std::uint64_t low = device.read_register(kCounters[index].offset);
  return low | std::uint64_t{device.read_register(kCounters[index].offset + 4)} << 32;
}

FirmwareReport run(Platform& platform, const Elf& elf, const CosimWork& work) {
  if (work.disturbance != CosimWork::Disturbance::kNone) {
    throw std::invalid_argument("firmware disturbs no work");
  }
  platform.device().write_memory(0, work.memory.data(), work.memory.size());
  FirmwareOptions options;
  options.one_at_a_time = true;
  options.ring = work.ring;
  options.places = work.places;
  options.watchdog = work.watchdog;
  options.attempts = 1;
  options.limit = std::uint64_t{1} << 40;
  FirmwareReport report = platform.run(elf, options, firmware_jobs(work));
  if (!report.stopped.empty()) throw std::runtime_error(report.stopped);
  if (report.exit_code > 1) throw std::runtime_error(report.printed);
  return report;
}

}  // namespace

std::vector<FirmwareJob> firmware_jobs(const CosimWork& work, const CosimOutcome* expected) {
  std::vector<FirmwareJob> jobs;
  for (const CosimProgram& program : work.programs) {
    FirmwareJob& job = jobs.emplace_back();
    job.commands = program.commands;
    job.results = program.results;
    job.result_bytes = program.result_bytes;
    if (expected == nullptr) continue;
    job.crc = crc32(expected->memory.data() + program.results, program.result_bytes);
    job.check = true;
  }
  return jobs;
}

CosimOutcome firmware_outcome(Platform& platform, const CosimWork& work,
                              const FirmwareReport& report) {
  CosimOutcome outcome;
  Device& device = platform.device();
  outcome.memory.resize(work.memory.size());
  device.read_memory(0, outcome.memory.data(), outcome.memory.size());
  take_snapshots(work, outcome);
  for (std::size_t i = 0; i < report.jobs.size(); ++i) {
    const FirmwareJobResult& job = report.jobs[i];
    if (job.status == JOB_DONE || job.status == JOB_WRONG_CRC) {
      const CosimProgram& program = work.programs[i];
      if (job.crc != crc32(outcome.memory.data() + program.results, program.result_bytes)) {
        throw std::runtime_error(fmt::format("the CRC of job {} is not that of its results", i));
      }
      if (!program.commands.empty()) outcome.interrupts.push_back("done");
      continue;
    }
    outcome.interrupts.push_back(fmt::format("error {}", gemm64_error_name(job.error_code)));
    outcome.registers.emplace_back("ERROR", field::kErrorCode.put(job.error_code) |
                                                field::kErrorEngine.put(job.error_engine) |
                                                field::kErrorCommand.put(job.error_command));
    return outcome;  // the others stop at the first error
  }
  Counters counters;
  for (std::size_t i = 0; i < counters.size(); ++i) counters[i] = read_counter(device, i);
  outcome.counters = counters;
  outcome.cycles = counters[counter::kTotalClocks];
  return outcome;
}

CosimOutcome run_cosim_firmware(Platform& platform, const Elf& elf, const CosimWork& work,
                                std::string side, std::string family) {
  CosimOutcome outcome;
  try {
    outcome = firmware_outcome(platform, work, run(platform, elf, work));
  } catch (const std::exception& error) {
    outcome.failure = error.what();
  }
  outcome.side = std::move(side);
  outcome.family = std::move(family);
  return outcome;
}

}  // namespace gemm64
