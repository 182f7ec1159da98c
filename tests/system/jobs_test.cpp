// SPDX-License-Identifier: Apache-2.0
// One job after another: through the driver, through the ring without a reset, and after soft
// resets in the middle of the work.

#include "host/device/snapshot.hpp"
#include "host/tiling/job_program.hpp"
#include "tests/commands.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

TEST(Jobs, TwoInARowAreBothExact) {
  for (const int n : {2, 4, 8}) {
    Rig rig(n);
    std::mt19937 random(900);
    const Workload work{{11, 3 * static_cast<std::uint64_t>(n) + 1, 13}};
    expect_exact(rig, work, random);
    expect_exact(rig, work, random);
  }
}

TEST(Jobs, ManyInARowNeedNoMoreCyclesThanTheFirst) {
  Rig rig(8);
  std::mt19937 random(901);
  const Operands operands = random_operands(random, {10, 20, 30});
  const Counters first = run(rig, {{10, 20, 30}}, operands).counters;
  for (int i = 0; i < 60; ++i) {
    expect_exact(rig, random_workload(random, 8, 50), random);
    EXPECT_EQ(run(rig, {{10, 20, 30}}, operands).counters, first);
    if (HasFailure()) return;
  }
}

/// Operands of several jobs, packed, and the results of all as one program.
struct ListRun {
  ListRun(Rig& rig, const std::vector<Workload>& works, std::mt19937& random) {
    std::vector<Job> jobs;
    for (const Workload& work : works) {
      jobs.push_back(make_job(rig, work));
      jobs.back().ready = draw(random, 0, 1) != 0;
    }
    list = make_job_program(jobs, rig.driver.geometry());
    for (const Job& job : list.jobs) {
      operands.push_back(random_operands(random, job.plan.shape));
      packed.emplace_back(job, operands.back());
    }
    std::vector<JobOperands> all;
    for (std::size_t i = 0; i < works.size(); ++i) {
      all.push_back({packed[i].weights, operands[i].a, &packed[i].parameters});
    }
    results = rig.driver.run(list, all);
  }

  JobProgram list;
  std::vector<Operands> operands;
  std::vector<Packed> packed;
  std::vector<GemmResult> results;
};

void expect_lists_exact(int n, double stalls, MemorySharing sharing, unsigned first_seed) {
  SCOPED_TRACE("N = " + std::to_string(n) + ", " + name(sharing));
  RtlOptions options = Rig::options(n, stalls, first_seed);
  options.memory.sharing = sharing;
  Rig rig(options);
  for_seeds(first_seed, 6, [&](std::mt19937& random) {
    rig.set_latency(draw(random, 1, 200));
    std::vector<Workload> works;
    for (unsigned i = draw(random, 1, 5); i > 0; --i) {
      works.push_back(random_workload(random, static_cast<unsigned>(n), 40));
    }
    const ListRun run(rig, works, random);
    Counters sum{};
    for (std::size_t i = 0; i < works.size(); ++i) {
      EXPECT_EQ(run.results[i].sums, expected_results(works[i].output, run.operands[i])) << i;
      expect_causes_add_up(run.results[i].counters);
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += run.results[i].counters[c];
    }
    EXPECT_EQ(sum, rig.driver.read_counters());
    if (stalls != 0) return;
    const Prediction predicted = predict(run.list.program, rig.driver.geometry(), rig.memory);
    Counters before{};
    for (std::size_t i = 0; i < works.size(); ++i) {
      const Counters& after =
          i + 1 == works.size() ? predicted.counters : predicted.snapshots[i].counters;
      const Counters expected = between(before, after);
      EXPECT_TRUE(run.results[i].counters == expected)
          << "job " << i << difference(expected, run.results[i].counters);
      before = after;
    }
  });
}

TEST(JobLists, AsOneProgramAreExactJobByJob) {
  for (const int n : {2, 4, 8}) {
    for (const MemorySharing sharing :
         {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kExclusive}) {
      expect_lists_exact(n, 0, sharing, 970);
    }
  }
}

