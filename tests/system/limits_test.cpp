// SPDX-License-Identifier: Apache-2.0
// What only long or unusual programs reach: places of the ring and command numbers far up, queues
// of commands that are full, and each kind of progress that keeps the watchdog quiet.

#include "host/device/reference_device.hpp"
#include "tests/commands.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint64_t kRing = 0x10000, kWeights = 0x40000, kActivations = 0x80000,
                        kResults = 0x100000;
constexpr std::uint64_t kClockLimit = 200'000;

void give(Device& device, std::uint32_t place, const Command& command) {
  put(device, kRing + place * kCommandBytes, command);
}

void set_ring(Device& device, std::uint32_t places) {
  device.write_register(reg::kRingBaseLow, kRing);
  device.write_register(reg::kRingMask, places - 1);
}

void put_operands(Device& device) {
  std::mt19937 random(77);
  std::vector<std::uint8_t> bytes(0x8000);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  device.write_memory(kWeights, bytes.data(), bytes.size());
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  device.write_memory(kActivations, bytes.data(), bytes.size());
}

std::vector<std::uint8_t> results(Device& device) {
  std::vector<std::uint8_t> bytes(0x8000);
  device.read_memory(kResults, bytes.data(), bytes.size());
  return bytes;
}

/// Runs a program from the start of an empty ring; the cause of the interrupt, 0 for none.
std::uint32_t run_from_reset(Device& device, const std::vector<Command>& program) {
  set_ring(device, 64);
  for (std::uint32_t i = 0; i < program.size(); ++i) give(device, i, program[i]);
  device.write_register(reg::kRingTail, static_cast<std::uint32_t>(program.size()));
  return device.wait_interrupt(kClockLimit) ? device.read_register(reg::kInterrupt) : 0;
}

/// 1400 commands in a ring of 1024: each place and number counts, up to the one that is bad.
TEST(Limits, PlacesAndNumbersOfCommandsWrap) {
  Rig rig(8);
  RtlDevice& device = *rig.device;
  rig.set_latency(1);
  set_ring(device, 1024);
  std::uint32_t number = 0;
  const auto go_to = [&](std::uint32_t tail, const Command& last) {
    // Anything else in the place of the last one would not be noticed as a FENCE is.
    while (number + 1 < tail) give(device, number++ % 1024, fence());
    give(device, number++ % 1024, last);
    device.write_register(reg::kRingTail, tail % 1024);
    ASSERT_TRUE(device.wait_interrupt(kClockLimit)) << tail;
    EXPECT_EQ(device.read_register(reg::kRingHead), tail % 1024 - (last.opcode != Opcode::kFinish));
  };
  for (const std::uint32_t tail : {33u, 129u, 300u, 600u, 1023u, 1024u, 1400u}) {
    SCOPED_TRACE(tail);
    go_to(tail, finish());
    EXPECT_EQ(device.read_register(reg::kInterrupt), 1u);
    device.write_register(reg::kInterrupt, 1);
  }
  Command bad = finish();
  bad.opcode = static_cast<Opcode>(99);
  go_to(1401, bad);
  EXPECT_EQ(device.read_register(reg::kError), 1400u << 16 | 1u);
}

/// A ring of two places holds one command at a time; one of 65,536 is the largest.
TEST(Limits, TheSmallestAndTheLargestRingWork) {
  for (const std::uint32_t places : {2u, 65536u}) {
    SCOPED_TRACE(places);
    Rig rig(4);
    RtlDevice& device = *rig.device;
    set_ring(device, places);
    for (std::uint32_t number = 0; number < 5; ++number) {
      give(device, number % places, finish());
      device.write_register(reg::kRingTail, (number + 1) % places);
      ASSERT_TRUE(device.wait_interrupt(kClockLimit)) << number;
      device.write_register(reg::kInterrupt, 1);
      EXPECT_EQ(device.read_register(reg::kRingHead), (number + 1) % places);
      EXPECT_EQ(device.read_register(reg::kError), 0u);
    }
  }
}

