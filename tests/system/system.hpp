// SPDX-License-Identifier: Apache-2.0
// What the tests of the whole accelerator share: the RTL with the driver, seeded operands, and
// the one check that matters: values as the oracle's, counters as the model's.
#pragma once

#include "host/cycles/cycle_model.hpp"
#include "host/device/registers.hpp"
#include "host/driver/driver.hpp"
#include "host/numerics/matrix.hpp"
#include "host/numerics/reference.hpp"
#include "host/tiling/job.hpp"
#include "host/tiling/packing.hpp"
#include "sim/models/rtl_device.hpp"
#include "tests/random_matrix.hpp"
#include "tests/test.hpp"

namespace gemm64::system_test {

/// An accelerator of N = `n` under test, with its driver.
class Rig {
 public:
  explicit Rig(int n, double stall_probability = 0, std::uint32_t seed = 1,
               unsigned bytes_per_cycle = 0)
      : Rig(options(n, stall_probability, seed, bytes_per_cycle)) {}
  /// Without timeouts the driver leaves the watchdog as a test sets it.
  explicit Rig(const RtlOptions& options, const Timeouts& timeouts = Timeouts{0})
      : device(make_rtl_device(options)), driver(*device, timeouts), memory(options.memory) {}

  static RtlOptions options(int n, double stall_probability = 0, std::uint32_t seed = 1,
                            unsigned bytes_per_cycle = 0) {
    RtlOptions options;
    options.n = n;
    options.memory_bytes = std::uint64_t{64} << 20;
    options.memory.stall_probability = stall_probability;
    options.seed = seed;
    options.memory.bytes_per_cycle = bytes_per_cycle;
    return options;
  }

  void set_latency(unsigned cycles) {
    device->set_latency(cycles);
    memory.latency = cycles;
  }

  std::unique_ptr<RtlDevice> device;
  Driver driver;
  MemoryTiming memory;
};

/// One product: its shape and how it is run.
struct Workload {
  GemmShape shape;
  Accumulate accumulate = Accumulate::kDevice;
  unsigned latency = 100;
  Output output = {};
};

inline std::string describe(const Workload& work) {
  return fmt::format("{}x{}x{}, sums added on the {}, latency {}, results {}", work.shape.m,
                     work.shape.k, work.shape.n,
                     work.accumulate == Accumulate::kDevice ? "device" : "host", work.latency,
                     work.output.format.name());
}

/// A and W of one product, and what makes results of 8 bits of its columns.
struct Operands {
  MatrixI8 a, w;
  std::vector<std::int32_t> bias = {};
  std::vector<float> scales = {};
};

/// Scales that bring most sums of `k` products into 8 bits, and some far out of them.
inline Operands random_operands(std::mt19937& random, const GemmShape& shape) {
  Operands operands{random_matrix(random, shape.m, shape.k),
                    random_matrix(random, shape.n, shape.k), std::vector<std::int32_t>(shape.n),
                    std::vector<float>(shape.n)};
  const double usual = 60 / (5000 * std::sqrt(static_cast<double>(shape.k)));
  for (std::int32_t& bias : operands.bias) {
    bias = static_cast<std::int32_t>(random()) >> draw(random, 14, 31);
  }
  for (float& scale : operands.scales) {
    scale = static_cast<float>(usual * draw(random, 1, 1000) / 300.0);
    if (draw(random, 0, 9) == 0)
      scale = std::ldexp(1.0F, static_cast<int>(draw(random, 0, 60)) - 40);
  }
  return operands;
}

inline Output random_output(std::mt19937& random) {
  Output output;
  output.format = ResultFormat(draw(random, 0, 1) != 0 ? ResultCode::kInt8 : ResultCode::kUint8);
  const int least = output.format.least();
  output.zero = least + static_cast<int>(draw(random, 0, 255));
  output.low = least;
  output.high = output.format.largest();
  if (draw(random, 0, 1) != 0) output.low = output.zero;  // ReLU
  if (draw(random, 0, 2) == 0)
    output.high = output.low + static_cast<int>(draw(random, 0, 255)) / 2;
  output.high = std::min(output.high, output.format.largest());
  return output;
}

/// A shape that is often at an edge: below `most`, with many sizes just around multiples of n.
inline GemmShape random_shape(std::mt19937& random, unsigned n, unsigned most) {
  const auto size = [&]() -> std::uint64_t {
    switch (draw(random, 0, 3)) {
      case 0:
        return draw(random, 1, 3);
      case 1:
        return std::max(1u, n * draw(random, 1, 3) + draw(random, 0, 2) - 1);
      default:
        return draw(random, 1, most);
    }
  };
  const std::uint64_t m = size();
  const std::uint64_t k = size();
  return {m, k, size()};
}

inline Workload random_workload(std::mt19937& random, unsigned n, unsigned most) {
  Workload work;
  work.shape = random_shape(random, n, most);
  work.accumulate = draw(random, 0, 2) == 0 ? Accumulate::kHost : Accumulate::kDevice;
  work.latency = draw(random, 0, 2) == 0 ? draw(random, 1, 8) : draw(random, 1, 300);
  if (work.accumulate == Accumulate::kDevice && draw(random, 0, 1) != 0) {
    work.output = random_output(random);
  }
  return work;
}

/// The product cut for the accelerator under test.
inline Job make_job(const Rig& rig, const Workload& work) {
  return gemm64::make_job("product", work.shape, work.accumulate, rig.driver.geometry(),
                          work.output);
}

/// The operands of a job as they are written to memory.
struct Packed {
  Packed(const Job& job, const Operands& operands) : weights(pack_weights(job, operands.w)) {
    if (!job.plan.results().takes_parameters()) return;
    parameters = pack_parameters(job, operands.bias, operands.scales);
  }
  std::vector<std::uint8_t> weights, parameters;
};

/// What a product must give.
inline MatrixI32 expected_results(const Output& output, const Operands& operands) {
  MatrixI32 sums = reference_gemm(operands.a, operands.w);
  if (!output.format.takes_parameters()) return sums;
  return reference_requantize(sums, operands.bias, operands.scales, output.zero, output.low,
                              output.high);
}

/// Runs one product as the driver does.
inline GemmResult run(Rig& rig, const Workload& work, const Operands& operands) {
  rig.set_latency(work.latency);
  const Job job = make_job(rig, work);
  const Packed packed(job, operands);
  return rig.driver.run(job, JobOperands{packed.weights, operands.a, &packed.parameters});
}

/// Each counter that differs, with both values.
inline std::string difference(const Counters& expected, const Counters& found) {
  std::string text;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == found[i]) continue;
    text += fmt::format("\n  {}.{}: the model says {}, the device {}", kCounters[i].engine,
                        kCounters[i].cause, expected[i], found[i]);
  }
  return text;
}

