// SPDX-License-Identifier: Apache-2.0
#include "host/cli/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <utility>

#include "host/device/reference_device.hpp"
#include "host/error.hpp"
#include "host/report/json.hpp"
#include "host/report/progress.hpp"
#include "host/report/run_table.hpp"
#include "sim/rtl_device.hpp"

namespace gemm64 {
namespace {

/// "A:B" as two clocks; B may be left out.
std::pair<std::uint64_t, std::uint64_t> parse_window(const std::string& text) {
  const auto fail = [&text](const char* what) {
    return UsageError(
        fmt::format("--trace-window {}: {}; give clocks as A:B with A < B", text, what));
  };
  const auto number = [&](std::string_view part) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size()) throw fail("not two numbers");
    return value;
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw fail("no colon");
  const std::uint64_t begin = number(std::string_view(text).substr(0, colon));
  const std::uint64_t end = number(std::string_view(text).substr(colon + 1));
  if (end <= begin) throw fail("it ends before it starts");
  return {begin, end};
}

}  // namespace

RunOptions CommonOptions::run_options() const {
  RunOptions options;
  options.precision = precision;
  options.accumulate = accumulate;
  options.memory = {memory_latency, memory_bytes_per_cycle, memory_stalls};
  return options;
}

void add_device_options(CLI::App& app, DeviceOptions& options) {
  app.add_option("--device", options.device,
                 "rtl: the Verilated accelerator; reference: plain C++ behind the same registers, "
                 "no notion of time")
      ->check(CLI::IsMember({"rtl", "reference"}))
      ->capture_default_str();
  app.add_option("--array", options.array, "rows and columns of the array: 2, 4, 8 or 64")
      ->check(CLI::IsMember({2, 4, 8, 64}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of weights, random operands and stalls")
      ->capture_default_str();
  app.add_option("--memory-latency", options.memory_latency,
                 "clocks from a request to memory to its answer")
      ->check(CLI::Range(1U, 1000000U))
      ->capture_default_str();
  app.add_option("--memory-bytes-per-cycle", options.memory_bytes_per_cycle,
                 "bytes a clock that memory carries on each port; 0: as many as the port is wide")
      ->capture_default_str();
  app.add_option("--memory-stalls", options.memory_stalls,
                 "probability with which each channel stalls in a clock")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
  app.add_option("--trace", options.trace, "writes the waveform to this FST file (slow build)");
  app.add_option("--trace-window", options.trace_window,
                 "traces clocks A to B only, counted from the device's reset: A:B")
      ->needs("--trace");
}

void add_common_options(CLI::App& app, CommonOptions& options) {
  add_device_options(app, options);
  const std::map<std::string, Precision> precisions{{"int8", Precision::kInt8},
                                                    {"float32", Precision::kFloat32}};
  const std::map<std::string, Accumulate> places{{"device", Accumulate::kDevice},
                                                 {"host", Accumulate::kHost}};
  app.add_option(
         "--precision", options.precision,
         "int8: quantized; float32: four slices of 7 bits, ten int8 products (default int8)")
      ->transform(CLI::CheckedTransformer(precisions).description("{int8,float32}"));
  app.add_option("--accumulate", options.accumulate,
                 "where partial sums are added (default device); on the host every tile's results "
                 "are read back")
      ->transform(CLI::CheckedTransformer(places).description("{device,host}"));
  app.add_option("--batch", options.batch,
                 "images, or inputs of M rows each that share the weights")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31))
      ->capture_default_str();
  app.add_option("--json", options.json, "writes the report to this file");
  app.add_option("--timeline", options.timeline,
                 "writes what each engine did, command by command, to this JSON file for "
                 "ui.perfetto.dev or chrome://tracing (slow build)");
  app.add_flag("--engines", options.engines, "also prints each engine's clocks by cause");
}

std::unique_ptr<Device> make_device(const DeviceOptions& options) {
  std::pair<std::uint64_t, std::uint64_t> window{0, std::numeric_limits<std::uint64_t>::max()};
  if (!options.trace_window.empty()) window = parse_window(options.trace_window);
  if (options.device == "reference") {
    if (!options.trace.empty()) {
      throw UsageError("--trace needs --device rtl; the reference has no signals");
    }
    if (!options.timeline.empty()) {
      throw UsageError("--timeline needs --device rtl; the reference has no clocks");
    }
    Geometry geometry;
    geometry.n = static_cast<std::uint32_t>(options.array);
    geometry.stage_rows = std::min(geometry.stage_rows, geometry.n);
    return std::make_unique<ReferenceDevice>(geometry);
  }
  RtlOptions rtl;
  rtl.n = options.array;
  rtl.latency = options.memory_latency;
  rtl.bytes_per_cycle = options.memory_bytes_per_cycle;
  rtl.stall_probability = options.memory_stalls;
  rtl.seed = options.seed;
  rtl.debug = !options.timeline.empty();
  rtl.trace_file = options.trace;
  rtl.trace_begin = window.first;
  rtl.trace_end = window.second;
  return make_rtl_device(rtl);
}

std::unique_ptr<Timeline> open_timeline(const DeviceOptions& options) {
  return options.timeline.empty() ? nullptr : std::make_unique<Timeline>(options.timeline);
}

RunOptions observed_run(const CommonOptions& options, Device& device, Timeline* timeline) {
  RunOptions run = options.run_options();
  if (timeline != nullptr) {
    dynamic_cast<DebugDevice&>(device).observe(*timeline);
    run.observers.push_back(timeline);
  }
  return run;
}

std::unique_ptr<OutputFile> open_json(const std::string& path) {
  return path.empty() ? nullptr : std::make_unique<OutputFile>(path);
}

int finish_report(const RunReport& report, const CommonOptions& options, OutputFile* json,
                  Timeline* timeline) {
  const std::size_t width = terminal_width();
  fmt::print("{}", run_table(report, width));
  if (options.engines && report.timed()) fmt::print("\n{}", engine_table(report, width));
  std::fflush(stdout);
  if (timeline != nullptr) timeline->finish();
  if (json != nullptr) json->write(to_json(report).dump(2) + "\n");
  return report.verified() ? 0 : 1;
}

}  // namespace gemm64
