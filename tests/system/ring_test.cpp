// SPDX-License-Identifier: Apache-2.0
// The driver in C keeps a ring of the RTL full while it works: wraps, doorbells in any cycle,
// interrupts that several programs share. Memory ends as on the reference device.

#include "host/cycles/tlm_device.hpp"
#include "host/device/reference_device.hpp"
#include "host/driver/device_hooks.hpp"
#include "host/driver/gemm64_driver.h"
#include "tests/commands.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint64_t kRing = 0x1000;
constexpr std::uint64_t kLimit = 100'000;

/// One small product: four loads and stores, and FINISH. Products write to places of their own.
std::vector<Command> product(std::mt19937& random, unsigned n, unsigned number) {
  const unsigned rows = draw(random, 1, 12);
  const std::uint64_t weights = 0x10000 + n * draw(random, 0, 64);
  const std::uint64_t activations = 0x20000 + n * draw(random, 0, 64);
  return tile_product(n, rows, weights, activations, 0x40000 + 0x1000 * number);
}

std::vector<std::uint8_t> encoded(const std::vector<Command>& program) {
  std::vector<std::uint8_t> bytes(program.size() * kCommandBytes);
  for (std::size_t i = 0; i < program.size(); ++i) {
    program[i].encode(bytes.data() + i * kCommandBytes);
  }
  return bytes;
}

std::vector<std::uint8_t> image(Device& device) {
  std::vector<std::uint8_t> bytes(0x80000);
  device.read_memory(kRing + 0x1000, bytes.data(), bytes.size());
  return bytes;
}

/// 30 products, as many in the ring as it holds; on `device`, and one by one on the reference.
template <class Busy>
void expect_all_count(Busy& device, std::mt19937& random) {
  const Geometry geometry = read_geometry(device);
  ReferenceDevice reference(geometry, device.memory_bytes());
  std::vector<std::uint8_t> bytes(0x20000);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  for (Device* each : {static_cast<Device*>(&device), static_cast<Device*>(&reference)}) {
    each->write_memory(0x10000, bytes.data(), bytes.size());
  }

  DeviceHooks hooks(device), reference_hooks(reference);
  gemm64_driver core, reference_core;
  ASSERT_EQ(gemm64_open(&core, &hooks.hooks()), GEMM64_OK);
  ASSERT_EQ(gemm64_open(&reference_core, &reference_hooks.hooks()), GEMM64_OK);
  const std::uint32_t places = 8u << draw(random, 0, 2);
  ASSERT_EQ(gemm64_set_ring(&core, kRing, places), GEMM64_OK);
  ASSERT_EQ(gemm64_set_ring(&reference_core, kRing, places), GEMM64_OK);

  std::uint32_t ticket = 0, oldest = 0;
  bool ran_ahead = false;
  for (unsigned number = 0; number < 30; ++number) {
    const std::vector<std::uint8_t> commands = encoded(product(random, geometry.n, number));
    ASSERT_EQ(gemm64_submit(&reference_core, commands.data(), 5, &ticket), GEMM64_OK);
    ASSERT_EQ(gemm64_wait_for(&reference_core, ticket, 1), GEMM64_OK);
    gemm64_result result;
    while ((result = gemm64_submit(&core, commands.data(), 5, &ticket)) == GEMM64_RING_FULL) {
      oldest += 5;
      ASSERT_EQ(gemm64_wait_for(&core, oldest, kLimit), GEMM64_OK);
    }
    ASSERT_EQ(result, GEMM64_OK);
    std::uint32_t dispatched = 0;
    ASSERT_EQ(gemm64_dispatched(&core, &dispatched), GEMM64_OK);
    ran_ahead |= ticket - dispatched > 5;
    if (draw(random, 0, 2) == 0) device.run(draw(random, 0, 400));
  }
  ASSERT_EQ(gemm64_wait_for(&core, ticket, kLimit), GEMM64_OK);
  EXPECT_EQ(ticket, 150u);
  EXPECT_TRUE(ran_ahead || places == 8) << "no two programs were in the ring together";
  EXPECT_EQ(image(device), image(reference));
  EXPECT_FALSE(device.interrupt());
}

TEST(Ring, ProgramsAppendedWhileOthersRunAllCount) {
  for_seeds(900, 40, [](std::mt19937& random) {
    const int n = 2 << draw(random, 0, 2);
    Rig rig(n, draw(random, 0, 1) == 0 ? 0 : 0.2, static_cast<std::uint32_t>(random()));
    rig.device->set_latency(draw(random, 1, 80));
    expect_all_count(*rig.device, random);
  });
}

TEST(Ring, TheTlmDeviceTakesProgramsWhileOthersRun) {
  for_seeds(940, 40, [](std::mt19937& random) {
    Geometry geometry;
    geometry.n = 2u << draw(random, 0, 2);
    geometry.stage_rows = std::min(geometry.stage_rows, geometry.n);
    TlmDevice device(geometry, MemoryTiming{draw(random, 1, 80)}, std::uint64_t{1} << 20);
    expect_all_count(device, random);
  });
}

// By polling, without the interrupt line.
TEST(Ring, IsPolledWithATimeOut) {
  Rig rig(8);
  DeviceHooks hooks(*rig.device);
  gemm64_hooks polling = hooks.hooks();
  polling.wait = nullptr;
  gemm64_driver core;
  ASSERT_EQ(gemm64_open(&core, &polling), GEMM64_OK);
  ASSERT_EQ(gemm64_set_ring(&core, kRing, 64), GEMM64_OK);
  std::mt19937 random(1);
  const std::vector<std::uint8_t> commands = encoded(product(random, 8, 0));
  ASSERT_EQ(gemm64_submit(&core, commands.data(), 5, nullptr), GEMM64_OK);
  EXPECT_EQ(gemm64_wait(&core, 3), GEMM64_TIMEOUT);
  EXPECT_EQ(gemm64_wait(&core, 10'000), GEMM64_OK);
  EXPECT_EQ(gemm64_wait(&core, 10), GEMM64_TIMEOUT);
}

TEST(Ring, AnErrorIsReportedAndReset) {
  Rig rig(4);
  DeviceHooks hooks(*rig.device);
  gemm64_driver core;
  ASSERT_EQ(gemm64_open(&core, &hooks.hooks()), GEMM64_OK);
  ASSERT_EQ(gemm64_set_ring(&core, kRing, 16), GEMM64_OK);
  std::mt19937 random(1);
  for (unsigned round = 0; round < 5; ++round) {
    rig.device->ports().weights.fail_burst(0);
    const std::vector<std::uint8_t> commands = encoded(product(random, 4, round));
    std::uint32_t ticket = 0;
    ASSERT_EQ(gemm64_submit(&core, commands.data(), 5, &ticket), GEMM64_OK);
    ASSERT_EQ(gemm64_wait_for(&core, ticket, kLimit), GEMM64_FAILED);
    EXPECT_EQ(core.error.code, GEMM64_ERROR_BUS_SLAVE);
    EXPECT_EQ(core.error.engine, GEMM64_ENGINE_WEIGHTS);
    EXPECT_EQ(core.error.command, 0u);
    ASSERT_EQ(gemm64_reset(&core), GEMM64_OK);
    ASSERT_EQ(gemm64_submit(&core, commands.data(), 5, &ticket), GEMM64_OK);
    ASSERT_EQ(gemm64_wait_for(&core, ticket, kLimit), GEMM64_OK);
    ASSERT_EQ(gemm64_reset(&core), GEMM64_OK);
  }
}

}  // namespace
}  // namespace gemm64::system_test
