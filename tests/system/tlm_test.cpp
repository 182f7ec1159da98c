// SPDX-License-Identifier: Apache-2.0
// The tlm device against the RTL: the same memory, errors and registers, and the same cycles
// wherever these are predicted.

#include "host/cycles/tlm_device.hpp"
#include "tests/commands.hpp"
#include "tests/dram.hpp"
#include "tests/system/random_program.hpp"
#include "tests/system/random_windows.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint64_t kClockLimit = 2'000'000;
constexpr std::uint64_t kIdleCycles =
    100'000;  // without an interrupt, until a device is asked whether it is still busy

/// The RTL and the tlm device of the same size with the same memory.
struct Twins {
  explicit Twins(const RtlOptions& options)
      : rtl(options),
        tlm(rtl.driver.geometry(), options.memory, options.memory_bytes),
        driver(tlm) {}

  void write_memory(std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
    rtl.device->write_memory(address, bytes.data(), bytes.size());
    tlm.write_memory(address, bytes.data(), bytes.size());
  }

  Rig rtl;
  TlmDevice tlm;
  Driver driver;
};

RtlOptions small(int n, const MemoryTiming& memory) {
  RtlOptions options = Rig::options(n);
  options.memory_bytes = kMemoryBytes;
  options.memory = memory;
  return options;
}

/// A third of them DRAM channels.
MemoryTiming any_memory(std::mt19937& random, int n) {
  MemoryTiming memory = random_memory(random, n);
  if (draw(random, 0, 2) != 0) return memory;
  memory.bytes_per_cycle = 0;
  memory.sharing = MemorySharing::kDram;
  memory.dram = random_dram(random);
  return memory;
}

/// Of products, or of windows and products.
std::vector<Command> any_program(std::mt19937& random, const Geometry& geometry, unsigned parts) {
  return draw(random, 0, 1) == 0 ? random_program(random, geometry, parts)
                                 : random_window_program(random, geometry, parts);
}

TEST(Tlm, RandomProgramsEqualTheRtl) {
  for_seeds(1100, 80, [](std::mt19937& random) {
    const int n = 2 << draw(random, 0, 2);
    Twins twins(small(n, any_memory(random, n)));
    twins.write_memory(kOperands, operand_memory(random, static_cast<std::uint32_t>(n)));
    const std::vector<Command> program =
        any_program(random, twins.rtl.driver.geometry(), draw(random, 1, 3));
    SCOPED_TRACE(list(program));
    const std::uint64_t rtl_before = twins.rtl.device->cycles(), tlm_before = twins.tlm.cycles();
    twins.rtl.driver.run_program(0, program, kClockLimit);
    twins.driver.run_program(0, program, kClockLimit);
    EXPECT_EQ(twins.rtl.device->cycles() - rtl_before, twins.tlm.cycles() - tlm_before);
    EXPECT_TRUE(image(*twins.rtl.device) == image(twins.tlm));
    const Counters expected = twins.rtl.driver.read_counters();
    const Counters found = twins.driver.read_counters();
    EXPECT_TRUE(found == expected) << difference(found, expected);
  });
}

/// Gives commands to a ring that starts empty, up to each of `tails`, and waits some cycles after
/// each; then until all is done. Returns the cycles in which interrupts were seen and cleared.
std::vector<std::uint64_t> give_in_pieces(Device& device, const std::vector<Command>& commands,
                                          const std::vector<std::uint32_t>& tails,
                                          const std::vector<std::uint64_t>& gaps) {
  std::vector<std::uint8_t> bytes(commands.size() * kCommandBytes);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    commands[i].encode(bytes.data() + i * kCommandBytes);
  }
  device.write_memory(0, bytes.data(), bytes.size());
  device.write_register(reg::kControl, field::kControlReset.mask());
  while (field::kStatusResetting.get(device.read_register(reg::kStatus)) != 0) {
  }
  device.write_register(reg::kControl, field::kControlClearCounters.mask());
  device.write_register(reg::kWatchdog, 0);
  device.write_register(reg::kRingMask, 255);
  const std::uint64_t start = device.cycles();
  std::vector<std::uint64_t> seen;
  const auto wait = [&](std::uint64_t cycles) {
    const bool high = device.wait_interrupt(cycles);
    if (!high) return false;
    seen.push_back(device.cycles() - start);
    device.write_register(reg::kInterrupt, field::kInterruptDone.mask());
    return true;
  };
  for (std::size_t i = 0; i < tails.size(); ++i) {
    device.write_register(reg::kRingTail, tails[i]);
    wait(gaps[i]);
  }
  while (wait(kIdleCycles) || field::kStatusBusy.get(device.read_register(reg::kStatus)) != 0) {
    if (device.cycles() - start > kClockLimit) break;
  }
  return seen;
}