TEST(JobLists, GiveTheSameValuesUnderStalls) {
  for (const int n : {2, 8}) expect_lists_exact(n, 0.4, MemorySharing::kIndependent, 980);
}

TEST(JobLists, MayBeLongerThanTheRingOfOneJob) {
  Rig rig(8);
  std::mt19937 random(990);
  const ListRun run(rig, std::vector<Workload>(30, Workload{{3, 9, 5}}), random);
  ASSERT_GT(run.list.program.size(), kRingCommands);
  for (std::size_t i = 0; i < run.results.size(); ++i) {
    EXPECT_EQ(run.results[i].sums, reference_gemm(run.operands[i].a, run.operands[i].w)) << i;
  }
}

/// Writes a program into the ring from place `at` on.
void place_program(Device& device, const std::vector<Command>& program, std::uint32_t at,
                   std::uint32_t mask) {
  for (const Command& command : program) {
    put(device, std::uint64_t{at++ & mask} * kCommandBytes, command);
  }
}

/// The operands of one job in memory after the ring, and its program.
struct Placed {
  Placed(Rig& rig, const Workload& work, const Operands& operands, std::uint64_t base)
      : job(make_job(rig, work)) {
    Layout& layout = job.layout;
    layout.weights += base;
    layout.parameters += base;
    layout.activations += base;
    layout.results += base;
    job.program = make_program(job.plan, layout);
    const Packed packed(job, operands);
    const std::vector<std::uint8_t> activations = pack_activations(job, operands.a);
    rig.device->write_memory(layout.weights, packed.weights.data(), packed.weights.size());
    rig.device->write_memory(layout.parameters, packed.parameters.data(), packed.parameters.size());
    rig.device->write_memory(layout.activations, activations.data(), activations.size());
  }
  MatrixI32 results(Device& device) const {
    std::vector<std::uint8_t> blocks(job.plan.result_bytes());
    device.read_memory(job.layout.results, blocks.data(), blocks.size());
    return unpack_results(job, result_values(job.plan.results(), blocks));
  }

  Job job;
};

TEST(Ring, ProgramsFollowWithoutResetAndWrap) {
  for (const double stalls : {0.0, 0.4}) {
    Rig rig(8, stalls, 77);
    Device& device = *rig.device;
    constexpr std::uint32_t kMask = 7;  // a program has 5 commands, or 6
    device.write_register(reg::kRingMask, kMask);
    std::uint32_t tail = 0;
    for_seeds(910, 20, [&](std::mt19937& random) {
      Workload work = random_workload(random, 8, 40);
      work.shape.m = std::min<std::uint64_t>(work.shape.m, 100);
      const Operands operands = random_operands(random, work.shape);
      const Placed placed(rig, work, operands, 0);
      const auto commands = static_cast<std::uint32_t>(placed.job.program.size());
      ASSERT_LE(commands, kMask);
      place_program(device, placed.job.program, tail, kMask);
      tail = (tail + commands) & kMask;
      device.write_register(reg::kRingTail, tail);
      ASSERT_TRUE(device.wait_interrupt(1'000'000));
      ASSERT_EQ(device.read_register(reg::kInterrupt), field::kInterruptDone.mask());
      device.write_register(reg::kInterrupt, field::kInterruptDone.mask());
      EXPECT_EQ(device.read_register(reg::kRingHead), tail);
      EXPECT_EQ(placed.results(device), expected_results(work.output, operands));
    });
    expect_causes_add_up(rig.driver.read_counters());
  }
}

