// SPDX-License-Identifier: Apache-2.0
// What the tlm device does with time; tests/system/tlm_test.cpp compares it with the RTL.
#include "host/cycles/tlm_device.hpp"

#include "host/cycles/cycle_model.hpp"
#include "host/device/snapshot.hpp"
#include "tests/commands.hpp"
#include "tests/system/system.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kResults = 0x3000;

Geometry geometry() {
  Geometry geometry;
  geometry.n = 8;
  return geometry;
}

/// One tile of ones by ones: each of its 8 x 8 sums is 8.
std::vector<Command> product() { return tile_product(8, 8, 0x1000, 0x2000, kResults); }

/// Writes a program to a ring, from a place on; returns the place after it.
std::uint32_t put_program(Device& device, std::uint32_t place,
                          const std::vector<Command>& program) {
  for (const Command& command : program) {
    put(device, std::uint64_t{place++} * kCommandBytes, command);
  }
  return place;
}

/// Writes the operands of product().
void put_ones(Device& device) {
  const std::vector<std::uint8_t> ones(64, 1);
  device.write_memory(0x1000, ones.data(), 64);
  device.write_memory(0x2000, ones.data(), 64);
}

class TlmDeviceTest : public testing::Test {
 protected:
  TlmDeviceTest() { put_ones(device); }
  void put(std::uint32_t place, const std::vector<Command>& program) {
    put_program(device, place, program);
  }
  void ring(std::uint32_t tail) { device.write_register(reg::kRingTail, tail); }
  std::uint32_t status() { return device.read_register(reg::kStatus); }
  int result() {
    std::int32_t sum = 0;
    device.read_memory(kResults, &sum, sizeof sum);
    return sum;
  }

  TlmDevice device{geometry(), MemoryTiming{}, std::uint64_t{1} << 20};
  const std::uint64_t total =
      predict_counters(product(), geometry(), MemoryTiming{})[counter::kTotalClocks];
};

TEST_F(TlmDeviceTest, ResultsAppearWhenDue) {
  put(0, product());
  ring(5);
  const std::uint64_t started = device.cycles();
  // The work began while the doorbell was still being written.
  EXPECT_FALSE(device.wait_interrupt(total - 2));
  EXPECT_EQ(device.cycles(), started + total - 2);
  EXPECT_EQ(result(), 0);
  EXPECT_EQ(device.read_register(reg::kInterrupt), 1u) << "the access itself takes cycles";
  EXPECT_EQ(result(), 8);
}

TEST_F(TlmDeviceTest, ItIsBusyUntilThen) {
  put(0, product());
  EXPECT_EQ(status(), 0u);
  ring(5);
  EXPECT_EQ(status(), field::kStatusBusy.mask());
  EXPECT_EQ(device.read_register(reg::kRingHead), 0u);
  EXPECT_TRUE(device.wait_interrupt(total));
  EXPECT_EQ(status(), 0u);
  EXPECT_EQ(device.read_register(reg::kRingHead), 5u);
}

TEST_F(TlmDeviceTest, ProgramsInTheRingFollow) {
  put(0, product());
  put(5, product());
  ring(5);
  ring(10);
  const std::uint64_t started = device.cycles();
  EXPECT_TRUE(device.wait_interrupt(10 * total));
  device.write_register(reg::kInterrupt, 1);
  EXPECT_EQ(device.read_register(reg::kRingHead), 5u);
  EXPECT_TRUE(device.wait_interrupt(10 * total));
  // The second one's commands were fetched while the first one ran.
  const std::uint64_t both = device.read_register(kCounters[counter::kTotalClocks].offset);
  EXPECT_LT(both, 2 * total);
  EXPECT_GT(both, 2 * total - 150);
  EXPECT_NEAR(static_cast<double>(device.cycles() - started), static_cast<double>(both), 10);
}

TEST_F(TlmDeviceTest, AProgramMayComeCommandByCommand) {
  put(0, product());
  for (std::uint32_t tail = 1; tail <= 5; ++tail) ring(tail);
  EXPECT_TRUE(device.wait_interrupt(2 * total));
  EXPECT_EQ(result(), 8);
  EXPECT_EQ(device.read_register(kCounters[counter::kTotalClocks].offset), total);
}

TEST_F(TlmDeviceTest, ASoftResetGivesUpTheWork) {
  put(0, product());
  ring(5);
  device.write_register(reg::kControl, field::kControlReset.mask());
  EXPECT_EQ(status(), field::kStatusResetting.mask());
  EXPECT_THROW(ring(5), DeviceError);
  EXPECT_FALSE(device.wait_interrupt(10 * total));
  EXPECT_EQ(status(), 0u);
  EXPECT_EQ(result(), 0);
  ring(5);
  EXPECT_TRUE(device.wait_interrupt(2 * total));
  EXPECT_EQ(result(), 8);
}

