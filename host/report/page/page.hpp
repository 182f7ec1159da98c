// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that needs nothing else.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace gemm64 {

/// Throws UsageError if `option` asks for a page whose name ends in .svg, or if the charts are not
/// part of this program. Does nothing if `path` is empty.
void need_charts(const std::string& option, const std::string& path);

/// What a page shows.
struct PageContent {
  /// A report as --json writes it, and what it is called.
  struct Report {
    std::string file;
    nlohmann::ordered_json report;
  };
  std::vector<Report> reports;  // two are compared
  nlohmann::ordered_json
      comparison;  // of two reports (host/report/page/comparison.hpp); otherwise null
  nlohmann::ordered_json recording;  // of a timeline; null where there is none
  nlohmann::ordered_json sweep =
      nullptr;  // of a sweep, without reports (host/sweep/sweep_plot.hpp)
};

/// The page. Whatever names hold, none of it becomes markup, and bytes that are no UTF-8 are
/// replaced.
std::string page(const PageContent& content);

}  // namespace gemm64