TEST(Ring, CommandsMayBeAddedWhileOthersRun) {
  Rig rig(8);
  Device& device = *rig.device;
  constexpr std::uint32_t kMask = 3;  // less than a program
  device.write_register(reg::kRingMask, kMask);
  std::mt19937 random(920);
  std::uint32_t tail = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const Workload work{{131, 40, 20}};
    const Operands operands = random_operands(random, work.shape);
    const Placed placed(rig, work, operands, 0);
    for (const Command& command : placed.job.program) {
      // One place stays free: a full ring would look like an empty one.
      for (int i = 0; ((tail + 1) & kMask) == device.read_register(reg::kRingHead); ++i) {
        ASSERT_LT(i, 100000);
      }
      place_program(device, {command}, tail, kMask);
      tail = (tail + 1) & kMask;
      device.write_register(reg::kRingTail, tail);
    }
    ASSERT_TRUE(device.wait_interrupt(1'000'000));
    EXPECT_EQ(device.read_register(reg::kInterrupt), field::kInterruptDone.mask());
    device.write_register(reg::kInterrupt, field::kInterruptDone.mask());
    EXPECT_EQ(placed.results(device), reference_gemm(operands.a, operands.w));
  }
}

TEST(Ring, TwoProgramsAtOnceRunOneAfterTheOther) {
  Rig rig(8);
  Device& device = *rig.device;
  std::mt19937 random(930);
  const Workload first{{20, 50, 30}}, second{{7, 90, 11}, Accumulate::kHost};
  const Operands operands_1 = random_operands(random, first.shape);
  const Operands operands_2 = random_operands(random, second.shape);
  const Placed placed_1(rig, first, operands_1, 0);
  const Placed placed_2(rig, second, operands_2, 1 << 20);
  std::vector<Command> both = placed_1.job.program;
  both.insert(both.end(), placed_2.job.program.begin(), placed_2.job.program.end());
  place_program(device, both, 0, 63);
  device.write_register(reg::kRingTail, static_cast<std::uint32_t>(both.size()));
  // Each FINISH raises the interrupt.
  for (const Placed* placed : {&placed_1, &placed_2}) {
    ASSERT_TRUE(device.wait_interrupt(1'000'000));
    EXPECT_GE(device.read_register(reg::kRingHead), placed == &placed_1 ? 5u : 10u);
    device.write_register(reg::kInterrupt, field::kInterruptDone.mask());
    const Operands& operands = placed == &placed_1 ? operands_1 : operands_2;
    EXPECT_EQ(placed->results(device), reference_gemm(operands.a, operands.w));
  }
}

TEST(Ring, ErrorsNumberCommandsFromTheLastReset) {
  Rig rig(8);
  Device& device = *rig.device;
  std::vector<Command> program(6, finish());
  constexpr std::uint32_t kMask = 3;
  device.write_register(reg::kRingMask, kMask);
  for (std::uint32_t i = 0; i < 6; ++i) {
    if (i == 5) program[i].opcode = static_cast<Opcode>(77);
    place_program(device, {program[i]}, i, kMask);
    device.write_register(reg::kRingTail, i + 1);
    ASSERT_TRUE(device.wait_interrupt(10000));
    if (i < 5) device.write_register(reg::kInterrupt, field::kInterruptDone.mask());
  }
  const std::uint32_t error = device.read_register(reg::kError);
  EXPECT_EQ(field::kErrorCommand.get(error), 5u);
  EXPECT_EQ(field::kErrorCode.get(error), static_cast<std::uint32_t>(ErrorCode::kBadOpcode));
}

TEST(Ring, FinishTwiceIsFinishOnceMore) {
  Rig rig(8);
  rig.driver.run_program(0, std::vector<Command>(2, finish()), 10000);
  rig.device->run(1000);
  EXPECT_EQ(rig.device->read_register(reg::kRingHead), 2u);
  EXPECT_EQ(rig.device->read_register(reg::kStatus), 0u);
  std::mt19937 random(940);
  expect_exact(rig, {{5, 6, 7}}, random);
}

// Started by hand, so that the driver does not wait for the end.
void start(Rig& rig, const Placed& placed) {
  rig.driver.reset();
  place_program(*rig.device, placed.job.program, 0, 63);
  rig.device->write_register(reg::kRingTail, static_cast<std::uint32_t>(placed.job.program.size()));
}

