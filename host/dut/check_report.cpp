// SPDX-License-Identifier: Apache-2.0
#include "host/dut/check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64::dut {
namespace {

std::string place(const Failure& failure) {
  std::string text;
  if (failure.tile >= 0) text += fmt::format("tile {}, ", failure.tile);
  if (failure.row >= 0) text += fmt::format("row {}, ", failure.row);
  if (failure.column >= 0) text += fmt::format("column {}, ", failure.column);
  return fmt::format("{}cycle {}", text, failure.cycle);
}

std::string indented(const std::string& text) {
  std::string out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out += "    " + line + "\n";
  return out;
}

/// What two failures have in common that show one defect.
std::string defect_of(const Failure& failure) {
  std::string text = failure.problem + failure.diagnosis;
  if (!failure.diagnosis.empty() && failure.problem == "wrong value") {
    // Values that no defect explains need not be of the same one.
    const bool explained = failure.diagnosis.find(" values differ") == std::string::npos;
    return explained ? text : text + failure.rule;
  }
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }),
             text.end());
  return text;
}

/// In XML, in an attribute or between tags.
std::string xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return out;
}

}  // namespace

std::string failure_text(const Description& description, const Failure& failure) {
  std::string text = fmt::format("{}: {}\n", failure.rule, failure.problem);
  if (!failure.diagnosis.empty()) text += fmt::format("  diagnosis  {}\n", failure.diagnosis);
  if (failure.stimulus.tiles.empty()) return text;
  text += fmt::format("  place      {}\n", place(failure));
  if (!failure.got.empty()) {
    text += fmt::format("  expected   {}, got {}\n", failure.expected, failure.got);
  }
  if (failure.holds_from != 0) {
    text += fmt::format(
        "  holds      if every tile has {} beats or more: if that is the array's "
        "limit, state min_length = {}\n",
        failure.holds_from, failure.holds_from);
  }
  return text + "  smallest input\n" + indented(stimulus_in_words(description, failure.stimulus));
}

nlohmann::ordered_json failure_json(const Description& description, const Failure& failure) {
  return {{"problem", failure.problem},
          {"diagnosis", failure.diagnosis},
          {"tile", failure.tile},
          {"row", failure.row},
          {"column", failure.column},
          {"cycle", failure.cycle},
          {"expected", failure.expected},
          {"got", failure.got},
          {"holds_from", failure.holds_from},
          {"input", stimulus_in_words(description, failure.stimulus)}};
}

double score(const CheckResult& result) {
  return result.tried() == 0
             ? 0
             : 100.0 * static_cast<double>(result.passed()) / static_cast<double>(result.tried());
}

std::string check_text(const Description& description, const CheckResult& result,
                       const std::string& waveform) {
  Table table;
  for (const char* heading : {"rule", "what must hold", "result"}) {
    table.add_column(heading, Align::kLeft);
  }
  for (const RuleResult& rule : result.rules) {
    table.add_row({rule.rule, rule.title,
                   rule.failure           ? "FAILED"
                   : rule.skipped.empty() ? "held, " + counted(rule.cases, "case")
                                          : "not tried: " + rule.skipped});
  }
  std::string text = table.render();
  std::map<std::string, std::string> shown;  // defects, and the rule that shows each
  for (const RuleResult& rule : result.rules) {
    if (!rule.failure) continue;
    const auto [first, is_new] = shown.emplace(defect_of(*rule.failure), rule.rule);
    text += is_new ? "\n" + failure_text(description, *rule.failure)
                   : fmt::format("\n{}: the same as {}\n", rule.rule, first->second);
  }
  if (!waveform.empty()) {
    text += fmt::format("\nwaveform of the first failure: gtkwave {}\n", waveform);
  }
  return text + fmt::format("\n{}: {} of {} rules held.\n",
                            result.passed() == result.tried() ? "VERIFIED" : "NOT VERIFIED",
                            result.passed(), result.tried());
}

nlohmann::ordered_json check_json(const Description& description, const CheckResult& result,
                                  const std::string& waveform) {
  nlohmann::ordered_json json = {{"format", 1},
                                 {"description", description.file},
                                 {"top", description.top},
                                 {"rows", description.rows},
                                 {"columns", description.columns},
                                 {"dataflow", name_of(description.dataflow)},
                                 {"verified", result.passed() == result.tried()},
                                 {"score", score(result)},
                                 {"seconds", result.seconds},
                                 {"rules", nlohmann::ordered_json::array()}};
  if (!waveform.empty()) json["waveform"] = waveform;
  for (const RuleResult& rule : result.rules) {
    nlohmann::ordered_json one = {{"rule", rule.rule},
                                  {"title", rule.title},
                                  {"cases", rule.cases},
                                  {"passed", rule.passed()}};
    if (!rule.skipped.empty()) one["skipped"] = rule.skipped;
    if (rule.failure) one["failure"] = failure_json(description, *rule.failure);
    json["rules"].push_back(one);
  }
  return json;
}

std::string check_junit(const Description& description, const CheckResult& result) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n",
      xml(description.file), result.rules.size(), result.tried() - result.passed(),
      result.rules.size() - result.tried(), result.seconds);
  for (const RuleResult& rule : result.rules) {
    text += fmt::format("  <testcase classname=\"{}\" name=\"{}\">", xml(description.top),
                        xml(rule.rule));
    if (!rule.skipped.empty()) text += fmt::format("<skipped message=\"{}\"/>", xml(rule.skipped));
    if (rule.failure) {
      text += fmt::format("<failure message=\"{}\">{}</failure>", xml(rule.failure->problem),
                          xml(failure_text(description, *rule.failure)));
    }
    text += "</testcase>\n";
  }
  return text + "</testsuite>\n";
}

}  // namespace gemm64::dut
