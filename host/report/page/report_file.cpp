// SPDX-License-Identifier: Apache-2.0
#include "host/report/page/report_file.hpp"

#include <fmt/format.h>

#include "host/report/json.hpp"
#include "host/util/error.hpp"
#include "host/util/input_file.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
constexpr int kMostLevels = 32;

/// What is wrong, where; thrown inside this file only.
struct Wrong {
  std::string text;
};

Json parse(const std::string& text) {
  const Json::parser_callback_t shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kMostLevels)
      throw Wrong{fmt::format("it nests more than {} levels deep", kMostLevels)};
    return true;
  };
  try {
    return Json::parse(text, shallow);
  } catch (const Json::parse_error& error) {
    throw Wrong{
        fmt::format("this is no JSON (byte {}); give a report that --json wrote", error.byte)};
  } catch (const Json::exception&) {
    throw Wrong{
        "this is no JSON, for a number in it is too large; give a report that --json wrote"};
  }
}

/// The field, if it is there and not null; it must be of the kind.
const Json* field(const Json& object, const std::string& where, const char* name,
                  bool (Json::*is)() const noexcept, const char* kind) {
  const auto at = object.find(name);
  if (at == object.end() || at->is_null()) return nullptr;
  if (!((*at).*is)()) throw Wrong{fmt::format("{}{} is not {}", where, name, kind)};
  return &*at;
}

void check_counts(const Json& object, const std::string& where) {
  for (const auto& [name, value] : object.items()) {
    if (!value.is_number_unsigned())
      throw Wrong{fmt::format("{}.{} is not a whole number", where, name)};
  }
}

void check_layer(const Json& layer, const std::string& where) {
  if (!layer.is_object()) throw Wrong{where + " is not an object"};
  const std::string inside = where + ".";
  if (field(layer, inside, "name", &Json::is_string, "text") == nullptr)
    throw Wrong{where + " has no name"};
  field(layer, inside, "cycles", &Json::is_number_unsigned, "a whole number");
  for (const char* counters : {"counters", "predicted_counters"}) {
    const Json* const engines = field(layer, inside, counters, &Json::is_object, "an object");
    if (engines == nullptr) continue;
    for (const auto& [engine, causes] : engines->items()) {
      if (!causes.is_object())
        throw Wrong{fmt::format("{}{}.{} is not an object", inside, counters, engine)};
      check_counts(causes, fmt::format("{}{}.{}", inside, counters, engine));
    }
  }
  if (const Json* const bytes = field(layer, inside, "bytes", &Json::is_object, "an object")) {
    check_counts(*bytes, inside + "bytes");
  }
  if (const Json* const array = field(layer, inside, "array", &Json::is_object, "an object")) {
    field(*array, inside + "array.", "clocks", &Json::is_number_unsigned, "a whole number");
    if (const Json* const bytes =
            field(*array, inside + "array.", "bytes", &Json::is_object, "an object")) {
      check_counts(*bytes, inside + "array.bytes");
    }
  }
}

void check(const Json& report) {
  constexpr const char* kNone =
      "this is no report of gemm64; give one that --json of run, gemm or analyze wrote";
  if (!report.is_object()) throw Wrong{kNone};
  // Those of before it was counted have no number.
  if (const Json* const format =
          field(report, "", "format", &Json::is_number_unsigned, "a whole number")) {
    if (*format != kReportFormat) {
      throw Wrong{fmt::format(
          "a report of format {}; this program reads format {}, so write it again with --json",
          format->get<std::uint64_t>(), kReportFormat)};
    }
  }
  if (!report.contains("model") || !report.contains("total") || !report.contains("array"))
    throw Wrong{kNone};
  field(report, "", "model", &Json::is_string, "text");
  field(report, "", "total", &Json::is_object, "an object");
  const Json& array = report.at("array");
  if (!array.is_number_unsigned() && !array.is_object())
    throw Wrong{"array is neither a whole number nor an object"};
  const Json* const layers = field(report, "", "layers", &Json::is_array, "an array");
  if (layers == nullptr) throw Wrong{kNone};
  for (std::size_t i = 0; i < layers->size(); ++i)
    check_layer((*layers)[i], fmt::format("layers[{}]", i));
}

}  // namespace

Json read_report(const std::string& path) {
  InputFile file(path);
  try {
    Json report = parse(file.read_rest(kMostBytes));
    check(report);
    return report;
  } catch (const Wrong& wrong) {
    throw UsageError(fmt::format("{}: {}", file.name(), wrong.text));
  }
}

bool is_analysis(const Json& report) { return report.at("array").is_object(); }

}  // namespace gemm64