void expect_soft_resets_survived(int n, double stalls, std::uint64_t step, std::uint32_t seed) {
  SCOPED_TRACE(fmt::format("N = {}, stalls {}, seed {}", n, stalls, seed));
  Rig rig(n, stalls, seed);
  std::mt19937 random(seed);
  const auto size = static_cast<std::uint64_t>(n);
  const Workload work{{131, 2 * size + 1, 2 * size}, Accumulate::kHost, 25};
  const Operands operands = random_operands(random, work.shape);
  const std::uint64_t cycles = run(rig, work, operands).counters[counter::kTotalClocks];
  const Placed placed(rig, work, operands, 0);
  const Workload check{{5, size + 1, size - 1}, Accumulate::kDevice, 25};
  for (std::uint64_t at = 0; at < cycles; at += step) {
    SCOPED_TRACE(fmt::format("soft reset after {} of {} cycles", at, cycles));
    start(rig, placed);
    rig.device->run(at);
    rig.driver.reset();
    ASSERT_EQ(rig.device->read_register(reg::kStatus), 0u);
    ASSERT_FALSE(rig.device->interrupt());
    const Operands others = random_operands(random, check.shape);
    if (stalls == 0) {
      expect_exact(rig, check, others);
    } else {
      expect_values(rig, check, others);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(SoftReset, InAnyOfTheFirstCyclesIsClean) {
  Rig rig(8);
  std::mt19937 random(950);
  const Workload work{{9, 33, 17}, Accumulate::kDevice, 20};
  const Operands operands = random_operands(random, work.shape);
  const Placed placed(rig, work, operands, 0);
  for (std::uint64_t at = 0; at < 250; ++at) {
    SCOPED_TRACE(fmt::format("soft reset after {} cycles", at));
    start(rig, placed);
    rig.device->run(at);
    expect_exact(rig, work, operands);  // the driver begins with a soft reset
    if (HasFailure()) return;
  }
}

TEST(SoftReset, InTheMiddleOfWorkIsClean) {
  expect_soft_resets_survived(2, 0, 23, 951);
  expect_soft_resets_survived(4, 0, 29, 952);
  expect_soft_resets_survived(8, 0, 31, 953);
}

TEST(SoftReset, InTheMiddleOfStalledWorkIsClean) {
  expect_soft_resets_survived(2, 0.5, 149, 954);
  expect_soft_resets_survived(8, 0.5, 151, 955);
  expect_soft_resets_survived(8, 0.9, 1409, 956);
}

// The reset waits for the bus; a tail that is written meanwhile would be gone with the ring.
TEST(SoftReset, RefusesATailUntilItHasEnded) {
  std::mt19937 random(957);
  Rig rig(8);
  RtlDevice& device = *rig.device;
  const Workload work{{9, 40, 9}, Accumulate::kDevice, 200};
  const Operands operands = random_operands(random, work.shape);
  run(rig, work, operands);
  rig.driver.reset();
  device.write_register(reg::kRingTail, 1);
  device.run(50);  // fetching, with 150 cycles to go
  device.write_register(reg::kControl, field::kControlReset.mask());
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(field::kStatusResetting.get(device.read_register(reg::kStatus)), 1u);
    EXPECT_THAT(message_of<DeviceError>([&] { device.write_register(reg::kRingTail, 2); }),
                Says("SLVERR"));
  }
  device.run(200);
  EXPECT_EQ(device.read_register(reg::kStatus), 0u);
  EXPECT_EQ(device.read_register(reg::kRingTail), 0u);
  device.write_register(reg::kRingTail, 1);
  EXPECT_EQ(device.read_register(reg::kRingTail), 1u);
  rig.driver.reset();
  expect_values(rig, work, operands);
}

TEST(HardReset, InTheMiddleOfWorkIsClean) {
  Rig rig(8);
  std::mt19937 random(960);
  const Workload work{{131, 17, 16}, Accumulate::kHost, 25};
  const Operands operands = random_operands(random, work.shape);
  const Placed placed(rig, work, operands, 0);
  for (std::uint64_t at = 0; at < 2500; at += 37) {
    start(rig, placed);
    rig.device->run(at);
    rig.device->reset();
    expect_exact(rig, {{9, 10, 11}, Accumulate::kDevice, 25}, random);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace gemm64::system_test
