// SPDX-License-Identifier: Apache-2.0
// Firmware on the platform: jobs, errors, and programs that do not behave.
#include <unistd.h>

#include "host/check/cosim.hpp"
#include "host/check/timeline.hpp"
#include "host/device/array_geometry.hpp"
#include "host/device/reference_device.hpp"
#include "host/driver/driver.hpp"
#include "host/tiling/job.hpp"
#include "sim/integrations/systemc/firmware/job_list.h"
#include "sim/integrations/systemc/platform.hpp"
#include "sim/models/rtl_device.hpp"
#include "tests/test.hpp"
#include "tests/unit/check/timeline_file.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{1} << 20;

const Elf& firmware() {
  static const Elf elf = load_elf(GEMM64_FIRMWARE);
  return elf;
}

PlatformOptions options(const std::string& accelerator, int n) {
  PlatformOptions options;
  options.accelerator = accelerator;
  options.device.array = n;
  options.memory_bytes = kMemoryBytes;
  return options;
}

/// Jobs on random operands, one after the other in memory, with the results that the reference
/// device gives.
struct FirmwareWork {
  std::vector<FirmwareJob> jobs;
  std::vector<std::uint8_t> memory;   // before
  std::vector<std::uint8_t> results;  // the memory after
};

FirmwareWork make_work(int n, unsigned jobs, std::uint32_t seed) {
  std::mt19937 random(seed);
  ReferenceDevice reference(geometry_of_array(n), kMemoryBytes);
  const Geometry geometry = read_geometry(reference);
  FirmwareWork work;
  work.memory.resize(kMemoryBytes);
  for (std::uint8_t& byte : work.memory) byte = static_cast<std::uint8_t>(random());
  reference.write_memory(0, work.memory.data(), work.memory.size());
  std::memset(work.memory.data(), 0, 0x1000);  // the ring
  reference.write_memory(0, work.memory.data(), 0x1000);
  std::uint64_t base = 0x1000;
  Driver driver(reference);
  for (unsigned i = 0; i < jobs; ++i) {
    const GemmShape shape{1 + random() % 20, 1 + random() % 40, 1 + random() % 40};
    const Job job = make_job("job", shape, Accumulate::kDevice, geometry);
    FirmwareJob to;
    for (Command command : job.program) {
      if (command.opcode != Opcode::kFinish && command.opcode != Opcode::kMatmul) {
        command.set_address(command.address() + base);
      }
      to.commands.push_back(command);
    }
    to.results = job.layout.results + base;
    to.result_bytes = job.plan.result_bytes();
    to.check = true;
    driver.run_program(0, to.commands, 0);
    std::vector<std::uint8_t> bytes(to.result_bytes);
    reference.read_memory(to.results, bytes.data(), bytes.size());
    to.crc = crc32(bytes.data(), bytes.size());
    work.jobs.push_back(to);
    base += (job.layout.end + 0xfff) / 0x1000 * 0x1000;
  }
  work.results.resize(kMemoryBytes);
  reference.read_memory(0, work.results.data(), work.results.size());
  return work;
}

/// What is in the platform's memory after the ring is what the reference left there.
void expect_results(Platform& platform, const FirmwareWork& work) {
  std::vector<std::uint8_t> memory(kMemoryBytes);
  platform.device().read_memory(0, memory.data(), memory.size());
  EXPECT_EQ(
      std::memcmp(memory.data() + 0x1000, work.results.data() + 0x1000, kMemoryBytes - 0x1000), 0);
}

void give(Platform& platform, const FirmwareWork& work) {
  platform.device().write_memory(0, work.memory.data(), work.memory.size());
}

class Firmware : public testing::TestWithParam<const char*> {};

