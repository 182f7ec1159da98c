// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/setting.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

bool is_of(SettingForm::Kind kind, const nlohmann::json& value) {
  switch (kind) {
    case SettingForm::Kind::kWord:
      return value.is_string();
    case SettingForm::Kind::kWhole:
      return value.is_number_integer();
    case SettingForm::Kind::kReal:
      return value.is_number();
    default:
      return value.is_boolean();
  }
}

}  // namespace

std::string SettingForm::key() const {
  std::string text = name;
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

bool SettingForm::takes(const std::string& word) const {
  return std::find(words.begin(), words.end(), word) != words.end() || (others && others(word));
}

void SettingForm::check(const nlohmann::json& value, const std::string& where) const {
  const bool fits = is_of(kind, value);
  const std::string dumped = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (kind == Kind::kWord) {
    if (fits && takes(value.get<std::string>())) return;
    std::string known;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const char* const between = i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
      known += fmt::format("{}'{}'", between, words[i]);
    }
    throw UsageError(fmt::format("{}{} is {}; it may be {}", where, key(),
                                 fits ? "'" + value.get<std::string>() + "'" : dumped, known));
  }
  if (fits && kind == Kind::kFlag) return;
  if (fits && value.get<double>() >= low && value.get<double>() <= high) return;
  throw UsageError(fmt::format(
      "{}{} is {}; it may be {}", where, key(), dumped,
      kind == Kind::kFlag ? std::string("true or false")
      : kind == Kind::kWhole
          ? fmt::format("{}from {:.0f} to {:.0f}", fits ? "" : "a whole number ", low, high)
          : fmt::format("from {} to {}", low, high)));
}

}  // namespace gemm64
