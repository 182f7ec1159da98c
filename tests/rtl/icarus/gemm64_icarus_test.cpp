// SPDX-License-Identifier: Apache-2.0

#include "host/device/registers.hpp"
#include "host/device/snapshot.hpp"
#include "tests/rtl/icarus/run_image.hpp"
#include "tests/system/gemm_image.hpp"

namespace gemm64::icarus_test {
namespace {

using system_test::GemmImage;
using system_test::GemmJob;

constexpr auto kInt32 = ResultCode::kInt32, kInt8 = ResultCode::kInt8, kUint8 = ResultCode::kUint8;

std::string name(ResultCode format) {
  return format == kInt32 ? "" : format == kInt8 ? "Int8" : "Uint8";
}

class Gemm64InIcarus : public testing::TestWithParam<GemmJob> {};

TEST_P(Gemm64InIcarus, MatchesVerilator) {
  const GemmImage image(GetParam(), kMemoryBytes);
  for (const unsigned latency : {1u, 100u}) {
    SCOPED_TRACE("latency " + std::to_string(latency));
    const Outcome icarus = run_in_icarus(GetParam().array, image, latency, 0);
    EXPECT_EQ(icarus.results, image.expected());
    const Outcome verilator = run_in_verilator(GetParam().array, image, latency);
    EXPECT_EQ(verilator.results, image.expected());
    EXPECT_EQ(icarus.snapshot, verilator.snapshot);
    EXPECT_EQ(icarus.snapshot.size(), kSnapshotBytes);
    ASSERT_EQ(icarus.counters.size(), kCounters.size());
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      EXPECT_EQ(icarus.counters[i], verilator.counters[i])
          << kCounters[i].engine << "." << kCounters[i].cause;
    }
    EXPECT_GT(icarus.counters[counter::kTotalClocks], 0u);
  }
}

TEST_P(Gemm64InIcarus, MatchesWhenEveryChannelStalls) {
  const GemmImage image(GetParam(), kMemoryBytes);
  EXPECT_EQ(run_in_icarus(GetParam().array, image, 9, 60).results, image.expected());
}

/// With checksums nothing is found, though every register begins unknown, and no cycle is lost.
TEST(Gemm64InIcarusWithChecksums, MatchesWithout) {
  const GemmImage image(GemmJob{4, 13, 17, 11, 5}, kMemoryBytes);
  for (const unsigned stalls : {0u, 60u}) {
    const Outcome with = run_in_icarus(4, image, 9, stalls, kMemoryBytes, 1);
    EXPECT_EQ(with.results, image.expected());
    EXPECT_EQ(with.counters, run_in_icarus(4, image, 9, stalls).counters);
  }
}

/// A beat of 128 bytes holds two commands. No simulator of this width is built, so the product
/// alone tells.
TEST(Gemm64InIcarusN128, TwoCommandsPerBeat) {
  const GemmImage image(GemmJob{128, 2, 100, 3, 2}, kWideMemoryBytes);
  EXPECT_EQ(run_in_icarus(128, image, 1, 0, kWideMemoryBytes).results, image.expected());
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, Gemm64InIcarus,
    testing::Values(GemmJob{2, 1, 1, 1, 1}, GemmJob{2, 5, 7, 3, 2}, GemmJob{2, 3, 33, 2, 3, false},
                    GemmJob{2, 9, 6, 5, 4, true, false}, GemmJob{4, 1, 20, 9, 1},
                    GemmJob{4, 9, 1, 5, 4}, GemmJob{4, 13, 17, 1, 5},
                    GemmJob{4, 8, 16, 12, 8, false, false}, GemmJob{8, 1, 1, 1, 1},
                    GemmJob{8, 17, 65, 23, 8}, GemmJob{8, 16, 64, 24, 16}, GemmJob{8, 70, 9, 8, 70},
                    GemmJob{8, 20, 31, 33, 7, false}, GemmJob{8, 20, 31, 33, 7, true, false},
                    GemmJob{2, 5, 7, 9, 2, true, true, kInt8, kUint8},
                    GemmJob{4, 13, 17, 11, 5, true, true, kUint8, kUint8, 3},
                    GemmJob{4, 9, 1, 5, 4, true, false, kInt8, kInt32, 1},
                    GemmJob{8, 20, 31, 33, 7, true, true, kUint8, kInt8},
                    GemmJob{4, 24, 4, 60, 4, true, false, kInt8, kInt8},
                    GemmJob{8, 33, 9, 40, 16, true, true, kInt32, kInt8},
                    GemmJob{8, 40, 8, 24, 10, true, true, kInt8, kInt8, 2}),
    [](const auto& test) {
      const GemmJob& job = test.param;
      return "N" + std::to_string(job.array) + "Shape" + std::to_string(job.m) + "x" +
             std::to_string(job.k) + "x" + std::to_string(job.n) + "By" +
             std::to_string(job.block) + (job.accumulate ? "" : "Partial") +
             (job.retain ? "" : "Reloaded") + name(job.format) + name(job.rest_format);
    });

}  // namespace
}  // namespace gemm64::icarus_test
