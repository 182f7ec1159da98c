// SPDX-License-Identifier: Apache-2.0
#include "host/faults/campaign_report.hpp"

#include <fmt/format.h>

#include <vector>

#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

struct Ending {
  FaultOutcome outcome;
  const char* heading;
};
constexpr Ending kEndings[kFaultOutcomes] = {
    {FaultOutcome::kMasked, "masked"},
    {FaultOutcome::kWrongSums, "found by the\nhost: results"},
    {FaultOutcome::kWrongCounters, "found by the\nhost: counters"},
    {FaultOutcome::kDeviceError, "found by\nthe device"},
    {FaultOutcome::kRunAgain, "run\nagain"},
    {FaultOutcome::kStopped, "stopped\nelsewhere"},
    {FaultOutcome::kHung, "hung"},
    {FaultOutcome::kUnnoticed, "unnoticed"}};

/// Those that a try of the campaign can come to.
std::vector<Ending> endings_of(const CampaignReport& report) {
  std::vector<Ending> endings;
  for (const Ending& ending : kEndings) {
    if (report.self_check || ending.outcome != FaultOutcome::kRunAgain) endings.push_back(ending);
  }
  return endings;
}

using Kind = std::optional<Fault::Kind>;

std::uint64_t tries_of(const CampaignReport& report, FaultPrograms program, Kind kind = {}) {
  std::uint64_t tries = 0;
  for (const Ending& ending : endings_of(report)) {
    tries += report.count(program, kind, ending.outcome);
  }
  return tries;
}

/// The programs of a campaign, those of which none was tried left out.
std::vector<FaultProgram> programs_of(const CampaignReport& report) {
  std::vector<FaultProgram> programs;
  for (std::size_t i = 0; i < kFaultPrograms; ++i) {
    const auto program = static_cast<FaultProgram>(i);
    if (!report.programs || *report.programs == program) programs.push_back(program);
  }
  return programs;
}

/// A row: how many came to each end, all of them, and those diagnosed elsewhere.
std::vector<std::string> row(const std::string& name, const CampaignReport& report,
                             FaultPrograms program = {}, Kind kind = {}) {
  std::vector<std::string> cells{name, grouped(tries_of(report, program, kind))};
  for (const Ending& ending : endings_of(report)) {
    cells.push_back(grouped(report.count(program, kind, ending.outcome)));
  }
  cells.push_back(grouped(report.misdiagnosed(program, kind)));
  return cells;
}

/// What the device found in itself, of those faults that matter to one that does not look.
void add_self_found(const CampaignReport& report, std::size_t width, std::string& text) {
  Table table;
  table.add_column("faults that matter to a device without checks", Align::kLeft);
  for (const char* heading : {"found,\nrun again", "stopped with\nanother error", "not by\nitself",
                              "cycles:\nmedian", "\nmost"}) {
    table.add_column(heading);
  }
  const auto add = [&](const std::string& what, FaultPrograms program, Kind kind) {
    const SelfFound found = report.self_found(program, kind);
    if (found.matter == 0) return;
    const bool any = found.again != 0;
    table.add_row({fmt::format("{}: {}", what, grouped(found.matter)), grouped(found.again),
                   grouped(found.error), grouped(found.matter - found.again - found.error),
                   any ? grouped(found.median) : "–", any ? grouped(found.most) : "–"});
  };
  for (const FaultProgram program : programs_of(report)) {
    if (tries_of(report, program) == 0) continue;
    for (const Fault::Kind kind : kinds_of(program, report.flips)) {
      add(fmt::format("{}: {}", name(program), name(kind)), program, kind);
    }
    table.add_rule();
  }
  add("all", {}, {});
  text += "\n" + table.render(width);
}

Json self_found_json(const SelfFound& found) {
  return {{"matter", found.matter},
          {"run_again", found.again},
          {"device_error", found.error},
          {"median_clocks", found.median},
          {"most_clocks", found.most}};
}

Json counts_json(const CampaignReport& report, FaultPrograms program = {}, Kind kind = {}) {
  Json json = Json::object();
  for (const Ending& ending : endings_of(report)) {
    json[name(ending.outcome)] = report.count(program, kind, ending.outcome);
  }
  return json;
}

/// Must it not be?
bool is_bad(const TriedFault& tried) {
  return tried.outcome == FaultOutcome::kHung || tried.outcome == FaultOutcome::kUnnoticed ||
         tried.misdiagnosed;
}

/// As --inject takes them.
std::string faults_text(const FaultTry& fault_try) {
  std::string text = to_string(fault_try.fault);
  if (fault_try.second) text += " and " + to_string(*fault_try.second);
  return text;
}

double per_second(const CampaignReport& report) {
  return report.seconds > 0 ? static_cast<double>(report.tries.size()) / report.seconds : 0;
}

}  // namespace

