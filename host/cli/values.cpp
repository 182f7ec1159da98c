// SPDX-License-Identifier: Apache-2.0
#include "host/cli/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

/// "NAME=1x3x224x224"; the name may itself hold "=". `whole`: the text that it is a part of.
std::pair<std::string, std::vector<std::int64_t>> parse_shape(const std::string& text,
                                                              const std::string& whole) {
  const auto fail = [&whole] {
    return UsageError(
        fmt::format("--input-shape {}: give NAME=AxBxC, or sizes by their names, NAME=A,NAME=B, "
                    "of at least 1",
                    whole));
  };
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) throw fail();
  std::vector<std::int64_t> dims;
  const char* at = text.data() + equals + 1;
  const char* const end = text.data() + text.size();
  while (true) {
    std::int64_t dim = 0;
    const auto [next, error] = std::from_chars(at, end, dim);
    if (error != std::errc() || dim < 1) throw fail();
    dims.push_back(dim);
    if (next == end) break;
    if (*next != 'x') throw fail();
    at = next + 1;
  }
  return {text.substr(0, equals), dims};
}

/// What stands between commas, where each of these parts is NAME=...; otherwise the whole text.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    if (parts.back().find('=') == std::string::npos) return {text};
    begin = end + 1;
  }
  return parts;
}

}  // namespace

CLI::Validator whole_number(std::int64_t low, std::int64_t high) {
  return CLI::Validator(
      [low, high](std::string& text) -> std::string {
        std::int64_t value = 0;
        const char* const end = text.data() + text.size();
        const auto [next, error] = std::from_chars(text.data(), end, value);
        const bool whole = next == end && error != std::errc::invalid_argument;
        if (whole && error == std::errc() && value >= low && value <= high) {
          text = std::to_string(value);
          return "";
        }
        return whole
                   ? fmt::format("{} is out of range; give a number from {} to {}", text, low, high)
                   : fmt::format("'{}' is not a whole number; give one from {} to {}, in digits",
                                 text, low, high);
      },
      fmt::format("{}..{}", low, high));
}

CLI::Validator real_number(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) -> std::string {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool number = !text.empty() && *end == '\0' && std::isfinite(value) &&
                            text.find_first_of("xX ") == std::string::npos;
        if (number && value >= low && value <= high) return "";
        return number
                   ? fmt::format("{} is out of range; give a number from {} to {}", text, low, high)
                   : fmt::format("'{}' is not a number; give one from {} to {}", text, low, high);
      },
      fmt::format("{}..{}", low, high));
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::Validator(
      [words](std::string& text) -> std::string {
        if (std::find(words.begin(), words.end(), text) != words.end()) return "";
        return fmt::format("'{}' is unknown; use one of {}", text, fmt::join(words, ", "));
      },
      fmt::format("{{{}}}", fmt::join(words, ",")));
}

CLI::Validator one_of(const SettingForm& form) {
  const CLI::Validator listed = one_of(form.words);
  if (!form.others) return listed;
  return CLI::Validator(
      [form, listed](std::string& text) -> std::string {
        try {
          return form.takes(text) ? "" : listed(text);
        } catch (const UsageError& error) {
          return error.what();
        }
      },
      listed.get_description());
}

std::map<std::string, std::vector<std::int64_t>> parse_input_shapes(
    const std::vector<std::string>& texts) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const std::string& text : texts) {
    for (const std::string& part : parts_of(text)) {
      auto [name, dims] = parse_shape(part, text);
      if (!shapes.emplace(name, dims).second) {
        throw UsageError(fmt::format("--input-shape {}: '{}' is given twice", text, name));
      }
    }
  }
  return shapes;
}

void refuse_unusable_values(CLI::App& app) {
  const CLI::Validator usable(
      [](std::string& text) -> std::string {
        if (text.empty()) return "the value is empty; leave the option out, or give one";
        const bool option = text.size() > 1 && text[0] == '-' &&
                            std::string("0123456789.").find(text[1]) == std::string::npos;
        if (!option) return "";
        return fmt::format("'{}' is an option, not a value; a file of that name is ./{}", text,
                           text);
      },
      "");
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() > 0) option->check(usable);
    }
    refuse_unusable_values(*command);
  }
}

}  // namespace gemm64