TEST_P(Firmware, RunsJobsInBothModes) {
  for (const bool one_at_a_time : {false, true}) {
    for (const int n : {2, 8}) {
      const FirmwareWork work = make_work(n, 9, 1);
      Platform platform(options(GetParam(), n));
      give(platform, work);
      FirmwareOptions how;
      how.one_at_a_time = one_at_a_time;
      how.places = 32;  // fewer than all commands
      const FirmwareReport report = platform.run(firmware(), how, work.jobs);
      EXPECT_EQ(report.stopped, "");
      EXPECT_EQ(report.exit_code, 0u) << report.printed;
      EXPECT_THAT(report.printed, Says("9 of 9 jobs done\n"));
      EXPECT_EQ(report.resets, 0u);
      EXPECT_EQ(report.doorbells.size(), 9u);
      if (one_at_a_time) {
        EXPECT_EQ(report.interrupts.size(), 9u);
        EXPECT_GT(report.reaction(), 0);
      }
      for (std::size_t i = 0; i < report.jobs.size(); ++i) {
        EXPECT_EQ(report.jobs[i].status, JOB_DONE);
        EXPECT_EQ(report.jobs[i].attempts, 1u);
        EXPECT_EQ(report.jobs[i].order, i + 1);
        EXPECT_EQ(report.jobs[i].crc, work.jobs[i].crc);
      }
      expect_results(platform, work);
    }
  }
}

TEST_P(Firmware, ReportsWrongCrc) {
  FirmwareWork work = make_work(4, 2, 2);
  work.jobs[1].crc ^= 1;
  Platform platform(options(GetParam(), 4));
  give(platform, work);
  const FirmwareReport report = platform.run(firmware(), {}, work.jobs);
  EXPECT_EQ(report.exit_code, 1u);
  EXPECT_EQ(report.jobs[0].status, JOB_DONE);
  EXPECT_EQ(report.jobs[1].status, JOB_WRONG_CRC);
  EXPECT_THAT(report.printed, Says("which is wrong"));
}

// Results read as rows of scores, of two planes, the second of them not full.
TEST_P(Firmware, PrintsClassesOfSignedAndUnsigned) {
  constexpr std::uint64_t kSize = 4, kClasses = 7;
  FirmwareWork work = make_work(kSize, 1, 8);
  FirmwareJob& job = work.jobs[0];
  job.classes = kClasses;
  const std::uint64_t images = job.result_bytes / (2 * kSize);
  ASSERT_GT(images, 3u);
  for (const bool is_unsigned : {false, true}) {
    job.is_unsigned = is_unsigned;
    Platform platform(options(GetParam(), kSize));
    give(platform, work);
    std::string expected;
    for (std::uint64_t image = 0; image < images; ++image) {
      int best = 0, largest = -129;
      for (std::uint64_t channel = 0; channel < kClasses; ++channel) {
        const std::uint64_t place = (channel / kSize * images + image) * kSize + channel % kSize;
        const std::uint8_t byte = work.results[job.results + place];
        const int value = is_unsigned ? byte : static_cast<std::int8_t>(byte);
        if (value <= largest) continue;
        largest = value;
        best = static_cast<int>(channel);
      }
      expected += fmt::format("firmware: image {}: class {}\n", image, best);
    }
    EXPECT_THAT(platform.run(firmware(), {}, work.jobs).printed, Says(expected + "firmware: 1 of"));
  }
}

// Each cycle of each engine stands in the timeline, on the axis of the processor's, although the
// accelerator's clock is not simulated while it is idle.
TEST(FirmwareOnRtl, TimelineAccountsForEveryCycle) {
  const TestFolder folder;
  const std::filesystem::path path = folder / "firmware.json";
  for (const bool one_at_a_time : {false, true}) {
    for (const MemorySharing sharing : {MemorySharing::kIndependent, MemorySharing::kExclusive}) {
      const CosimWork work = make_cosim_work({{5, 20, 9}, {1, 1, 1}, {33, 70, 30}},
                                             Accumulate::kDevice, geometry_of_array(8), 9);
      PlatformOptions platform_options = options("rtl", 8);
      platform_options.device.memory.sharing = sharing;
      platform_options.memory_bytes = work.memory.size();
      platform_options.debug = true;
      TraceEvents trace(path);
      Timeline timeline(trace, 3);
      timeline.begin_ring(work.jobs, 0);
      Platform platform(platform_options);
      platform.observe(timeline);
      platform.device().write_memory(0, work.memory.data(), work.memory.size());
      FirmwareOptions how;
      how.one_at_a_time = one_at_a_time;
      std::vector<FirmwareJob> jobs;
      for (const CosimProgram& program : work.programs) {
        jobs.push_back({program.commands, program.results, program.result_bytes, 0, false});
      }
      const FirmwareReport report = platform.run(firmware(), how, jobs);
      EXPECT_EQ(report.exit_code, 0u) << report.printed;
      timeline.end(report.cycles);
      trace.finish({});
      Counters expected{};
      for (std::size_t i = 0; i < counter::kBytesWeights; ++i) {
        expected[i] = platform.device().read_register(kCounters[i].offset);
      }
      const TimelineFile file(path);
      EXPECT_EQ(file.count("layers", "layer"), 3u);
      EXPECT_TRUE(file.counters(false) == expected);
      EXPECT_TRUE(file.counters(true) == expected);
      if (!one_at_a_time) continue;
      // A layer begins with its doorbell, and ends with its interrupt.
      for (std::size_t i = 0; i < 3; ++i) {
        const TimelineSlice& layer = file.tracks.at("layers")[i];
        EXPECT_NEAR(static_cast<double>(layer.begin), static_cast<double>(report.doorbells[i]), 2);
        EXPECT_NEAR(static_cast<double>(layer.end), static_cast<double>(report.interrupts[i]), 2);
      }
    }
  }
}

