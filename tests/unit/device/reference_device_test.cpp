// SPDX-License-Identifier: Apache-2.0
// Registers, errors and unbalanced programs of the reference device are tested with the RTL's
// own, in tests/system; here is what it computes.
#include "host/device/reference_device.hpp"

#include "host/driver/driver.hpp"
#include "host/numerics/reference.hpp"
#include "host/tiling/packing.hpp"
#include "tests/commands.hpp"
#include "tests/random_matrix.hpp"
#include "tests/test.hpp"
#include "tests/unit/tiling/plans.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{256} << 20;

TEST(ReferenceDevice, ReturnsProductOnEveryGeometry) {
  std::mt19937 random(40);
  for_plans(41, 5, 300'000,
            [&](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
              SCOPED_TRACE(describe(shape, geometry));
              ReferenceDevice device(geometry, kMemoryBytes);
              Driver driver(device);
              const MatrixI8 a = random_matrix(random, shape.m, shape.k);
              const MatrixI8 w = random_matrix(random, shape.n, shape.k);
              const Job job = make_job("product", shape, accumulate, geometry);
              const GemmResult result = driver.run(job, pack_weights(job, w), a);
              EXPECT_EQ(result.sums, reference_gemm(a, w));
              const Traffic traffic = predict_traffic(job.plan);
              EXPECT_EQ(result.counters[counter::kBytesWeights], traffic.weights);
              EXPECT_EQ(result.counters[counter::kBytesActivations], traffic.activations);
              EXPECT_EQ(result.counters[counter::kBytesCommands], traffic.commands);
              EXPECT_EQ(result.counters[counter::kBytesResults], traffic.results);
              for (std::size_t i = 0; i < counter::kBytesWeights; ++i)
                EXPECT_EQ(result.counters[i], 0u);
            });
}

// One tile by hand: N = 2, weights word c holds column c, activation word r holds row r.
TEST(ReferenceDevice, ReadsCommandsOfTheTable) {
  Geometry geometry;
  geometry.n = 2;
  geometry.stage_rows = 2;
  ReferenceDevice device(geometry, 1 << 16);
  const std::int8_t weights[] = {1, 2, 3, 4};       // columns (1, 2) and (3, 4)
  const std::int8_t activations[] = {5, 6, -7, 8};  // rows (5, 6) and (-7, 8)
  device.write_memory(0x1000, weights, sizeof weights);
  device.write_memory(0x2000, activations, sizeof activations);
  Driver(device).run_program(0, tile_product(2, 2, 0x1000, 0x2000, 0x3000), 1000);
  std::int32_t results[4];
  device.read_memory(0x3000, results, sizeof results);
  EXPECT_EQ(results[0], 5 * 1 + 6 * 2);
  EXPECT_EQ(results[1], 5 * 3 + 6 * 4);
  EXPECT_EQ(results[2], -7 * 1 + 8 * 2);
  EXPECT_EQ(results[3], -7 * 3 + 8 * 4);
}

std::vector<float> random_scales(std::mt19937& random, std::uint64_t columns) {
  std::vector<float> scales(columns);
  for (float& scale : scales) {
    scale = static_cast<float>(
        std::ldexp(1 + random() % 1000 / 1000.0, -1 - static_cast<int>(random() % 16)));
  }
  return scales;
}

TEST(ReferenceDevice, Returns8BitResults) {
  std::mt19937 random(42);
  const std::vector<Output> outputs{{ResultFormat(ResultCode::kInt8), -7, -128, 127},
                                    {ResultFormat(ResultCode::kUint8), 130, 130, 255}};
  for_plans(43, 5, 100'000,
            [&](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
              if (accumulate == Accumulate::kHost) return;
              SCOPED_TRACE(describe(shape, geometry));
              ReferenceDevice device(geometry, kMemoryBytes);
              Driver driver(device);
              const MatrixI8 a = random_matrix(random, shape.m, shape.k);
              const MatrixI8 w = random_matrix(random, shape.n, shape.k);
              std::vector<std::int32_t> bias(shape.n);
              for (std::int32_t& value : bias)
                value = static_cast<std::int32_t>(random() % 2000) - 1000;
              const std::vector<float> scales = random_scales(random, shape.n);
              const Output& output = outputs[random() % outputs.size()];
              const Job job = make_job("product", shape, accumulate, geometry, output);
              const std::vector<std::uint8_t> weights = pack_weights(job, w);
              const std::vector<std::uint8_t> parameters = pack_parameters(job, bias, scales);
              const GemmResult result = driver.run(job, JobOperands{weights, a, &parameters});
              EXPECT_EQ(result.sums, reference_requantize(reference_gemm(a, w), bias, scales,
                                                          output.zero, output.low, output.high));
              const Traffic traffic = predict_traffic(job.plan);
              EXPECT_EQ(result.counters[counter::kBytesParameters], traffic.parameters);
              EXPECT_EQ(result.counters[counter::kBytesResults], traffic.results);
              EXPECT_EQ(result.counters[counter::kBytesCommands], traffic.commands);
            });
}

