// SPDX-License-Identifier: Apache-2.0
#include "host/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <map>

#include "host/cli/values.hpp"
#include "host/error.hpp"
#include "host/page/page.hpp"
#include "sim/devices.hpp"

namespace gemm64 {
namespace {

/// Save and replay files take the waveform's name with another ending.
void check_waveform_name(const std::string& trace) {
  const std::string extension = std::filesystem::path(trace).extension().string();
  if (extension != ".gtkw" && extension != ".json") return;
  throw UsageError(fmt::format(
      "{}: name the waveform itself, as FILE.fst; .gtkw and .json files are written beside it",
      trace));
}

}  // namespace

RunOptions CommonOptions::run_options() const {
  RunOptions options;
  options.precision = precision;
  options.accumulate = accumulate;
  options.memory = memory;
  return options;
}

void add_device_options(CLI::App& app, NamedDevice& options) {
  std::string names, kinds;
  for (const DeviceKind& kind : devices().kinds()) {
    names += fmt::format("{}{}", names.empty() ? "" : ",", kind.name);
    kinds += fmt::format("{}{}: {}", kinds.empty() ? "" : "; ", kind.name, kind.summary);
  }
  app.add_option("--device", options.device, fmt::format("what runs the work\n{}.", kinds))
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
  app.add_option("--array", options.array,
                 fmt::format("rows and columns of the array: {}",
                             fmt::join(devices().kinds().front().arrays, ", ")))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "seed of weights, random operands and stalls")
      ->transform(whole_number(0, kMaxSeed))
      ->capture_default_str();
  app.add_option("--memory-latency", options.memory.latency,
                 "memory latency in clocks, from request to answer")
      ->transform(whole_number(1, 1000000))
      ->capture_default_str();
  app.add_option("--memory-bytes-per-cycle", options.memory.bytes_per_cycle,
                 "bytes a clock, of each port or of all; 0: a port's width\n"
                 "Of all ports together where they share a memory.")
      ->transform(whole_number(0, 1 << 20))
      ->capture_default_str();
  add_memory_option(app, options.memory.sharing);
  app.add_option("--memory-stalls", options.memory.stall_probability,
                 "probability that a channel stalls in any one clock")
      ->transform(real_number(0, 0.99))
      ->capture_default_str();
}

void add_memory_option(CLI::App& app, MemorySharing& sharing) {
  std::map<std::string, MemorySharing> sharings;
  for (const MemorySharing one :
       {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kExclusive}) {
    sharings[name(one)] = one;
  }
  app.add_option("--memory", sharing,
                 "how ports reach memory (default independent)\n"
                 "independent: each has one of its own; shared: one memory serves all in order; "
                 "exclusive: one port at a time.")
      ->transform(one_of(sharings));
}

void add_common_options(CLI::App& app, CommonOptions& options) {
  add_device_options(app, options);
  const std::map<std::string, Accumulate> places{{"device", Accumulate::kDevice},
                                                 {"host", Accumulate::kHost}};
  app.add_option("--accumulate", options.accumulate,
                 "where partial sums are added (default device)\n"
                 "With host, every tile's results are read back.")
      ->transform(one_of(places));
  app.add_option("--batch", options.batch, "inputs of M rows each that share the weights")
      ->transform(whole_number(1, kMaxSize))
      ->capture_default_str();
  app.add_option("--json", options.json, "writes the report to this file");
  add_page_option(app, options.page);
  app.add_flag("--engines", options.engines, "also prints each engine's clocks by cause");
  add_debug_options(app, options.debug);
}

void add_page_option(CLI::App& app, std::string& page) {
  app.add_option("--report", page, "writes the report, with charts, to this HTML file");
}

std::unique_ptr<Device> make_device(const NamedDevice& options) {
  return devices().find(options.device, options.array).make(options);
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
    files.output("the save file of --trace", save_file_of(options.debug.trace).string());
  }
  if (!devices().find(options.device).is_inspectable()) return;
  const std::filesystem::path failure = failure_waveform(options);
  files.output("the waveform of a failure", failure.string());
  files.output("the save file of a failure", save_file_of(failure).string());
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
