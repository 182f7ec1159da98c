// SPDX-License-Identifier: Apache-2.0
// An option, defined once for all its users: command lines, JSON, Python.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gemm64 {

/// What an option is called, what it takes, and what it is for. On a command line it is --name; in
/// JSON and in Python its name has "_" for "-".
struct SettingForm {
  enum class Kind { kWord, kWhole, kReal, kFlag };

  Kind kind = Kind::kWord;
  std::string name;
  std::string help;
  std::vector<std::string> words;  // that a kWord takes
  // Does a kWord take this one, too, such as "dram:lpddr4,clock=800"? Throws UsageError, with the
  // reason, for one of that kind that it refuses. Null: it takes no others.
  std::function<bool(const std::string&)> others;
  double low = 0, high = 0;  // of a number

  std::string key() const;
  /// Throws UsageError where it does not take the value; `where` stands before its key in the
  /// message, as "options.".
  void check(const nlohmann::json& value, const std::string& where) const;
  /// Is it a word that a kWord takes? Throws as `others` does.
  bool takes(const std::string& word) const;
};

/// An option of `Options`, whose initial value is its default.
template <class Options>
struct Setting : SettingForm {
  std::function<nlohmann::ordered_json(const Options&)> get;  // null: not given, and no default
  std::function<void(Options&, const nlohmann::json&)> set;   // of a value that check() lets pass
};

template <class Options>
using Settings = std::vector<Setting<Options>>;

/// The option of that name, or nullptr.
template <class Options>
const Setting<Options>* find_setting(const Settings<Options>& settings, const std::string& name) {
  for (const Setting<Options>& setting : settings) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

/// All that have a value, by key.
template <class Options>
nlohmann::ordered_json to_json(const Settings<Options>& settings, const Options& options) {
  nlohmann::ordered_json json;
  for (const Setting<Options>& setting : settings) {
    const nlohmann::ordered_json value = setting.get(options);
    if (!value.is_null()) json[setting.key()] = value;
  }
  return json;
}

/// Sets those that `json` holds, by key; all else in it is not looked at. Throws UsageError where a
/// value is none that its option takes; `where` is as SettingForm::check() has it.
template <class Options>
void read_settings(const Settings<Options>& settings, const nlohmann::json& json,
                   const std::string& where, Options& options) {
  for (const Setting<Options>& setting : settings) {
    const auto found = json.find(setting.key());
    if (found == json.end()) continue;
    setting.check(*found, where);
    setting.set(options, *found);
  }
}

/// An option that is one of `values`, each of which name() says in a word. `field` gives the place
/// of the value in the options.
template <class Options, class Field, class Value>
Setting<Options> word_setting(std::string name, std::string help,
                              const std::vector<std::pair<std::string, Value>>& values,
                              Field field) {
  Setting<Options> setting;
  setting.name = std::move(name);
  setting.help = std::move(help);
  for (const auto& value : values) setting.words.push_back(value.first);
  setting.get = [values, field](const Options& options) -> nlohmann::ordered_json {
    for (const auto& [word, value] : values) {
      if (field(options) == value) return word;
    }
    return nullptr;
  };
  setting.set = [values, field](Options& options, const nlohmann::json& word) {
    for (const auto& [one, value] : values) {
      if (word == one) field(options) = value;
    }
  };
  return setting;
}

/// An option that is a number from `low` to `high`, or a flag.
template <class Options, class Field>
Setting<Options> plain_setting(std::string name, std::string help, double low, double high,
                               Field field) {
  using Value = std::decay_t<decltype(field(std::declval<Options&>()))>;
  Setting<Options> setting;
  setting.kind = std::is_same_v<Value, bool>       ? SettingForm::Kind::kFlag
                 : std::is_floating_point_v<Value> ? SettingForm::Kind::kReal
                                                   : SettingForm::Kind::kWhole;
  setting.name = std::move(name);
  setting.help = std::move(help);
  setting.low = low;
  setting.high = high;
  setting.get = [field](const Options& options) { return nlohmann::ordered_json(field(options)); };
  setting.set = [field](Options& options, const nlohmann::json& value) {
    value.get_to(field(options));
  };
  return setting;
}

}  // namespace gemm64
