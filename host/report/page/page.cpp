// SPDX-License-Identifier: Apache-2.0
#include "host/report/page/page.hpp"

#include <fmt/format.h>

#include <string_view>

#include "host/util/error.hpp"

extern "C" {
extern const char gemm64_page_charts[], gemm64_page_charts_end[];
extern const char gemm64_page_style[], gemm64_page_style_end[];
extern const char gemm64_page_script[], gemm64_page_script_end[];
}

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

std::string_view asset(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::string_view charts() { return asset(gemm64_page_charts, gemm64_page_charts_end); }

/// JSON that may stand inside a script element: a "<" would let a name end it.
std::string script_json(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

void need_charts(const std::string& option, const std::string& path) {
  constexpr std::string_view kSvg = ".svg";
  if (path.size() >= kSvg.size() && path.compare(path.size() - kSvg.size(), kSvg.npos, kSvg) == 0) {
    throw UsageError(fmt::format("{} {}: charts are an HTML page; name a file as {}.html", option,
                                 path, path.substr(0, path.size() - kSvg.size())));
  }
  if (path.empty() || !charts().empty()) return;
  throw UsageError(
      fmt::format("{} {}: this program was built without the charts of pages; type make report "
                  "once, which fetches them with npm",
                  option, path));
}

std::string page(const PageContent& content) {
  Json data = {{"reports", Json::array()},
               {"comparison", content.comparison},
               {"timeline", content.recording},
               {"sweep", content.sweep}};
  for (const PageContent::Report& one : content.reports) {
    data["reports"].push_back({{"file", one.file}, {"report", one.report}});
  }
  std::string html =
      "<!DOCTYPE html>\n"
      "<html lang=\"en\">\n"
      "<head>\n"
      "<meta charset=\"utf-8\">\n"
      // Even a flaw in what follows could send nothing anywhere.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; "
      "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"gemm64\">\n"
      "<title>gemm64</title>\n"
      "<style>\n";
  html += asset(gemm64_page_style, gemm64_page_style_end);
  html +=
      "</style>\n"
      "</head>\n"
      "<body>\n"
      "<noscript><p>This page draws its charts and tables with JavaScript, which is switched off. "
      "The same figures are "
      "in the report that --json writes.</p></noscript>\n"
      "<script type=\"application/json\" id=\"data\">";
  html += script_json(data);
  html += "</script>\n<script>\n";
  html += charts();
  html += "</script>\n<script>\n(() => {\n\"use strict\";\n";
  html += asset(gemm64_page_script, gemm64_page_script_end);
  html += "})();\n</script>\n</body>\n</html>\n";
  return html;
}

}  // namespace gemm64
