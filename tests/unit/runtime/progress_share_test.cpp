// SPDX-License-Identifier: Apache-2.0

#include "host/runtime/progress.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(ProgressShare, AddsUpPartsAndTheirParts) {
  std::vector<double> reported;
  ProgressShare whole([&](const std::string&, double done) { reported.push_back(done); });
  whole.next(0.25);
  whole.report("a", 0.5);
  whole.next(0.75);
  ProgressShare parts = whole.inside();
  parts.next(0.5);
  parts.next(0.5);
  parts.report("b", 0.5);
  EXPECT_EQ(reported, (std::vector<double>{0.125, 0.25 + 0.75 * 0.75}));
}

TEST(ProgressShare, NeedsNoReceiver) {
  ProgressShare silent;
  silent.next(1);
  silent.inside().report("a", 1);
  silent.report("a", 1);
}

}  // namespace
}  // namespace gemm64