/// A bus error names its command by number, which goes through the queues of its engine.
TEST(Limits, BusErrorsNameCommandsFarUp) {
  Rig rig(8);
  RtlDevice& device = *rig.device;
  rig.set_latency(1);
  set_ring(device, 1024);
  for (std::uint32_t i = 0; i < 700; ++i) give(device, i, fence());
  give(device, 700, load_weights(kWeights, 8));
  give(device, 701, finish());
  device.ports().weights.fail_burst(0);
  device.write_register(reg::kRingTail, 702);
  ASSERT_TRUE(device.wait_interrupt(kClockLimit));
  EXPECT_EQ(device.read_register(reg::kError) >> 16, 700u);
}

/// Loads of a tile each, more than the bursts in flight and the queue hold: none is lost.
TEST(Limits, FullQueuesOfLoadsLoseNone) {
  for (const int n : {2, 8}) {
    for (const unsigned loads : {24u, 40u}) {
      SCOPED_TRACE(fmt::format("N = {}, {} loads", n, loads));
      const std::uint32_t words = static_cast<std::uint32_t>(n);
      std::vector<Command> program;
      for (unsigned i = 0; i < loads; ++i)
        program.push_back(load_weights(kWeights + i * words * words, words));
      for (unsigned i = 0; i < loads / 2; ++i) {
        program.push_back(load_activations(kActivations + i * words, 1));
      }
      // The second half of the tiles reads the first half's words again.
      program.push_back(matmul(1, loads / 2, 2, 1, flag::kAccumulate | flag::kRetain));
      program.push_back(store(kResults, 1, 2));
      program.push_back(finish());
      Rig rig(n);
      rig.set_latency(400);
      ReferenceDevice reference(rig.driver.geometry(), rig.device->memory_bytes());
      for (Device* each :
           {static_cast<Device*>(rig.device.get()), static_cast<Device*>(&reference)}) {
        put_operands(*each);
        ASSERT_EQ(run_from_reset(*each, program), 1u) << each->name();
      }
      EXPECT_EQ(results(*rig.device), results(reference));
    }
  }
}

/// The least WATCHDOG with which a program ends well.
std::uint32_t least_watchdog(const std::vector<Command>& program, unsigned latency,
                             unsigned bytes_per_cycle) {
  std::uint32_t too_few = 0, enough = 4096;
  while (enough - too_few > 1) {
    const std::uint32_t watchdog = (too_few + enough) / 2;
    Rig rig(8, 0, 1, bytes_per_cycle);
    rig.set_latency(latency);
    put_operands(*rig.device);
    rig.device->write_register(reg::kWatchdog, watchdog);
    (run_from_reset(*rig.device, program) == 1 ? enough : too_few) = watchdog;
  }
  return enough;
}

/// One product: `rows` of `tiles` tiles of K, `passes` tiles of N that read the same words.
std::vector<Command> product(std::uint32_t rows, std::uint32_t tiles, std::uint32_t passes) {
  Command activations = load_activations(kActivations, tiles);
  activations.rows = activations.stride = rows;
  return {load_weights(kWeights, 8 * tiles, passes), activations,
          matmul(rows, tiles, passes, 1, flag::kAccumulate | flag::kRetain),
          store(kResults, rows, passes), finish()};
}

/// Words on a slow bus, rows of a long product, answers of far memory: each keeps the watchdog
/// quiet, to the clock.
TEST(Limits, ProgressKeepsWatchdogFromFiring) {
  EXPECT_EQ(least_watchdog(product(64, 64, 3), 20, 0), 20u)
      << "only rows, between bursts of weights";
  EXPECT_EQ(least_watchdog(product(1, 64, 1), 20, 1), 20u) << "words of weights on a slow bus";
  EXPECT_EQ(least_watchdog(product(128, 4, 1), 20, 1), 20u)
      << "words of activations and results on a slow bus";
  EXPECT_EQ(least_watchdog(product(128, 1, 1), 300, 0), 296u) << "answers of far memory";
}

}  // namespace
}  // namespace gemm64::system_test
