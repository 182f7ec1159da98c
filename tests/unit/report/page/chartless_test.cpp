// SPDX-License-Identifier: Apache-2.0
// A program whose charts were never fetched.

#include "host/report/page/page.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(Chartless, SaysHowToGetThem) {
  EXPECT_NO_THROW(need_charts("--report", ""));
  EXPECT_EQ(message_of([&] { need_charts("--report", "page.html"); }),
            "--report page.html: this program was built without the charts of pages; type "
            "make report once, "
            "which fetches them with npm");
}

}  // namespace
}  // namespace gemm64
