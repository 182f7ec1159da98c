// SPDX-License-Identifier: Apache-2.0
#include "host/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <utility>

#include "host/cli/values.hpp"
#include "host/report/page/page.hpp"
#include "host/report/progress.hpp"
#include "host/report/run_table.hpp"
#include "host/util/error.hpp"
#include "sim/models/devices.hpp"
#include "sim/waves/save_file.hpp"

namespace gemm64 {
namespace {

/// Save and replay files take the waveform's name with another ending.
void check_waveform_name(const std::string& trace) {
  const std::string extension = std::filesystem::path(trace).extension().string();
  if (extension != ".gtkw" && extension != ".json" && extension != ".ron" && extension != ".sucl") {
    return;
  }
  throw UsageError(
      fmt::format("{}: name the waveform itself, as FILE.fst; {} files are written "
                  "next to it",
                  trace, extension));
}

/// A help text whose first line ends in the default.
std::string with_default(const std::string& help, const std::string& value) {
  const std::size_t end = std::min(help.find('\n'), help.size());
  return fmt::format("{} (default {}){}", help.substr(0, end), value, help.substr(end));
}

}  // namespace

CLI::Option& add_setting(CLI::App& app, const SettingForm& form,
                         const nlohmann::ordered_json& initial,
                         std::function<void(const nlohmann::json&)> set) {
  const std::string flag = "--" + form.name;
  using Kind = SettingForm::Kind;
  if (form.kind == Kind::kFlag) {
    return *app.add_flag_callback(
        flag, [set] { set(true); }, form.help);
  }
  const bool word = form.kind == Kind::kWord;
  const auto take = [set = std::move(set), kind = form.kind](const std::string& text) {
    if (kind == Kind::kWord) set(text);
    if (kind == Kind::kWhole) set(std::stoll(text));
    if (kind == Kind::kReal) set(std::stod(text));
  };
  CLI::Option& option = *app.add_option_function<std::string>(
      flag, take,
      word && !initial.is_null() ? with_default(form.help, initial.get<std::string>()) : form.help);
  if (word) {
    option.check(one_of(form));
    if (form.words.empty()) {
      option.type_name("KEY=N,...");
      option.get_validator(0)->description("");
    }
  } else {
    const bool whole = form.kind == Kind::kWhole;
    option.type_name(whole ? "UINT" : "FLOAT")
        ->transform(whole ? whole_number(static_cast<std::int64_t>(form.low),
                                         static_cast<std::int64_t>(form.high))
                          : real_number(form.low, form.high))
        ->default_str(whole ? initial.dump() : fmt::format("{}", initial.get<double>()));
  }
  if (form.name == "array") {  // the arrays that there are say more than the setting's range
    option.description(
        fmt::format("{}: {}", form.help, fmt::join(devices().kinds().front().arrays, ", ")));
    option.get_validator(0)->description("");
  }
  return option;
}

void add_device_options(CLI::App& app, NamedDevice& options) {
  std::string names, kinds;
  for (const DeviceKind& kind : devices().kinds()) {
    names += fmt::format("{}{}", names.empty() ? "" : ",", kind.name);
    kinds += fmt::format("{}{}: {}", kinds.empty() ? "" : "; ", kind.name, kind.summary);
  }
  app.add_option("--device", options.device,
                 fmt::format("backend that executes the work\n{}.", kinds))
      ->check(CLI::Validator(
          [](std::string& name) {
            try {
              devices().find(name);
            } catch (const UsageError& error) {
              return std::string(error.what());
            }
            return std::string();
          },
          fmt::format("{{{}}}", names)))
      ->capture_default_str();
  for (const Setting<DeviceOptions>& setting : device_settings()) {
    add_setting(app, device_settings(), setting.name.c_str(), options);
  }
}

void add_common_options(CLI::App& app, CommonOptions& options) {
  add_device_options(app, options);
  add_setting(app, run_settings(), "accumulate", options);
  app.add_option("--batch", options.batch, "inputs of M rows each that share the weights")
      ->transform(whole_number(1, kMaxSize))
      ->capture_default_str();
  app.add_option("--json", options.json, "writes the report to this file");
  add_page_option(app, options.page);
  app.add_flag("--engines", options.engines, "also prints each engine's cycles by cause");
  CLI::Option* const columns = app.add_option("--columns", options.view.columns,
                                              "columns of the table: some, with commas, or all\n"
                                              "Columns: " +
                                                  run_column_keys() + ".");
  app.add_flag_callback(
         "--wide", [&options] { options.view.columns = "all"; },
         "all columns of the table, as --columns all")
      ->excludes(columns);
  CLI::Option* const explain = app.add_flag("--explain", options.view.explain,
                                            "also prints what was compared, and what the host did");
  app.add_flag("--quiet", options.view.quiet, "prints a line only, and what did not hold")
      ->excludes(columns)
      ->excludes(explain);
  add_progress_option(app);
  add_debug_options(app, options.debug);
}

void add_progress_option(CLI::App& app) {
  app.add_flag_callback("--progress", ProgressBar::print_lines,
                        "prints a line per 10 % of the work where there is no terminal");
}

void add_page_option(CLI::App& app, std::string& page, const std::string& names) {
  app.add_option(names, page, "writes the report, with charts, to this HTML file");
}

std::unique_ptr<Device> make_device(const NamedDevice& options) {
  return devices().find(options.device, options).make(options);
}

void claim_views(ClaimedFiles& files, const std::string& save_file) {
  files.output("the save file of a waveform", save_file);
  files.output("Surfer's state file", surfer_state_of(save_file));
  files.output("Surfer's command file", surfer_commands_of(save_file));
}

void claim_outputs(ClaimedFiles& files, const CommonOptions& options) {
  check_waveform_name(options.debug.trace);
  check_waveform_name(options.debug.trace_mismatch);
  need_charts("--report", options.page);
  files.output("--json", options.json);
  files.output("--report", options.page);
  files.output("--timeline", options.debug.timeline);
  if (!options.debug.trace.empty()) {
    files.output("--trace", options.debug.trace);
    claim_views(files, save_file_of(options.debug.trace).string());
  }
  if (!devices().find(options.device).is_inspectable()) return;
  const std::filesystem::path failure = failure_waveform(options);
  files.output("the waveform of a failure", failure.string());
  claim_views(files, save_file_of(failure).string());
  if (!options.replay)
    files.output("the replay file of a failure", replay_file_of(failure).string());
}

void claim_external_data(ClaimedFiles& files, const OnnxModel& model) {
  for (const std::string& file : model.external_files()) {
    files.input("the model's external data,", file);
  }
}

std::filesystem::path failure_waveform(const CommonOptions& options) {
  return options.debug.trace_mismatch.empty() ? "failure.fst" : options.debug.trace_mismatch;
}

std::filesystem::path save_file_of(const std::filesystem::path& waveform) {
  return std::filesystem::path(waveform).replace_extension(".gtkw");
}

std::filesystem::path replay_file_of(const std::filesystem::path& waveform) {
  return std::filesystem::path(waveform).replace_extension(".json");
}

unsigned jobs_or_cores(unsigned jobs) {
  if (jobs != 0) return jobs;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return static_cast<unsigned>(std::max(CPU_COUNT(&cores), 1));
}

std::unique_ptr<OutputFile> open_output(const std::string& path) {
  return path.empty() ? nullptr : std::make_unique<OutputFile>(path);
}

}  // namespace gemm64
