// SPDX-License-Identifier: Apache-2.0
#include "host/report/page/page.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

TEST(Page, HoldsDataStyleScriptAndCharts) {
  const std::string html = page({{{"a.json", {{"model", "net"}}}}, {}, nullptr});
  EXPECT_EQ(html.rfind("<!DOCTYPE html>", 0), 0U);
  EXPECT_THAT(html, Says(R"("reports":[{"file":"a.json","report":{"model":"net"}}])",
                         "color-scheme", "document.body.append", "stand-in for the charts"));
}

TEST(Page, NoNameEndsTheScript) {
  const std::string html =
      page({{{"</script>", {{"model", "<!--</ScRiPt><script>"}}}}, {}, nullptr});
  EXPECT_THAT(html,
              testing::AllOf(Says(R"(\u003c!--\u003c/ScRiPt>\u003cscript>)"), Lacks("</ScRiPt>")));
  std::size_t ends = 0;
  for (std::size_t at = 0; (at = html.find("</script", at)) != std::string::npos; ++at) ++ends;
  EXPECT_EQ(ends, 3U);
}

TEST(Page, ReplacesWhatIsNoText) {
  EXPECT_THAT(page({{{"a.json", {{"model", "\xff"}}}}, {}, nullptr}), Says("\xef\xbf\xbd"));
}

TEST(Page, IsRefusedOnlyWithoutCharts) {
  EXPECT_NO_THROW(need_charts("--report", "page.html"));
  EXPECT_NO_THROW(need_charts("--report", ""));
}

TEST(Page, IsRefusedAsAnSvg) {
  EXPECT_EQ(message_of([&] { need_charts("--plot", "a/rows.svg"); }),
            "--plot a/rows.svg: charts are an HTML page; name a file as a/rows.html");
}

TEST(Page, HoldsASweepWithoutReports) {
  EXPECT_THAT(page({{}, {}, nullptr, {{"file", "s.json"}}}),
              Says(R"("reports":[])", R"("sweep":{"file":"s.json"})"));
}

}  // namespace
}  // namespace gemm64