TEST(Tlm, ProgramsGivenWhileOthersRun) {
  for_seeds(1300, 24, [](std::mt19937& random) {
    const int n = 2 << draw(random, 0, 2);
    const MemoryTiming memory = any_memory(random, n);
    Twins twins(small(n, memory));
    twins.write_memory(kOperands, operand_memory(random, static_cast<std::uint32_t>(n)));
    std::vector<Command> commands;
    std::vector<std::uint32_t> tails;
    std::vector<std::uint64_t> gaps;
    const auto give = [&](std::size_t count) {
      tails.push_back(static_cast<std::uint32_t>(count));
      gaps.push_back(draw(random, 0, 3) == 0 ? draw(random, 1, 20'000) : draw(random, 1, 200));
    };
    for (unsigned programs = draw(random, 2, 5); programs > 0; --programs) {
      const std::vector<Command> program =
          random_program(random, twins.rtl.driver.geometry(), draw(random, 1, 2));
      if (draw(random, 0, 2) == 0) give(commands.size() + random() % program.size());
      commands.insert(commands.end(), program.begin(), program.end());
      if (draw(random, 0, 2) != 0) give(commands.size());
    }
    if (tails.empty() || tails.back() != commands.size()) give(commands.size());
    SCOPED_TRACE(fmt::format("tails {}, gaps {}, memory {} {} {}, n {}\n{}", fmt::join(tails, " "),
                             fmt::join(gaps, " "), memory.latency, memory.bytes_per_cycle,
                             static_cast<int>(memory.sharing), n, list(commands)));
    const auto expected = give_in_pieces(*twins.rtl.device, commands, tails, gaps);
    const auto found = give_in_pieces(twins.tlm, commands, tails, gaps);
    EXPECT_EQ(found, expected);
    EXPECT_TRUE(image(*twins.rtl.device) == image(twins.tlm));
    const Counters rtl = twins.rtl.driver.read_counters(), tlm = twins.driver.read_counters();
    EXPECT_TRUE(tlm == rtl) << difference(tlm, rtl);
  });
}

TEST(Tlm, ProductsEqualTheRtls) {
  for_seeds(1200, 30, [](std::mt19937& random) {
    Twins twins(Rig::options(2 << draw(random, 0, 2)));
    const Workload work = random_workload(random, twins.rtl.driver.geometry().n, 150);
    const Operands operands = random_operands(random, work.shape);
    const Job job = make_job(twins.rtl, work);
    const Packed packed(job, operands);
    const JobOperands given{packed.weights, operands.a, &packed.parameters};
    const GemmResult expected = twins.rtl.driver.run(job, given);
    const GemmResult found = twins.driver.run(job, given);
    EXPECT_EQ(found.sums, expected.sums);
    EXPECT_TRUE(found.counters == expected.counters)
        << describe(work) << difference(found.counters, expected.counters);
  });
}

/// What the registers say after a program: the first that differs, or nothing.
std::string registers_after(Twins& twins, const std::vector<Command>& program) {
  for (Device* device :
       {static_cast<Device*>(twins.rtl.device.get()), static_cast<Device*>(&twins.tlm)}) {
    std::vector<std::uint8_t> bytes(program.size() * kCommandBytes);
    for (std::size_t i = 0; i < program.size(); ++i) {
      program[i].encode(bytes.data() + i * kCommandBytes);
    }
    device->write_memory(0, bytes.data(), bytes.size());
    device->write_register(reg::kControl, field::kControlReset.mask());
    while (field::kStatusResetting.get(device->read_register(reg::kStatus)) != 0) {
    }
    device->write_register(reg::kRingMask, 63);
    device->write_register(reg::kRingTail, static_cast<std::uint32_t>(program.size()));
    if (!device->wait_interrupt(kClockLimit)) return device->name() + " does not end";
  }
  for (const Register& entry : kRegisters) {
    if (entry.access == Access::kWriteOneToPulse) continue;
    // How far the commands ran ahead of a transfer that failed depends on the memory.
    if (entry.offset == reg::kRingHead) continue;
    const std::uint32_t expected = twins.rtl.device->read_register(entry.offset);
    const std::uint32_t found = twins.tlm.read_register(entry.offset);
    if (found != expected) return fmt::format("{}: {:#x}, not {:#x}", entry.name, found, expected);
  }
  return {};
}

TEST(Tlm, ErrorsAreTheRtls) {
  Twins twins(small(8, {}));
  for (Device* device :
       {static_cast<Device*>(twins.rtl.device.get()), static_cast<Device*>(&twins.tlm)}) {
    device->write_register(reg::kWatchdog, 1000);
  }
  const std::vector<Command> product = tile_product(8, 4, 0, 0, 0x3000);
  const Command weights = product[0], activations = product[1], matmul = product[2],
                store = product[3], finish = product[4];
  EXPECT_EQ(registers_after(twins, product), "");

  Command bad = finish;
  bad.opcode = static_cast<Opcode>(77);
  EXPECT_EQ(registers_after(twins, {bad}), "");
  EXPECT_EQ(registers_after(twins, {weights, bad, finish}), "");
  bad = store;
  bad.rows = 0;
  EXPECT_EQ(registers_after(twins, {bad, finish}), "");
  bad = weights;
  bad.set_address(3);
  EXPECT_EQ(registers_after(twins, {bad, finish}), "");
  bad = activations;
  bad.set_address(kMemoryBytes - 8);  // one word inside the memory, three outside
  EXPECT_EQ(registers_after(twins, {bad, weights, matmul, store, finish}), "");
  bad = store;
  bad.set_address(kMemoryBytes);
  EXPECT_EQ(registers_after(twins, {weights, activations, matmul, bad, finish}), "");
  // What never ends, until the watchdog.
  EXPECT_EQ(registers_after(twins, {matmul, finish}), "");
  EXPECT_EQ(registers_after(twins, {weights, activations, matmul, finish}), "");
  EXPECT_EQ(registers_after(twins, product), "");
}

// With a memory that stalls at random the cycle is unknown; from 100,000 on, the hundredth.
TEST(Tlm, LongStalledWorkIsWithinAHundredth) {
  for (const double stall_probability : {0.1, 0.3}) {
    for (const GemmShape& shape : {GemmShape{8, 1600, 700}, GemmShape{300, 200, 300}}) {
      Twins twins(Rig::options(8, stall_probability));
      std::mt19937 random(4);
      const Workload work{shape, Accumulate::kDevice, 100};
      const Operands operands = random_operands(random, shape);
      const Job job = make_job(twins.rtl, work);
      const std::vector<std::uint8_t> weights = pack_weights(job, operands.w);
      const double rtl = static_cast<double>(
          twins.rtl.driver.run(job, weights, operands.a).counters[counter::kTotalClocks]);
      const double tlm = static_cast<double>(
          twins.driver.run(job, weights, operands.a).counters[counter::kTotalClocks]);
      EXPECT_GE(rtl, 100'000);
      EXPECT_LT(std::abs(tlm - rtl) / rtl, 0.01)
          << describe(work) << ", stalls " << stall_probability << ": " << tlm << ", not " << rtl;
    }
  }
}

}  // namespace
}  // namespace gemm64::system_test
