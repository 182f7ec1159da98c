// SPDX-License-Identifier: Apache-2.0

#include "host/runtime/progress.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(ProgressShare, AddsUpPartsAndTheirParts) {
  std::vector<double> told;
  ProgressShare whole([&](const std::string&, double done) { told.push_back(done); });
  whole.next(0.25);
  whole.report("a", 0.5);
  whole.next(0.75);
  ProgressShare parts = whole.inside();
  parts.next(0.5);
  parts.next(0.5);
  parts.report("b", 0.5);
  EXPECT_EQ(told, (std::vector<double>{0.125, 0.25 + 0.75 * 0.75}));
}

TEST(ProgressShare, NeedsNoReceiver) {
  ProgressShare nobody;
  nobody.next(1);
  nobody.inside().report("a", 1);
  nobody.report("a", 1);
}

}  // namespace
}  // namespace gemm64
