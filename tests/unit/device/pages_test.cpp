// SPDX-License-Identifier: Apache-2.0
#include "host/device/pages.hpp"

#include <sys/resource.h>

#include "tests/test.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(Pages, AreZeroAndKeepContentsAsTheyGrow) {
  Pages pages(4 * kGiB);
  *pages.at(5, 1) = 7;
  EXPECT_EQ(*pages.at(kGiB, 1), 0);
  *pages.at(4 * kGiB - 1, 1) = 9;
  EXPECT_EQ(*pages.at(5, 1), 7);
  EXPECT_EQ(*pages.at(4 * kGiB - 1, 1), 9);
}

TEST(Pages, TakeAddressSpaceAsItIsNeeded) {
  // In a child: limits cannot be raised again.
  const auto grow = [] {
    const rlimit limit{kGiB, kGiB};
    setrlimit(RLIMIT_AS, &limit);
    Pages pages(4 * kGiB);
    *pages.at(100 << 20, 1) = 1;
    try {
      pages.at(3 * kGiB, 1);
    } catch (const UsageError&) {
      std::_Exit(*pages.at(100 << 20, 1) == 1 ? 0 : 2);
    }
    std::_Exit(1);
  };
  EXPECT_EXIT(grow(), testing::ExitedWithCode(0), "");
}

TEST(Pages, RefuseNoBytes) { EXPECT_THROW(Pages(0), UsageError); }

}  // namespace
}  // namespace gemm64