/// Layers of one program, fenced; as many jobs for the firmware.
std::vector<FirmwareJob> fenced_jobs(const CosimWork& work, int n) {
  ReferenceDevice reference(geometry_of_array(n), work.memory.size());
  const CosimOutcome outcome = run_cosim(reference, work, "reference", "");
  EXPECT_EQ(outcome.failure, "");
  std::vector<FirmwareJob> jobs;
  for (const CosimProgram& program : work.programs) {
    jobs.push_back({program.commands, program.results, program.result_bytes,
                    crc32(outcome.memory.data() + program.results, program.result_bytes), true});
  }
  return jobs;
}

TEST_P(Firmware, RunsLayersOfOneProgramAndChecksEach) {
  CosimWork work = make_fenced_work({{5, 20, 9}, {7, 9, 30}, {3, 8, 8}}, Accumulate::kDevice,
                                    geometry_of_array(4), 5);
  const std::vector<FirmwareJob> jobs = fenced_jobs(work, 4);
  for (const bool wrong : {false, true}) {
    PlatformOptions platform_options = options(GetParam(), 4);
    platform_options.memory_bytes = work.memory.size();
    Platform platform(platform_options);
    platform.device().write_memory(0, work.memory.data(), work.memory.size());
    FirmwareOptions how;
    how.places = work.places;
    std::vector<FirmwareJob> given = jobs;
    if (wrong) given[1].crc ^= 1;
    // Then there is one more program after it.
    for (const FirmwareJob& job : jobs) given.push_back(job);
    const FirmwareReport report = platform.run(firmware(), how, given);
    EXPECT_EQ(report.exit_code, wrong ? 1u : 0u) << report.printed;
    EXPECT_EQ(report.doorbells.size(), 2u);
    ASSERT_EQ(report.jobs.size(), 6u);
    for (std::size_t i = 0; i < report.jobs.size(); ++i) {
      EXPECT_EQ(report.jobs[i].status, wrong && i == 1 ? JOB_WRONG_CRC : JOB_DONE) << i;
      EXPECT_EQ(report.jobs[i].order, i + 1);
      EXPECT_EQ(report.jobs[i].attempts, 1u);
    }
  }
}

TEST_P(Firmware, GivesUpAllLayersOfAProgramThatFails) {
  CosimWork work =
      make_fenced_work({{5, 20, 9}, {7, 9, 30}}, Accumulate::kDevice, geometry_of_array(4), 6);
  std::vector<FirmwareJob> jobs = fenced_jobs(work, 4);
  jobs.push_back(jobs[0]);
  jobs.push_back(jobs[1]);
  jobs[0].commands[0].set_address(0x70000000);
  PlatformOptions platform_options = options(GetParam(), 4);
  platform_options.memory_bytes = work.memory.size();
  Platform platform(platform_options);
  platform.device().write_memory(0, work.memory.data(), work.memory.size());
  FirmwareOptions how;
  how.places = work.places;
  const FirmwareReport report = platform.run(firmware(), how, jobs);
  EXPECT_EQ(report.exit_code, 1u);
  const std::uint32_t expected[] = {JOB_FAILED, JOB_FAILED, JOB_DONE, JOB_DONE};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(report.jobs[i].status, expected[i]) << i;
  EXPECT_EQ(report.jobs[0].attempts, 2u);
}

