// SPDX-License-Identifier: Apache-2.0
#include "host/report/campaign_report.hpp"

#include <fmt/format.h>

#include <vector>

#include "host/table.hpp"
#include "host/text.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

constexpr FaultOutcome kOutcomes[kFaultOutcomes] = {
    FaultOutcome::kMasked,  FaultOutcome::kWrongSums, FaultOutcome::kWrongCounters,
    FaultOutcome::kStopped, FaultOutcome::kHung,      FaultOutcome::kUnnoticed};
constexpr const char* kHeadings[kFaultOutcomes] = {
    "masked",   "found by the\ncheck: sums", "found by the\ncheck: counters", "stopped", "hung",
    "unnoticed"};

/// A row: `count(outcome)` for each, and their sum.
template <class Count>
std::vector<std::string> row(const std::string& name, Count count) {
  std::vector<std::string> cells{name, ""};
  std::uint64_t all = 0;
  for (const FaultOutcome outcome : kOutcomes) {
    const std::uint64_t n = count(outcome);
    all += n;
    cells.push_back(grouped(n));
  }
  cells[1] = grouped(all);
  return cells;
}

template <class Count>
Json counts_json(Count count) {
  Json json = Json::object();
  for (const FaultOutcome outcome : kOutcomes) json[name(outcome)] = count(outcome);
  return json;
}

double per_second(const CampaignReport& report) {
  return report.seconds > 0 ? static_cast<double>(report.tries.size()) / report.seconds : 0;
}

}  // namespace

std::string campaign_table(const CampaignReport& report, std::size_t width) {
  Table table;
  table.add_column("fault", Align::kLeft);
  table.add_column("tries");
  for (const char* heading : kHeadings) table.add_column(heading);
  for (std::size_t kind = 0; kind < kCampaignFaultKinds; ++kind) {
    table.add_row(row(kFaultKinds[kind].name,
                      [&](FaultOutcome outcome) { return report.count(kind, outcome); }));
  }
  table.add_rule();
  table.add_row(row("all", [&](FaultOutcome outcome) { return report.count(outcome); }));
  std::string text = table.render(width);
  text += fmt::format("\n{} on {}x{}, seed {}: {:.1f} s, {:.1f} faults/s, {} at a time.\n",
                      counted(report.tries.size(), "fault"), report.array, report.array,
                      report.seed, report.seconds, per_second(report), report.jobs);
  for (const TriedFault& tried : report.tries) {
    if (tried.outcome != FaultOutcome::kHung && tried.outcome != FaultOutcome::kUnnoticed) continue;
    text += fmt::format("{}: {}\n", name(tried.outcome), command_of(tried.fault_try));
  }
  text += report.holds()
              ? "HELD: no fault hung, and none that changed a result went unnoticed.\n"
              : "FAILED: faults hung or went unnoticed; the commands above repeat them.\n";
  return text;
}

std::string campaign_line(const CampaignReport& report) {
  const std::uint64_t found =
      report.count(FaultOutcome::kWrongSums) + report.count(FaultOutcome::kWrongCounters);
  return fmt::format("{} masked, {} found by the check, {} stopped, {} hung, {} unnoticed",
                     grouped(report.count(FaultOutcome::kMasked)), grouped(found),
                     grouped(report.count(FaultOutcome::kStopped)),
                     grouped(report.count(FaultOutcome::kHung)),
                     grouped(report.count(FaultOutcome::kUnnoticed)));
}

Json to_json(const CampaignReport& report) {
  Json kinds = Json::object();
  for (std::size_t kind = 0; kind < kCampaignFaultKinds; ++kind) {
    kinds[kFaultKinds[kind].name] =
        counts_json([&](FaultOutcome outcome) { return report.count(kind, outcome); });
  }
  Json tries = Json::array();
  for (const TriedFault& tried : report.tries) {
    Json entry = {{"fault", to_string(tried.fault_try.fault)},
                  {"outcome", name(tried.outcome)},
                  {"command", command_of(tried.fault_try)}};
    if (!tried.error.empty()) entry["error"] = tried.error;
    tries.push_back(std::move(entry));
  }
  return {{"array", report.array},
          {"seed", report.seed},
          {"count", report.tries.size()},
          {"held", report.holds()},
          {"outcomes", counts_json([&](FaultOutcome outcome) { return report.count(outcome); })},
          {"kinds", std::move(kinds)},
          {"seconds", report.seconds},
          {"faults_per_second", per_second(report)},
          {"jobs", report.jobs},
          {"tries", std::move(tries)}};
}

}  // namespace gemm64
