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
    FaultOutcome::kMasked,      FaultOutcome::kWrongSums, FaultOutcome::kWrongCounters,
    FaultOutcome::kDeviceError, FaultOutcome::kStopped,   FaultOutcome::kHung,
    FaultOutcome::kUnnoticed};
constexpr const char* kHeadings[kFaultOutcomes] = {"masked",
                                                   "found by the\nhost: results",
                                                   "found by the\nhost: counters",
                                                   "found by\nthe device",
                                                   "stopped\nelsewhere",
                                                   "hung",
                                                   "unnoticed"};

using Kind = std::optional<Fault::Kind>;

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
  std::vector<std::string> cells{name, ""};
  std::uint64_t all = 0;
  for (const FaultOutcome outcome : kOutcomes) {
    const std::uint64_t n = report.count(program, kind, outcome);
    all += n;
    cells.push_back(grouped(n));
  }
  cells[1] = grouped(all);
  cells.push_back(grouped(report.misdiagnosed(program, kind)));
  return cells;
}

Json counts_json(const CampaignReport& report, FaultPrograms program = {}, Kind kind = {}) {
  Json json = Json::object();
  for (const FaultOutcome outcome : kOutcomes) {
    json[name(outcome)] = report.count(program, kind, outcome);
  }
  return json;
}

/// Must it not be?
bool is_bad(const TriedFault& tried) {
  return tried.outcome == FaultOutcome::kHung || tried.outcome == FaultOutcome::kUnnoticed ||
         tried.misdiagnosed;
}

double per_second(const CampaignReport& report) {
  return report.seconds > 0 ? static_cast<double>(report.tries.size()) / report.seconds : 0;
}

}  // namespace

std::string campaign_table(const CampaignReport& report, std::size_t width) {
  Table table;
  table.add_column("program: fault", Align::kLeft);
  table.add_column("tries");
  for (const char* heading : kHeadings) table.add_column(heading);
  table.add_column("wrong\ndiagnosis");
  for (const FaultProgram program : programs_of(report)) {
    for (const Fault::Kind kind : kinds_of(program)) {
      table.add_row(row(fmt::format("{}: {}", name(program), name(kind)), report, program, kind));
    }
    table.add_rule();
  }
  table.add_row(row("all", report));
  std::string text = table.render(width);
  text += fmt::format("\n{} on {}x{}, seed {}: {:.1f} s, {:.1f} faults/s, {} at a time.\n",
                      counted(report.tries.size(), "fault"), report.array, report.array,
                      report.seed, report.seconds, per_second(report), report.jobs);
  const bool alone = report.tries.size() == 1;
  for (const TriedFault& tried : report.tries) {
    if (!is_bad(tried) && !alone) continue;
    text +=
        fmt::format("{}: {}, {}: {}\n", tried.misdiagnosed ? "misdiagnosed" : name(tried.outcome),
                    name(tried.fault_try.program), to_string(tried.fault_try.fault),
                    command_of(tried.fault_try));
    if (!alone) continue;
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
  return fmt::format(
      "{} masked, {} found by the host, {} by the device, {} stopped elsewhere, {} hung, {} "
      "unnoticed",
      grouped(report.count(FaultOutcome::kMasked)), grouped(found),
      grouped(report.count(FaultOutcome::kDeviceError)),
      grouped(report.count(FaultOutcome::kStopped)), grouped(report.count(FaultOutcome::kHung)),
      grouped(report.count(FaultOutcome::kUnnoticed)));
}

Json to_json(const CampaignReport& report) {
  Json kinds = Json::object(), programs = Json::object();
  for (const FaultProgram program : programs_of(report)) {
    Json own = {{"outcomes", counts_json(report, program)},
                {"misdiagnosed", report.misdiagnosed(program)},
                {"kinds", Json::object()}};
    for (const Fault::Kind kind : kinds_of(program)) {
      own["kinds"][name(kind)] = counts_json(report, program, kind);
      kinds[name(kind)] = counts_json(report, {}, kind);
    }
    programs[name(program)] = std::move(own);
  }
  Json tries = Json::array();
  for (const TriedFault& tried : report.tries) {
    Json entry = {{"index", tried.fault_try.index},
                  {"program", name(tried.fault_try.program)},
                  {"fault", to_string(tried.fault_try.fault)},
                  {"outcome", name(tried.outcome)},
                  {"command", command_of(tried.fault_try)}};
    if (!tried.error.empty()) entry["error"] = tried.error;
    if (!tried.diagnosis.empty()) {
      entry["diagnosis"] = tried.diagnosis;
      entry["misdiagnosed"] = tried.misdiagnosed;
    }
    tries.push_back(std::move(entry));
  }
  return {{"array", report.array},
          {"seed", report.seed},
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
