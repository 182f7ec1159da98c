// SPDX-License-Identifier: Apache-2.0
// Timelines of the array of 64x64, and how large they are.

#include "tests/system/timeline.hpp"

namespace gemm64::system_test {
namespace {

// AlexNet's three Linear layers have 14,336 tiles, and its timeline at most 50 MB.
constexpr std::uintmax_t kBytesATile = 50'000'000 / 14'336;

RtlOptions debug(double stalls) {
  RtlOptions options = Rig::options(64, stalls);
  options.debug = true;
  return options;
}

TEST(TimelineSlow, AccountsForCyclesInFewBytes) {
  std::mt19937 random(2100);
  Rig rig(debug(0));
  const std::uintmax_t bytes = expect_timeline(rig, {{{64, 1024, 1000}}}, random);
  EXPECT_LT(bytes, 16 * 16 * kBytesATile / 8);
}

TEST(TimelineSlow, StallsAndHostSumsNeedFewBytes) {
  std::mt19937 random(2101);
  Rig rig(debug(0.5));
  const std::uintmax_t bytes = expect_timeline(rig, {{{64, 512, 500}, Accumulate::kHost}}, random);
  EXPECT_LT(bytes, 8 * 8 * kBytesATile / 2);
}

TEST(TimelineSlow, ABatchOfOneToo) {
  std::mt19937 random(2102);
  Rig rig(debug(0));
  EXPECT_LT(expect_timeline(rig, {{{1, 1024, 1024}}}, random), 16 * 16 * kBytesATile / 8);
}

}  // namespace
}  // namespace gemm64::system_test
