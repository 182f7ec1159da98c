// SPDX-License-Identifier: Apache-2.0
// What options take, and messages that say what would be right.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "host/runtime/setting.hpp"

namespace gemm64 {

/// The largest --seed.
inline constexpr std::int64_t kMaxSeed = 0xffffffff;

/// All are to be given to transform(), not to check(): 010 becomes 10, which CLI11 would read as 8.

/// A whole number from `low` to `high` in decimal digits.
CLI::Validator whole_number(std::int64_t low, std::int64_t high);

/// A number from `low` to `high`, such as 0.25 or 1e-3.
CLI::Validator real_number(double low, double high);

/// One of these words.
CLI::Validator one_of(const std::vector<std::string>& words);
/// A word that the setting takes.
CLI::Validator one_of(const SettingForm& form);

/// One of these words, for an option that is an enumeration.
template <class Enum>
CLI::Validator one_of(const std::map<std::string, Enum>& values);

/// NAME=1x3x224x224, or names of dimensions, batch=1,sequence=128; given several times, as
/// ImportOptions takes them; a name may itself hold "=". Throws UsageError where a text is none, or
/// a name is given twice.
std::map<std::string, std::vector<std::int64_t>> parse_input_shapes(
    const std::vector<std::string>& texts);

/// To be called once all commands stand: no option of theirs takes an empty value, or what looks
/// like an option ("--json --engines").
void refuse_unusable_values(CLI::App& app);

template <class Enum>
CLI::Validator one_of(const std::map<std::string, Enum>& values) {
  std::vector<std::string> words;
  for (const auto& [word, value] : values) words.push_back(word);
  const CLI::Validator check = one_of(words);
  return CLI::Validator(
      [values, check](std::string& text) {
        std::string message = check(text);
        if (message.empty()) {
          text = std::to_string(static_cast<std::underlying_type_t<Enum>>(values.at(text)));
        }
        return message;
      },
      check.get_description());
}

}  // namespace gemm64
