// SPDX-License-Identifier: Apache-2.0
// Results of every format from programs that are written by hand, so that neither plan nor driver
// are needed.

#include "sim/models/rtl_device.hpp"
#include "tests/system/gemm_image.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::size_t kMemory = 1u << 19;
constexpr auto kInt32 = ResultCode::kInt32, kInt8 = ResultCode::kInt8, kUint8 = ResultCode::kUint8;

std::unique_ptr<RtlDevice> make_device(unsigned n, double stalls = 0, unsigned latency = 10,
                                       bool tight = false) {
  RtlOptions options;
  options.n = static_cast<int>(n);
  options.tight = tight;
  options.debug = n <= 8;
  options.memory_bytes = kMemory;
  options.memory.latency = latency;
  options.memory.stall_probability = stalls;
  return make_rtl_device(options);
}

std::uint64_t counter_of(RtlDevice& device, std::size_t index) {
  const std::uint32_t offset = kCounters[index].offset;
  return std::uint64_t{device.read_register(offset + 4)} << 32 | device.read_register(offset);
}

/// Runs a job and compares every byte from its first result on; and of each engine the causes that
/// must add up.
void run(RtlDevice& device, const GemmJob& job) {
  SCOPED_TRACE(
      "N " + std::to_string(job.array) + ": " + std::to_string(job.m) + "x" +
      std::to_string(job.k) + "x" + std::to_string(job.n) + " by " + std::to_string(job.block) +
      (job.accumulate ? "" : ", parts") + (job.retain ? "" : ", reloaded") + ", formats " +
      std::to_string(static_cast<unsigned>(job.format)) + " and " +
      std::to_string(static_cast<unsigned>(job.rest_format)) + ", gap " + std::to_string(job.gap));
  const GemmImage image(job, kMemory);
  device.write_memory(0, image.memory.data(), image.memory.size());
  for (const auto& [offset, value] : image.script()) device.write_register(offset, value);
  ASSERT_TRUE(device.wait_interrupt(3'000'000));
  ASSERT_EQ(device.read_register(reg::kInterrupt), 1u)
      << "error " << device.read_register(reg::kError);
  device.write_register(reg::kInterrupt, 1);
  std::vector<std::uint8_t> results(image.expected().size());
  device.read_memory(image.first(), results.data(), results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    ASSERT_EQ(results[i], image.expected()[i]) << "byte " << i << " of " << results.size();
  }
  EXPECT_EQ(counter_of(device, counter::kBytesParameters), image.parameter_words() * job.array);
  EXPECT_EQ(counter_of(device, counter::kParametersTransfer), image.parameter_words());
  const std::uint64_t cycles = counter_of(device, counter::kTotalClocks);
  for (const char* engine : {"results", "parameters"}) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      if (std::string(kCounters[i].engine) == engine) sum += counter_of(device, i);
    }
    EXPECT_EQ(sum, cycles) << engine;
  }
}

GemmJob random_job(std::mt19937& random, unsigned n) {
  const auto up_to = [&random](unsigned most) {
    return 1 + static_cast<unsigned>(random() % most);
  };
  GemmJob job{n, up_to(5 * n), up_to(4 * n), up_to(6 * n), 1};
  job.block = up_to(std::min(job.m, 16u));
  job.retain = random() % 3 != 0;
  const auto format = [&random] { return static_cast<ResultCode>(random() % 3); };
  job.format = format();
  job.rest_format = format();
  job.gap = random() % 2 == 0 ? 0 : up_to(5);
  if (job.format == kInt32 && job.rest_format == kInt32) job.accumulate = random() % 2 == 0;
  return job;
}

TEST(Results, OfEightBitsEqualTheFormula) {
  for (const unsigned n : {2u, 4u, 8u}) {
    const auto device = make_device(n);
    for (const auto format : {kInt8, kUint8}) {
      run(*device, {n, 1, 1, 1, 1, true, true, format});
      run(*device, {n, 5 * n, 3 * n, 4 * n, n, true, true, format});
      run(*device, {n, 5 * n + 1, n, 9 * n, 3, true, false, format, kInt32, 4});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Results, OfAnyFormatsEqualTheFormulaAtRandom) {
  for (const unsigned n : {2u, 4u, 8u}) {
    for (unsigned seed = 1; seed <= 24; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      std::mt19937 random(seed);
      const auto device = make_device(n, seed % 3 == 0 ? 0 : 0.1 * (seed % 8),
                                      1 + seed * seed % 200, n == 4 && seed % 2 == 0);
      for (unsigned i = 0; i < 3; ++i) run(*device, random_job(random, n));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Results, MoreSetsThanFitAreLoadedInTurn) {
  for (const unsigned n : {2u, 8u}) {
    const auto device = make_device(n, 0, 100);
    EXPECT_EQ(device->read_register(reg::kParameterSets), 16u);
    run(*device, {n, 2 * n, n, 50 * n, n, true, true, kInt8});
    EXPECT_GT(counter_of(*device, counter::kParametersWaitBuffer), 0u);
  }
}

// Of one tile of K, results of a byte leave as fast as rows are computed.
TEST(Results, OfEightBitsDoNotKeepTheArrayWaiting) {
  const auto device = make_device(8, 0, 1);
  const auto cycles_with = [&device](ResultCode format) {
    run(*device, {8, 1280, 8, 32, 128, true, true, format});
    return counter_of(*device, counter::kComputeWaitResults);
  };
  EXPECT_EQ(cycles_with(kInt8), 0u);
  EXPECT_GT(cycles_with(kInt32), 10000u);
}

}  // namespace
}  // namespace gemm64::system_test
