// SPDX-License-Identifier: Apache-2.0
// Options that `run` and `gemm` share, and the devices that they name.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "host/cli/debug_options.hpp"
#include "host/device/registry.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/report/report_view.hpp"
#include "host/runtime/run_settings.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/output_file.hpp"

namespace gemm64 {

/// An option as its form says; `set` takes what is given, `initial` is there without. The form is
/// not owned.
CLI::Option& add_setting(CLI::App& app, const SettingForm& form,
                         const nlohmann::ordered_json& initial,
                         std::function<void(const nlohmann::json&)> set);

/// The largest M, K, N and batch.
inline constexpr std::int64_t kMaxSize = std::int64_t{1} << 31;

/// A device by name.
struct NamedDevice : DeviceOptions {
  std::string device = "rtl";
};

/// Runs one job of a run by itself, beginning in the cycle in which it did then.
struct Replay {
  std::size_t job = 0;  // counted from 0
  std::uint64_t first_clock = 0;
};

struct CommonOptions : NamedDevice, RunSettings {
  std::int64_t batch = 1;
  std::string json;
  std::string page;  // --report
  bool engines = false;
  ReportView view;
  DebugOptions debug;
  std::optional<Replay> replay;
};

/// The option of a command line that is called `name` in `settings`.
template <class Options, class Base>
CLI::Option& add_setting(CLI::App& app, const Settings<Base>& settings, const char* name,
                         Options& options) {
  const Setting<Base>& setting = *find_setting(settings, name);
  Base& base = options;
  return add_setting(app, setting, setting.get(base),
                     [&setting, &base](const nlohmann::json& value) { setting.set(base, value); });
}

void add_device_options(CLI::App& app, NamedDevice& options);
void add_common_options(CLI::App& app, CommonOptions& options);
/// --progress, of commands with a ProgressBar.
void add_progress_option(CLI::App& app);
/// --report FILE.html.
void add_page_option(CLI::App& app, std::string& page, const std::string& names = "--report");

/// Builds the device that the options name. Throws UsageError where it has no such array.
std::unique_ptr<Device> make_device(const NamedDevice& options);

/// Claims the outputs of `options`, those next to a waveform too. Throws UsageError where one is an
/// input or another output of the command.
void claim_outputs(ClaimedFiles& files, const CommonOptions& options);

/// Claims the files that hold the model's external data. Throws UsageError where one is an output.
void claim_external_data(ClaimedFiles& files, const OnnxModel& model);

/// The waveform of a failure that `options` ask for, or "failure.fst".
std::filesystem::path failure_waveform(const CommonOptions& options);
/// The save file next to a waveform, and the file that `replay` reads.
std::filesystem::path save_file_of(const std::filesystem::path& waveform);
/// The files with which GTKWave and Surfer show a waveform.
void claim_views(ClaimedFiles& files, const std::string& save_file);
std::filesystem::path replay_file_of(const std::filesystem::path& waveform);

/// `jobs` in parallel; where that is 0, as many as cores that this process may use.
unsigned jobs_or_cores(unsigned jobs);

/// An output file, opened at once; nothing where it was not asked for.
std::unique_ptr<OutputFile> open_output(const std::string& path);

}  // namespace gemm64