std::string campaign_table(const CampaignReport& report, std::size_t width) {
  Table table;
  table.add_column("program: fault", Align::kLeft);
  table.add_column("tries");
  for (const Ending& ending : endings_of(report)) table.add_column(ending.heading);
  table.add_column("wrong\ndiagnosis");
  for (const FaultProgram program : programs_of(report)) {
    if (tries_of(report, program) == 0) continue;
    for (const Fault::Kind kind : kinds_of(program, report.flips)) {
      if (tries_of(report, program, kind) == 0) continue;
      table.add_row(row(fmt::format("{}: {}", name(program), name(kind)), report, program, kind));
    }
    table.add_rule();
  }
  table.add_row(row("all", report));
  std::string text = table.render(width);
  if (report.self_check) add_self_found(report, width, text);
  text += fmt::format("\n{}{} on {}x{}, seed {}: {:.1f} s, {:.1f} faults/s, {} at a time.\n",
                      counted(report.tries.size(), "fault"),
                      report.flips == 2 ? " of two bits" : "", report.array, report.array,
                      report.seed, report.seconds, per_second(report), report.jobs);
  const bool single = report.tries.size() == 1;
  for (const TriedFault& tried : report.tries) {
    if (!is_bad(tried) && !single) continue;
    text += fmt::format(
        "{}: {}, {}: {}\n", tried.misdiagnosed ? "misdiagnosed" : name(tried.outcome),
        name(tried.fault_try.program), faults_text(tried.fault_try), command_of(tried.fault_try));
    if (!single) continue;
    if (!tried.error.empty()) text += tried.error + "\n";
    text += tried.diagnosis;
  }
  text +=
      report.holds()
          ? "HELD: no fault hung, none that changed a result went unnoticed, and each diagnosis "
            "found its place.\n"
          : "FAILED: faults hung, went unnoticed or were diagnosed elsewhere; the commands above "
            "repeat them.\n";
  return text;
}

std::string campaign_line(const CampaignReport& report) {
  const std::uint64_t found =
      report.count(FaultOutcome::kWrongSums) + report.count(FaultOutcome::kWrongCounters);
  const std::string again =
      report.self_check
          ? fmt::format(" (and run again: {})", grouped(report.count(FaultOutcome::kRunAgain)))
          : "";
  return fmt::format(
      "{} masked, {} found by the host, {} by the device{}, {} stopped elsewhere, {} hung, {} "
      "unnoticed",
      grouped(report.count(FaultOutcome::kMasked)), grouped(found),
      grouped(report.count(FaultOutcome::kDeviceError)), again,
      grouped(report.count(FaultOutcome::kStopped)), grouped(report.count(FaultOutcome::kHung)),
      grouped(report.count(FaultOutcome::kUnnoticed)));
}

Json to_json(const CampaignReport& report) {
  Json kinds = Json::object(), programs = Json::object();
  for (const FaultProgram program : programs_of(report)) {
    Json own = {{"outcomes", counts_json(report, program)},
                {"misdiagnosed", report.misdiagnosed(program)},
                {"kinds", Json::object()}};
    for (const Fault::Kind kind : kinds_of(program, report.flips)) {
      own["kinds"][name(kind)] = counts_json(report, program, kind);
      if (report.self_check) {
        own["self_found"][name(kind)] = self_found_json(report.self_found(program, kind));
      }
      kinds[name(kind)] = counts_json(report, {}, kind);
    }
    programs[name(program)] = std::move(own);
  }
  Json tries = Json::array();
  for (const TriedFault& tried : report.tries) {
    Json entry = {{"index", tried.fault_try.index},
                  {"program", name(tried.fault_try.program)},
                  {"fault", faults_text(tried.fault_try)},
                  {"outcome", name(tried.outcome)},
                  {"command", command_of(tried.fault_try)}};
    if (report.self_check) entry["matters"] = tried.matters;
    if (tried.outcome == FaultOutcome::kRunAgain) entry["found_after"] = tried.found_after;
    if (!tried.error.empty()) entry["error"] = tried.error;
    if (!tried.diagnosis.empty()) {
      entry["diagnosis"] = tried.diagnosis;
      entry["misdiagnosed"] = tried.misdiagnosed;
    }
    tries.push_back(std::move(entry));
  }
  return {{"array", report.array},
          {"seed", report.seed},
          {"flips", report.flips},
          {"count", report.tries.size()},
          {"held", report.holds()},
          {"outcomes", counts_json(report)},
          {"misdiagnosed", report.misdiagnosed()},
          {"kinds", std::move(kinds)},
          {"programs", std::move(programs)},
          {"seconds", report.seconds},
          {"faults_per_second", per_second(report)},
          {"jobs", report.jobs},
          {"tries", std::move(tries)}};
}

}  // namespace gemm64