TEST_F(TlmDeviceTest, TheWatchdogComesInItsTime) {
  device.write_register(reg::kWatchdog, 5000);
  std::vector<Command> program = product();
  program.erase(program.begin());  // no weights
  put(0, program);
  ring(4);
  EXPECT_FALSE(device.wait_interrupt(5000));
  EXPECT_TRUE(device.wait_interrupt(5000));
  EXPECT_EQ(device.read_register(reg::kError),
            static_cast<std::uint32_t>(ErrorCode::kWatchdog) | 3u << 16);
}

TEST_F(TlmDeviceTest, CountersGrowWhileItWorks) {
  put(0, product());
  ring(5);
  const std::uint32_t offset = kCounters[counter::kTotalClocks].offset;
  std::uint32_t last = device.read_register(offset);
  for (int i = 0; i < 5; ++i) {
    device.run(total / 6);
    const std::uint32_t now = device.read_register(offset);
    EXPECT_GT(now, last);
    EXPECT_NEAR(now, static_cast<double>(total * (static_cast<std::uint64_t>(i) + 1)) / 6, 20);
    last = now;
  }
  EXPECT_LT(last, total);
}

TEST_F(TlmDeviceTest, CountsCommandsWithoutFinish) {
  put(0, {load_weights(0x1000, 24), load_activations(0x2000, 8), matmul(8, 2)});
  ring(3);
  device.run(10'000);
  const auto counted = [&](std::size_t index) {
    return device.read_register(kCounters[index].offset);
  };
  EXPECT_EQ(counted(counter::kCommandsDispatch), 3U);
  EXPECT_EQ(counted(counter::kWeightsTransfer), 24U);
  EXPECT_EQ(counted(counter::kBytesWeights), 24U * 8);
  EXPECT_EQ(counted(counter::kActivationsTransfer), 8U);
  EXPECT_EQ(counted(counter::kBytesActivations), 8U * 8);
  EXPECT_EQ(counted(counter::kBytesParameters), 0U);
  EXPECT_EQ(counted(counter::kComputeCompute), 16U);
  EXPECT_EQ(counted(counter::kBytesCommands), 3U * kCommandBytes);
}

/// Cycles from the end of a product until the two small ones after it have ended, of which the
/// second one's doorbell comes while the first runs.
std::uint64_t two_after(const GemmShape& shape) {
  Geometry sizes = geometry();
  TlmDevice device(sizes, MemoryTiming{}, std::uint64_t{1} << 24);
  const Plan plan = make_plan(shape, Accumulate::kDevice, sizes);
  std::vector<Command> program = make_program(plan, make_layout(plan, 0x10000));
  put_ones(device);
  const auto first = static_cast<std::uint32_t>(program.size());
  for (int i = 0; i < 2; ++i) {
    const std::vector<Command> more = tile_product(8, 8, 0x1000, 0x2000, kResults + 0x1000U * i);
    program.insert(program.end(), more.begin(), more.end());
  }
  put_program(device, 0, program);
  const auto end = [&device](std::uint64_t limit) {
    EXPECT_TRUE(device.wait_interrupt(limit));
    const std::uint64_t cycle = device.cycles();
    device.write_register(reg::kInterrupt, 1);
    return cycle;
  };
  device.write_register(reg::kRingTail, first);
  device.write_register(reg::kRingTail, first + 5);
  const std::uint64_t before = end(std::uint64_t{1} << 40);
  device.write_register(reg::kRingTail, first + 10);
  end(10'000);
  const std::uint64_t after = end(10'000);
  EXPECT_EQ(device.read_register(reg::kRingHead), first + 10);
  for (int i = 0; i < 2; ++i) {
    std::int32_t sum = 0;
    device.read_memory(kResults + 0x1000U * i, &sum, sizeof sum);
    EXPECT_EQ(sum, 8);
  }
  return after - before;
}

TEST(TlmDevicePast, OfManyTilesIsForgotten) {
  const auto few = static_cast<double>(two_after({8, 8, 8}));
  EXPECT_NEAR(static_cast<double>(two_after({8, 8 * 256, 8 * 256})), few, 0.2 * few);
}

TEST(TlmKind, SaysWhatItIs) {
  const DeviceKind kind = tlm_kind();
  EXPECT_EQ(kind.name, "tlm");
  EXPECT_FALSE(kind.summary.empty());
  for (const std::uint32_t array : kind.arrays) {
    DeviceOptions options;
    options.array = array;
    EXPECT_EQ(read_geometry(*kind.make(options)).n, array);
  }
}

// The counters go on from program to program, and so do snapshots of them.
TEST_F(TlmDeviceTest, SnapshotsHoldWhatIsPredicted) {
  std::vector<Command> program = product();
  program.insert(program.begin() + 4, snapshot(0x8000));
  const Prediction expected = predict(program, geometry(), MemoryTiming{});
  ASSERT_EQ(expected.snapshots.size(), 1u);
  put(0, program);
  Counters before{};
  for (std::uint32_t run = 0; run < 2; ++run) {
    ring(6 * (run + 1));
    ASSERT_TRUE(device.wait_interrupt(100'000));
    device.write_register(reg::kInterrupt, field::kInterruptDone.mask());
    std::uint8_t bytes[kSnapshotBytes];
    device.read_memory(0x8000, bytes, sizeof bytes);
    EXPECT_EQ(between(before, decode_snapshot(bytes)), expected.snapshots[0].counters);
    for (std::size_t i = 0; i < before.size(); ++i) before[i] += expected.counters[i];
    put(6, program);
  }
}

/// What a device has counted when a program ends.
Counters counted_by(TlmDevice& device, const std::vector<Command>& program) {
  device.write_register(reg::kRingTail, put_program(device, 0, program));
  EXPECT_TRUE(device.wait_interrupt(1'000'000));
  Counters counted{};
  for (std::size_t i = 0; i < kCounters.size(); ++i) {
    counted[i] = device.read_register(kCounters[i].offset);
  }
  return counted;
}

/// What a device has counted when a program of two snapshots ends, and in these.
std::vector<Counters> counted_with(const MemoryTiming& memory) {
  TlmDevice device(geometry(), memory, std::uint64_t{1} << 20);
  std::vector<Command> program = product();
  program.insert(program.begin() + 4, snapshot(0x8000));
  const Counters counted = counted_by(device, program);
  std::uint8_t bytes[kSnapshotBytes];
  device.read_memory(0x8000, bytes, sizeof bytes);
  return {counted, decode_snapshot(bytes)};
}

// Of 8 bytes a cycle stalls leave 2.5, whose cycles are 0.4 of those at 2 and 0.6 of those at 3:
// times a byte are mixed. What is carried is one byte at least, and all if there are no stalls.
TEST(TlmStalls, CostWhatTheBytesThatPassCost) {
  const auto with = [](double stalls, std::uint32_t bytes,
                       MemorySharing sharing = MemorySharing::kIndependent) {
    MemoryTiming memory;
    memory.stall_probability = stalls;
    memory.bytes_per_cycle = bytes;
    memory.sharing = sharing;
    return counted_with(memory);
  };
  const std::vector<Counters> slow = with(0, 2), fast = with(0, 3);
  EXPECT_GT(slow[0][counter::kTotalClocks], fast[0][counter::kTotalClocks] + 20);
  for (const auto& mixed : {with(0.6875, 0), with(0.6875, 99), with(0.375, 4)}) {
    for (std::size_t i = 0; i < mixed.size(); ++i) {
      for (std::size_t c = 0; c < kCounters.size(); ++c) {
        const double expected =
            0.4 * static_cast<double>(slow[i][c]) + 0.6 * static_cast<double>(fast[i][c]);
        EXPECT_NEAR(static_cast<double>(mixed[i][c]), expected, 4) << i << " " << c;
      }
      EXPECT_EQ(mixed[i][counter::kBytesWeights], fast[i][counter::kBytesWeights]);
    }
  }
  EXPECT_EQ(with(0.999, 0), with(0, 1));
  EXPECT_EQ(with(0.5, 0), with(0, 4));
  EXPECT_EQ(with(0.5, 4, MemorySharing::kShared), with(0, 2, MemorySharing::kShared));
  EXPECT_EQ(with(0.5, 0, MemorySharing::kDram), with(0, 0, MemorySharing::kDram));
}

// Of a long product, in which the beats of weights and activations are the most: they are no matter
// of rounding.
TEST(TlmStalls, LeaveBeatsAsTheyAre) {
  LoadActivationsCommand load = load_activations(0x20000, 100);
  load.rows = load.stride = 8;
  const std::vector<Command> program{load_weights(0x10000, 800), load, matmul(8, 100),
                                     store(kResults, 8), finish()};
  for (int percent = 1; percent < 75; ++percent) {
    SCOPED_TRACE(percent);
    MemoryTiming memory;
    memory.stall_probability = percent / 100.0;
    TlmDevice device(geometry(), memory, std::uint64_t{1} << 20);
    const Counters counted = counted_by(device, program);
    EXPECT_EQ(counted[counter::kWeightsTransfer], 800U);
    EXPECT_EQ(counted[counter::kActivationsTransfer], 800U);
    EXPECT_EQ(counted[counter::kComputeCompute], 800U);
    EXPECT_EQ(counted[counter::kCommandsDispatch], 5U);
    system_test::expect_causes_add_up(counted);
  }
}

}  // namespace
}  // namespace gemm64
