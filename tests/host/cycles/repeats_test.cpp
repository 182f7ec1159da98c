// SPDX-License-Identifier: Apache-2.0
// Predictions that skip work that repeats count what those that follow it count: programs of
// several layers, long enough to repeat, each on every kind of memory.
#include "host/cycles/repeats.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "host/cycles/repeated.hpp"
#include "host/error.hpp"
#include "host/float_bits.hpp"
#include "tests/random.hpp"
#include "tests/system/convolution_programs.hpp"

namespace gemm64 {
namespace {

Geometry random_geometry(std::mt19937& random) {
  Geometry geometry;
  geometry.n = 4u << draw(random, 0, 2);
  if (draw(random, 0, 2) == 0) {
    geometry.scratchpad_words = draw(random, 0, 1) == 0 ? 79 : 600;
    geometry.accumulator_rows = 16;
  }
  if (draw(random, 0, 3) == 0) geometry.commands = 4;
  return geometry;
}

std::vector<MemoryTiming> memories(std::mt19937& random, std::uint32_t array) {
  std::vector<MemoryTiming> memories;
  for (const char* word : {"independent", "shared", "exclusive", "dram:lpddr4"}) {
    MemoryTiming memory;
    set_memory(memory, word);
    memory.latency = draw(random, 1, 150);
    if (memory.sharing != MemorySharing::kDram && draw(random, 0, 2) == 0) {
      memory.bytes_per_cycle = draw(random, 1, 2 * array);
    }
    memories.push_back(memory);
  }
  return memories;
}

/// Products and convolutions of some 100 blocks each, whose results have 8 bits, sums with a second
/// operand, or 32 bits.
JobProgram random_layers(std::mt19937& random, const Geometry& geometry) {
  std::vector<Job> jobs;
  const unsigned n = geometry.n;
  while (jobs.empty() || (jobs.size() < 4 && draw(random, 0, 2) != 0)) {
    Output output{ResultFormat(ResultCode::kInt8), 1, -128, 127, {}};
    if (draw(random, 0, 3) == 0) {
      output.vector = StoreCommand{};
      output.vector->add = 1;
      output.vector->broadcast = draw(random, 0, 1);
      output.vector->table = draw(random, 0, 1);
      output.vector->result_scale = output.vector->operand_scale = bits_of(1.0F);
      output.vector->function_min = 0x80;
      output.vector->function_max = 0x7f;
    }
    try {
      if (draw(random, 0, 2) == 0) {
        const GemmShape shape{draw(random, 1, 200), draw(random, 1, 12 * n),
                              draw(random, 1, 120 * n)};
        jobs.push_back(draw(random, 0, 3) == 0
                           ? make_job("sums", shape, Accumulate::kDevice, geometry)
                           : make_job("product", shape, Accumulate::kDevice, geometry, output));
        continue;
      }
      const Convolution c = system_test::random_convolution(random, 24 * n, 40, 40'000 * n);
      std::optional<Job> job;
      if (draw(random, 0, 5) == 0)
        job = make_lanes_job("lanes", c, geometry, output, LaneSum::kProducts);
      jobs.push_back(job ? *job : make_job("window", c, geometry, output));
    } catch (const UsageError&) {  // too much for this scratchpad
    }
  }
  return make_job_program(jobs, geometry);
}

void expect_equal(const std::vector<PredictedSnapshot>& a,
                  const std::vector<PredictedSnapshot>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].command, b[i].command);
    EXPECT_EQ(a[i].counters, b[i].counters) << "snapshot " << i;
  }
}

/// Every count is the same whether work that repeats is skipped or not.
void expect_same(const std::vector<Command>& program, const std::vector<std::size_t>& matmuls,
                 const Geometry& geometry, const MemoryTiming& memory) {
  const Prediction skipped = predict(program, geometry, memory, matmuls, {}, Repeated::kSkip);
  const Prediction followed = predict(program, geometry, memory, matmuls, {}, Repeated::kFollow);
  EXPECT_EQ(skipped.counters, followed.counters);
  EXPECT_EQ(skipped.starts, followed.starts);
  expect_equal(skipped.snapshots, followed.snapshots);
}

TEST(Repeats, SkippingChangesNoCounter) {
  const auto body = [](std::mt19937& random) {
    const Geometry geometry = random_geometry(random);
    const JobProgram list = random_layers(random, geometry);
    for (const MemoryTiming& memory : memories(random, geometry.n)) {
      SCOPED_TRACE(testing::Message()
                   << "array " << geometry.n << ", memory " << memory.word() << ", latency "
                   << memory.latency << ", bytes " << memory.bytes_per_cycle);
      expect_same(list.program, first_matmuls(list), geometry, memory);
      expect_same(list.program, {}, geometry, memory);
    }
  };
  for_seeds(0, 150, body);
  for_seeds(2146, 1, body);  // spans that a ledger has forgotten ahead of the state
}

TEST(Repeats, SkippingChangesNoCounterOfLargeLayers) {
  const Geometry geometry = [] {
    Geometry geometry;
    geometry.n = 4;
    return geometry;
  }();
  std::mt19937 random(1);
  Convolution c;
  c.images = 4;
  c.channels = 48;
  c.out_channels = 256;
  c.height = c.width = c.out_height = c.out_width = 13;
  c.kernel_height = c.kernel_width = 3;
  c.pad_top = c.pad_left = 1;
  const Output int8{ResultFormat(ResultCode::kInt8), 1, -128, 127, {}};
  const JobProgram list =
      make_job_program({make_job("window", c, geometry, int8),
                        make_job("product", {64, 256, 4096}, Accumulate::kDevice, geometry, int8)},
                       geometry);
  for (const MemoryTiming& memory : memories(random, geometry.n)) {
    SCOPED_TRACE(memory.word());
    expect_same(list.program, first_matmuls(list), geometry, memory);
  }
}

}  // namespace
}  // namespace gemm64
