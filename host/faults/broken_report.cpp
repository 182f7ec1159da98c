// SPDX-License-Identifier: Apache-2.0
#include "host/faults/broken_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

constexpr BrokenOutcome kOutcomes[kBrokenOutcomes] = {
    BrokenOutcome::kSameResult, BrokenOutcome::kSameRefusal, BrokenOutcome::kOtherRefusal,
    BrokenOutcome::kWaited,     BrokenOutcome::kRaced,       BrokenOutcome::kDiffers,
    BrokenOutcome::kNextWrong};
constexpr const char* kHeadings[kBrokenOutcomes] = {
    "same\nresult", "refused\nalike", "several\nerrors", "waited",
    "raced",        "differ",         "next\nwrong"};

template <class Count>
std::vector<std::string> row(const std::string& name, Count count) {
  std::vector<std::string> cells{name, ""};
  std::uint64_t all = 0;
  for (const BrokenOutcome outcome : kOutcomes) {
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
  for (const BrokenOutcome outcome : kOutcomes) json[name(outcome)] = count(outcome);
  return json;
}

std::string how_it_ended(const TriedProgram& tried) {
  std::string text = fmt::format("  {}\n  RTL: {}; reference: {}\n", fmt::join(tried.changes, "; "),
                                 tried.rtl, tried.reference);
  if (!tried.why.empty()) text += "  " + tried.why + "\n";
  return text;
}

bool must_not_be(BrokenOutcome outcome) {
  return outcome == BrokenOutcome::kDiffers || outcome == BrokenOutcome::kNextWrong;
}

}  // namespace

std::string command_of(const BrokenReport& report, const TriedProgram& tried) {
  return fmt::format(
      "gemm64 faults --kind broken-programs --array {} --seed {} --first {} --count 1",
      report.array, report.seed, tried.index);
}

std::string broken_table(const BrokenReport& report, std::size_t width) {
  Table table;
  table.add_column("broken program", Align::kLeft);
  table.add_column("tries");
  for (const char* heading : kHeadings) table.add_column(heading);
  for (std::size_t i = 0; i < kProgramKinds; ++i) {
    const auto kind = static_cast<ProgramKind>(i);
    table.add_row(
        row(name(kind), [&](BrokenOutcome outcome) { return report.count(kind, outcome); }));
  }
  table.add_rule();
  table.add_row(row("all", [&](BrokenOutcome outcome) { return report.count(outcome); }));
  std::string text = table.render(width);
  text += fmt::format("\n{} on {}x{}, seed {}: {:.1f} s, {} at a time.\n",
                      counted(report.tries.size(), "broken program"), report.array, report.array,
                      report.seed, report.seconds, report.jobs);
  for (const TriedProgram& tried : report.tries) {
    if (!must_not_be(tried.outcome) && report.tries.size() != 1) continue;
    text += fmt::format("{}: {}\n", name(tried.outcome), command_of(report, tried));
    text += how_it_ended(tried);
  }
  text += report.holds()
              ? "HELD: both refuse the same, or give the same, and what runs after it is right.\n"
              : "FAILED: the commands above repeat what differed.\n";
  return text;
}

std::string broken_line(const BrokenReport& report) {
  const auto count = [&](BrokenOutcome outcome) { return grouped(report.count(outcome)); };
  return fmt::format(
      "{} with the same result, {} refused alike, {} waited, {} differ, {} spoilt the next",
      count(BrokenOutcome::kSameResult), count(BrokenOutcome::kSameRefusal),
      count(BrokenOutcome::kWaited), count(BrokenOutcome::kDiffers),
      count(BrokenOutcome::kNextWrong));
}

Json to_json(const BrokenReport& report) {
  Json kinds = Json::object();
  for (std::size_t i = 0; i < kProgramKinds; ++i) {
    const auto kind = static_cast<ProgramKind>(i);
    kinds[name(kind)] =
        counts_json([&](BrokenOutcome outcome) { return report.count(kind, outcome); });
  }
  Json tries = Json::array();
  for (const TriedProgram& tried : report.tries) {
    Json entry = {{"program", name(tried.kind)},    {"changes", tried.changes},
                  {"outcome", name(tried.outcome)}, {"rtl", tried.rtl},
                  {"reference", tried.reference},   {"command", command_of(report, tried)}};
    if (!tried.why.empty()) entry["why"] = tried.why;
    tries.push_back(std::move(entry));
  }
  return {{"array", report.array},
          {"seed", report.seed},
          {"first", report.first},
          {"count", report.tries.size()},
          {"held", report.holds()},
          {"outcomes", counts_json([&](BrokenOutcome outcome) { return report.count(outcome); })},
          {"kinds", std::move(kinds)},
          {"seconds", report.seconds},
          {"jobs", report.jobs},
          {"tries", std::move(tries)}};
}

}  // namespace gemm64