TEST(ReferenceDevice, SumsWrapModulo32Bits) {
  ReferenceDevice device;
  Driver driver(device);
  const GemmShape shape{1, 131073, 1};
  const MatrixI8 operand = MatrixI8::Constant(1, 131073, -128);
  for (const Accumulate accumulate : {Accumulate::kDevice, Accumulate::kHost}) {
    const Job job = make_job("sum", shape, accumulate, driver.geometry());
    EXPECT_EQ(driver.run(job, pack_weights(job, operand), operand).sums(0, 0), INT32_MIN + 16384);
  }
}

TEST(ReferenceDevice, HasNoNotionOfTime) {
  ReferenceDevice device;
  EXPECT_EQ(device.name(), "reference");
  EXPECT_FALSE(device.wait_interrupt(1'000'000'000'000));
  EXPECT_EQ(device.cycles(), 0u);
}

TEST(ReferenceDevice, MemoryIsZeroAndBounded) {
  ReferenceDevice device(Geometry{}, 5000);
  EXPECT_EQ(device.memory_bytes(), 5000u);
  std::uint8_t byte = 1;
  device.read_memory(4999, &byte, 1);
  EXPECT_EQ(byte, 0);
  byte = 77;
  device.write_memory(4999, &byte, 1);
  byte = 0;
  device.read_memory(4999, &byte, 1);
  EXPECT_EQ(byte, 77);
  EXPECT_NO_THROW(device.write_memory(5000, &byte, 0));
  EXPECT_THROW(device.read_memory(5000, &byte, 1), std::out_of_range);
  EXPECT_THROW(device.write_memory(4999, &byte, 2), std::out_of_range);
  EXPECT_THROW(device.read_memory(~std::uint64_t{0}, &byte, 2), std::out_of_range);
}

// Without a watchdog a program that does not balance waits, and may be completed later.
TEST(ReferenceDevice, WaitsForCommandsThatComeLater) {
  Geometry geometry;
  geometry.n = 2;
  geometry.stage_rows = 2;
  ReferenceDevice device(geometry, 1 << 16);
  device.write_register(reg::kWatchdog, 0);
  const auto add = [&device](std::uint32_t place, Opcode opcode, std::uint32_t count) {
    Command command;
    command.opcode = opcode;
    command.rows = 1;
    command.count = count;
    command.passes = command.blocks = command.stride = 1;
    command.set_address(0x1000);
    put(device, std::uint64_t{place} * kCommandBytes, command);
    device.write_register(reg::kRingTail, place + 1);
  };
  add(0, Opcode::kMatmul, 1);
  add(1, Opcode::kLoadActivations, 1);
  add(2, Opcode::kStore, 1);
  add(3, Opcode::kLoadWeights, 1);  // half a tile
  EXPECT_FALSE(device.wait_interrupt(1000));
  EXPECT_EQ(field::kStatusBusy.get(device.read_register(reg::kStatus)), 1u);
  add(4, Opcode::kLoadWeights, 1);
  EXPECT_EQ(device.read_register(reg::kStatus), 0u);
  EXPECT_FALSE(device.wait_interrupt(1000));  // all done, and no FINISH
  add(5, Opcode::kFinish, 0);
  EXPECT_TRUE(device.wait_interrupt(1000));
}

TEST(ReferenceDevice, RejectsSizesUnknownToTheRtl) {
  const auto with = [](auto change) {
    Geometry geometry;
    change(geometry);
    return geometry;
  };
  EXPECT_THROW(ReferenceDevice(with([](Geometry& g) { g.n = 0; })), UsageError);
  EXPECT_THROW(ReferenceDevice(with([](Geometry& g) { g.n = 1; })), UsageError);
  EXPECT_THROW(ReferenceDevice(with([](Geometry& g) { g.n = 48; })), UsageError);
  EXPECT_THROW(ReferenceDevice(with([](Geometry& g) { g.n = 128; })), UsageError);
  EXPECT_THROW(ReferenceDevice(with([](Geometry& g) { g.stage_rows = 0; })), UsageError);
  EXPECT_THROW(ReferenceDevice(with([](Geometry& g) { g.weight_tiles = 0; })), UsageError);
  EXPECT_THROW(ReferenceDevice(with([](Geometry& g) { g.accumulator_rows = 0; })), UsageError);
  EXPECT_THROW(ReferenceDevice(with([](Geometry& g) { g.scratchpad_words = 63; })), UsageError);
  EXPECT_THROW(ReferenceDevice(with([](Geometry& g) { g.address_width = 64; })), UsageError);
  EXPECT_THROW(ReferenceDevice(with([](Geometry& g) { g.parameter_sets = 1; })), UsageError);
  EXPECT_THROW(ReferenceDevice(Geometry{}, 0), UsageError);
}

}  // namespace
}  // namespace gemm64
