// SPDX-License-Identifier: Apache-2.0
#include "host/ep/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "host/util/error.hpp"
#include "host/util/text.hpp"
#include "sim/models/devices.hpp"

namespace gemm64::ep {
namespace {

using Json = nlohmann::json;

/// An option that is any text.
Setting<ProviderSettings> text_setting(std::string name,
                                       std::function<void(ProviderSettings&, std::string)> set) {
  Setting<ProviderSettings> setting;
  setting.name = std::move(name);
  setting.set = [set = std::move(set)](ProviderSettings& of, const Json& value) {
    set(of, value.get<std::string>());
  };
  return setting;
}

void add_faults(ProviderSettings& of, const std::string& text) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    of.faults.push_back(parse_fault(text.substr(begin, end - begin)));
    begin = end + 1;
  }
}

const Settings<ProviderSettings>& provider_settings() {
  using Row = ProviderSettings;
  static const Settings<Row> settings{
      text_setting("device", [](Row& of, std::string text) { of.device = std::move(text); }),
      text_setting("report", [](Row& of, std::string text) { of.report = std::move(text); }),
      text_setting("trace", [](Row& of, std::string text) { of.trace = std::move(text); }),
      text_setting("trace-window",
                   [](Row& of, std::string text) { of.trace_window = std::move(text); }),
      text_setting("inject", [](Row& of, const std::string& text) { add_faults(of, text); }),
      plain_setting<Row>(
          "watchdog", "", 1, 0xffffffffU, [](auto& of) -> auto& { return of.watchdog; }),
      plain_setting<Row>(
          "progress", "", 0, 1, [](auto& of) -> auto& { return of.progress; })};
  return settings;
}

template <class Number>
Json number_in(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return text;
  return number;
}

/// A text as the option's kind of value; left as it is where it is none, which check() reports.
Json to_value(const SettingForm& form, const std::string& text) {
  switch (form.kind) {
    case SettingForm::Kind::kWhole:
      return number_in<std::int64_t>(text);
    case SettingForm::Kind::kReal:
      return number_in<double>(text);
    case SettingForm::Kind::kFlag:
      if (text == "true" || text == "True" || text == "1") return true;
      if (text == "false" || text == "False" || text == "0") return false;
      return text;
    default:
      return text;
  }
}

/// Sets the option of that key, if these settings have it.
template <class Base>
bool set(const Settings<Base>& settings, const std::string& key, const std::string& text,
         Base& options) {
  for (const Setting<Base>& setting : settings) {
    if (setting.key() != key && setting.name != key) continue;
    const Json value = to_value(setting, text);
    const bool is_text =
        setting.kind == SettingForm::Kind::kWord && setting.words.empty() && !setting.others;
    if (!is_text) setting.check(value, std::string(kProviderName) + ": option ");
    setting.set(options, value);
    return true;
  }
  return false;
}

template <class Base>
void add_keys(const Settings<Base>& settings, std::vector<std::string>& keys) {
  for (const Setting<Base>& setting : settings) keys.push_back(setting.key());
}

[[noreturn]] void refuse_key(const std::string& key) {
  std::vector<std::string> keys;
  add_keys(provider_settings(), keys);
  add_keys(device_settings(), keys);
  add_keys(run_settings(), keys);
  std::sort(keys.begin(), keys.end());
  std::string list;
  for (const std::string& one : keys) list += (list.empty() ? "" : ", ") + one;
  throw UsageError(fmt::format("{} has no option '{}'; its options are {}", kProviderName,
                               printable(key), list));
}

}  // namespace

ProviderOptions parse_options(const std::vector<std::pair<std::string, std::string>>& given) {
  ProviderOptions options;
  for (const auto& [key, text] : given) {
    if (!set<ProviderSettings>(provider_settings(), key, text, options) &&
        !set<DeviceOptions>(device_settings(), key, text, options) &&
        !set<RunSettings>(run_settings(), key, text, options)) {
      refuse_key(key);
    }
  }
  const auto need_signals = [&](bool is_given, const char* option) {
    if (is_given) devices().find_inspectable(options.device, option);
  };
  devices().find(options.device, options);
  need_signals(!options.trace.empty(), "option trace");
  need_signals(!options.faults.empty(), "option inject");
  if (!options.trace_window.empty() && options.trace.empty()) {
    throw UsageError("option trace_window needs option trace");
  }
  for (const Fault& fault : options.faults) check_fault(fault, options.geometry());
  if (options.is_host_only(options.device)) {
    throw UsageError(
        "device 'reference' with precision 'float32' leaves the device nothing; use another "
        "device, "
        "or precision 'file'");
  }
  options.check_together(options.device, Spelling::kArgument);
  return options;
}

}  // namespace gemm64::ep