// A job that no device can run fails after its attempts; those after it are done.
TEST_P(Firmware, GivesUpAJobThatFailsAtEachAttempt) {
  FirmwareWork work = make_work(4, 3, 3);
  work.jobs[1].commands[0].set_address(0x70000000);
  Platform platform(options(GetParam(), 4));
  give(platform, work);
  FirmwareOptions how;
  how.attempts = 3;
  const FirmwareReport report = platform.run(firmware(), how, work.jobs);
  EXPECT_EQ(report.exit_code, 1u) << report.printed;
  EXPECT_EQ(report.jobs[0].status, JOB_DONE);
  EXPECT_EQ(report.jobs[1].status, JOB_FAILED);
  EXPECT_EQ(report.jobs[1].attempts, 3u);
  EXPECT_EQ(report.jobs[1].error_code, static_cast<std::uint32_t>(ErrorCode::kBusDecode));
  EXPECT_EQ(report.jobs[2].status, JOB_DONE);
  EXPECT_EQ(report.resets, 3u);
  EXPECT_EQ(report.hard_resets, 0u);
}

TEST_P(Firmware, EndsAWaitThatIsTooLong) {
  FirmwareWork work = make_work(4, 1, 4);
  Platform platform(options(GetParam(), 4));
  give(platform, work);
  FirmwareOptions how;
  how.limit = 50;
  const FirmwareReport report = platform.run(firmware(), how, work.jobs);
  EXPECT_EQ(report.exit_code, 1u);
  EXPECT_THAT(report.printed, Says("no interrupt within the limit"));
  EXPECT_EQ(report.jobs[0].status, JOB_FAILED);
  EXPECT_EQ(report.hard_resets, 2u);
}

TEST_P(Firmware, RefusesAnImpossibleJobList) {
  const FirmwareWork work = make_work(4, 2, 5);
  const auto spoiled = [&](std::size_t offset, std::uint64_t value, std::size_t bytes) {
    Platform platform(options(GetParam(), 4));
    platform.spoil_job_list = [=](std::vector<std::uint8_t>& list) {
      std::memcpy(list.data() + offset, &value, bytes);
    };
    const FirmwareReport report = platform.run(firmware(), {}, work.jobs);
    EXPECT_EQ(report.exit_code, 2u);
    EXPECT_EQ(report.stopped, "");
    return report.printed;
  };
  const std::size_t job1 = sizeof(job_list) + sizeof(job);
  EXPECT_THAT(spoiled(offsetof(job_list, magic), 7, 4), Says("no such list"));
  EXPECT_THAT(spoiled(offsetof(job_list, count), 1025, 4), Says("1025 jobs"));
  EXPECT_THAT(spoiled(offsetof(job_list, ring), 0x80000000, 8), Says("address of the ring"));
  EXPECT_THAT(spoiled(job1 + offsetof(job, commands), 0x10, 8),
              Says("job 1: impossible address of commands, 0x10\n"));
  EXPECT_THAT(spoiled(job1 + offsetof(job, results), ~0ull << 3, 8),
              Says("job 1: impossible address of results"));
  EXPECT_THAT(spoiled(job1 + offsetof(job, command_count), 64, 4),
              Says("job 1: impossible number of commands"));
}

INSTANTIATE_TEST_SUITE_P(Accelerators, Firmware, testing::Values("rtl", "tlm"),
                         [](const auto& info) { return std::string(info.param); });

TEST(FirmwareOnRtl, TriesAgainAfterABusError) {
  for (const bool one_at_a_time : {false, true}) {
    const FirmwareWork work = make_work(4, 4, 6);
    Platform platform(options("rtl", 4));
    give(platform, work);
    platform.rtl()->ports().results.fail_burst(3);
    FirmwareOptions how;
    how.one_at_a_time = one_at_a_time;
    const FirmwareReport report = platform.run(firmware(), how, work.jobs);
    EXPECT_EQ(report.exit_code, 0u) << report.printed;
    EXPECT_THAT(report.printed, Says("BUS_SLAVE"));
    EXPECT_EQ(report.resets, 1u);
    expect_results(platform, work);
  }
}