/// The causes of every engine add up to the cycles in all.
inline void expect_causes_add_up(const Counters& counters) {
  for (const EngineEntry& engine : kEngines) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      if (std::string(kCounters[i].engine) == engine.name) sum += counters[i];
    }
    EXPECT_EQ(sum, counters[counter::kTotalClocks]) << "causes of engine " << engine.name;
  }
}

/// Values only: for memories that stall.
inline GemmResult expect_values(Rig& rig, const Workload& work, const Operands& operands) {
  SCOPED_TRACE(describe(work));
  GemmResult result = run(rig, work, operands);
  EXPECT_EQ(result.sums, expected_results(work.output, operands));
  expect_causes_add_up(result.counters);
  const Traffic traffic = predict_traffic(make_job(rig, work).plan);
  EXPECT_EQ(result.counters[counter::kBytesWeights], traffic.weights);
  EXPECT_EQ(result.counters[counter::kBytesActivations], traffic.activations);
  EXPECT_EQ(result.counters[counter::kBytesResults], traffic.results);
  EXPECT_EQ(result.counters[counter::kBytesCommands], traffic.commands);
  EXPECT_EQ(result.counters[counter::kBytesParameters], traffic.parameters);
  return result;
}

/// Values as the oracle's and all counters as the model's: for memories that do not stall.
inline GemmResult expect_exact(Rig& rig, const Workload& work, const Operands& operands) {
  SCOPED_TRACE(describe(work));
  GemmResult result = run(rig, work, operands);
  EXPECT_EQ(result.sums, expected_results(work.output, operands));
  const Counters expected =
      predict_counters(make_job(rig, work).program, rig.driver.geometry(), rig.memory);
  EXPECT_TRUE(result.counters == expected) << difference(expected, result.counters);
  return result;
}

inline void expect_exact(Rig& rig, const Workload& work, std::mt19937& random) {
  expect_exact(rig, work, random_operands(random, work.shape));
}

}  // namespace gemm64::system_test
