// SPDX-License-Identifier: Apache-2.0
// A program whose charts were never fetched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/error.hpp"
#include "host/page/page.hpp"

namespace gemm64 {
namespace {

TEST(Chartless, SaysHowToGetThem) {
  EXPECT_NO_THROW(need_charts("--report", ""));
  try {
    need_charts("--report", "page.html");
    FAIL() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "--report page.html: this program was built without the charts of pages; type "
                 "make report once, "
                 "which fetches them with npm");
  }
}

}  // namespace
}  // namespace gemm64