TEST(FirmwareOnRtl, RecoversFromHangByHardReset) {
  const FirmwareWork work = make_work(4, 3, 7);
  Platform platform(options("rtl", 4));
  give(platform, work);
  platform.rtl()->ports().weights.hang_after(2);
  FirmwareOptions how;
  how.watchdog = 3000;
  const FirmwareReport report = platform.run(firmware(), how, work.jobs);
  EXPECT_EQ(report.exit_code, 0u) << report.printed << report.stopped;
  EXPECT_THAT(report.printed, Says("WATCHDOG"));
  EXPECT_EQ(report.hard_resets, 1u);
  expect_results(platform, work);
}

FirmwareReport run_program(const std::string& name) {
  Platform platform(options("tlm", 4));
  FirmwareOptions how;
  how.max_instructions = 1'000'000;
  how.max_cycles = 10'000'000;
  return platform.run(load_elf(std::string(GEMM64_TEST_PROGRAMS) + "/" + name + ".elf"), how, {});
}

TEST(Processor, EndsAtAnExceptionWithPcAndCause) {
  EXPECT_THAT(
      run_program("TRAP").stopped,
      testing::MatchesRegex("the processor stopped: illegal instruction \\(mcause 2\\).* at "
                            "pc 0xc000000[0-9a-f] \\(wrong\\)"));
  EXPECT_THAT(run_program("CALL").stopped, Says("environment call (mcause 11) at pc", "(calls)"));
  EXPECT_THAT(run_program("BREAK").stopped, Says("breakpoint (mcause 3) at pc", "(breaks)"));
}

TEST(Processor, EndsAtUnmappedAccess) {
  EXPECT_THAT(run_program("NOWHERE").stopped,
              Says("load access fault (mcause 5): address 0xf0000000"));
  EXPECT_THAT(run_program("REFUSED").stopped,
              Says("store access fault (mcause 7): the bus answered "
                   "TLM_GENERIC_ERROR_RESPONSE at address 0x80003040"));
  EXPECT_THAT(run_program("JUMP").stopped,
              Says("instruction access fault (mcause 1): address 0xf0000000"));
}

TEST(Processor, EndsProgramThatSpinsOrSleeps) {
  EXPECT_THAT(run_program("SPIN").stopped,
              testing::MatchesRegex("the firmware has not ended after 1[0-9]+ instructions; pc "
                                    "0xc00000[0-9a-f]+ \\(spins\\)"));
  EXPECT_THAT(run_program("SLEEP").stopped, Says("asleep (WFI) at pc"));
}

TEST(Processor, TakesInterruptsAsleepAndInLoop) {
  const FirmwareReport timers = run_program("TIMERS");
  EXPECT_EQ(timers.stopped, "");
  EXPECT_EQ(timers.exit_code, 10u);
  EXPECT_EQ(timers.printed, "..........");
  EXPECT_GE(timers.cycles, 10'000u);
  EXPECT_LT(timers.cycles, 10'100u);
  const FirmwareReport busy = run_program("BUSY");
  EXPECT_EQ(busy.exit_code, 1u) << busy.stopped;
  EXPECT_GE(busy.instructions, 400'000u);
  EXPECT_LT(busy.instructions, 400'100u);
}

std::string refusal(const std::string& file) {
  return message_of([&] { load_elf(file); });
}

TEST(Elf, RefusesWhatIsNoFirmware) {
  EXPECT_THAT(refusal("/proc/self/exe"), Says("; firmware must be for 64-bit RISC-V"));
  EXPECT_THAT(refusal("no-such-file.elf"), Says("no-such-file.elf: cannot be read"));
  const TestFolder folder;
  std::ifstream from(GEMM64_FIRMWARE, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(from)), {});
  const auto damaged = [&](const std::string& bytes) {
    return refusal(folder.write("damaged.elf", bytes));
  };
  EXPECT_THAT(damaged("#!/bin/sh"), Says("is no ELF file"));
  EXPECT_THAT(damaged("\x7f"
                      "EL"),
              Says("cut short"));
  EXPECT_THAT(damaged(whole.substr(0, 3000)), Says("cut short"));
  EXPECT_EQ(damaged(whole), "");
  std::string narrow = whole;
  narrow[4] = 1;
  EXPECT_THAT(damaged(narrow), Says("32 bits"));
}

}  // namespace
}  // namespace gemm64
