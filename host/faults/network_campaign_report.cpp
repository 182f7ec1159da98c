// SPDX-License-Identifier: Apache-2.0
#include "host/faults/network_campaign_report.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;
using Kind = NetworkCampaignReport::Kind;

constexpr double kPercent = 100;
constexpr double kHour = 3600;  // seconds

constexpr std::array<NetworkOutcome, kNetworkOutcomes> kEndsOfTries{
    NetworkOutcome::kMasked, NetworkOutcome::kDetected, NetworkOutcome::kStopped,
    NetworkOutcome::kSilent};

/// "12.5 % (9.1–16.8)".
std::string share_text(std::uint64_t hits, std::uint64_t tries) {
  if (tries == 0) return "–";
  const Interval interval = wilson_interval(hits, tries);
  return fmt::format("{:.1f} % ({:.1f}–{:.1f})",
                     kPercent * static_cast<double>(hits) / static_cast<double>(tries),
                     kPercent * interval.low, kPercent * interval.high);
}

std::vector<std::string> row(const std::string& name, const NetworkCampaignReport& report,
                             Kind kind) {
  const std::uint64_t all = report.count(kind);
  std::vector<std::string> cells{name, grouped(all)};
  for (const NetworkOutcome outcome : kEndsOfTries) {
    cells.push_back(share_text(report.count(kind, outcome), all));
  }
  cells.push_back(share_text(report.top1_changed(kind), all));
  return cells;
}

Json share_json(std::uint64_t hits, std::uint64_t tries) {
  const Interval interval = wilson_interval(hits, tries);
  return {{"count", hits},
          {"share", tries == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(tries)},
          {"low", interval.low},
          {"high", interval.high}};
}

Json counts_json(const NetworkCampaignReport& report, Kind kind) {
  const std::uint64_t all = report.count(kind);
  Json json = {{"tries", all}};
  for (const NetworkOutcome outcome : kEndsOfTries) {
    json[name(outcome)] = share_json(report.count(kind, outcome), all);
  }
  json["top1_changed"] = share_json(report.top1_changed(kind), all);
  return json;
}

/// Of one processor that does nothing else.
double per_hour(const NetworkCampaignReport& report) {
  const auto tries = static_cast<double>(report.tries.size());
  return report.processor_seconds > 0 ? kHour * tries / report.processor_seconds : 0;
}

/// "program 1, scratchpad:3,4:5@678".
std::string fault_text(const NetworkTry& drawn) {
  return fmt::format("program {}, {}", drawn.program + 1, to_string(drawn.fault));
}

Json try_json(const TriedNetworkFault& tried) {
  Json json = {{"index", tried.drawn.index},
               {"program", tried.drawn.program + 1},
               {"fault", to_string(tried.drawn.fault)},
               {"outcome", name(tried.outcome)},
               {"top1_changed", tried.top1_changed},
               {"rtl_cycles", tried.cycles}};
  if (!tried.error.empty()) json["error"] = tried.error;
  return json;
}

}  // namespace

std::string network_campaign_table(const NetworkCampaignReport& report, std::size_t width) {
  Table table;
  table.add_column("structure", Align::kLeft);
  table.add_column("tries");
  for (const char* heading : {"masked", "detected\nby the device", "stopped\notherwise",
                              "silent\ncorruption", "of these:\ntop-1 changed"}) {
    table.add_column(heading);
  }
  for (const Fault::Kind kind : network_fault_kinds()) {
    if (report.count(kind) != 0) table.add_row(row(name(kind), report, kind));
  }
  table.add_rule();
  table.add_row(row("all", report, {}));
  std::uint64_t simulated = 0;
  for (const TriedNetworkFault& tried : report.tries) simulated += tried.cycles;
  std::string text = table.render(width);
  text += fmt::format(
      "\n{} in {} of {} cycles of {} on {}x{}, seed {}; in parentheses intervals of 95 %, in "
      "percent.\n",
      counted(report.tries.size(), "flipped bit"), counted(report.programs.size(), "program"),
      grouped(report.cycles()), report.model, report.array, report.array, report.seed);
  text += fmt::format(
      "{:.1f} s, {} at a time; {:.1f} s of processor time, so {} faults per hour and processor; {} "
      "cycles on the RTL per fault.\n",
      report.seconds, report.jobs, report.processor_seconds,
      grouped(static_cast<std::uint64_t>(per_hour(report))),
      grouped(report.tries.empty() ? 0 : simulated / report.tries.size()));
  for (const RepeatedOtherwise& other : report.otherwise) {
    const TriedNetworkFault& tried = report.tries[other.at];
    text += fmt::format("try {}, {}: {}, on the RTL throughout {}{}\n", tried.drawn.index,
                        fault_text(tried.drawn), name(tried.outcome), name(other.whole.outcome),
                        tried.outcome == other.whole.outcome ? " with other bytes" : "");
  }
  if (report.repeated == 0)
    return text + "NOT REPEATED: no try ran on the RTL throughout (--repeat).\n";
  return text + fmt::format("{}: {} repeated on the RTL throughout, {} s: {}.\n",
                            report.holds() ? "HELD" : "FAILED",
                            grouped(report.repeated) + (report.repeated == 1 ? " try" : " tries"),
                            fmt::format("{:.1f}", report.repeat_seconds),
                            report.holds() ? "the same outcome and bytes"
                                           : fmt::format("{} otherwise", report.otherwise.size()));
}

Json to_json(const NetworkCampaignReport& report) {
  Json kinds = Json::object();
  for (const Fault::Kind kind : network_fault_kinds()) {
    kinds[name(kind)] = counts_json(report, kind);
  }
  Json programs = Json::array();
  for (const ProgramWindow& program : report.programs) {
    programs.push_back({{"begin", program.begin}, {"end", program.end}});
  }
  Json tries = Json::array(), otherwise = Json::array();
  for (const TriedNetworkFault& tried : report.tries) tries.push_back(try_json(tried));
  for (const RepeatedOtherwise& other : report.otherwise) {
    otherwise.push_back(try_json(other.whole));
  }
  return {{"model", report.model},
          {"array", report.array},
          {"seed", report.seed},
          {"self_check", report.self_check},
          {"count", report.tries.size()},
          {"held", report.holds()},
          {"programs", std::move(programs)},
          {"all", counts_json(report, {})},
          {"structures", std::move(kinds)},
          {"repeated", report.repeated},
          {"otherwise", std::move(otherwise)},
          {"seconds", report.seconds},
          {"processor_seconds", report.processor_seconds},
          {"faults_per_processor_hour", per_hour(report)},
          {"jobs", report.jobs},
          {"tries", std::move(tries)}};
}

}  // namespace gemm64
