// SPDX-License-Identifier: Apache-2.0
#include "host/cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "host/device/reference_device.hpp"
#include "host/error.hpp"
#include "host/report/json.hpp"
#include "host/report/progress.hpp"
#include "host/report/run_table.hpp"

namespace gemm64 {
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
      ->check(CLI::Range(std::int64_t{1}, kMaxSize))
      ->capture_default_str();
  app.add_option("--json", options.json, "writes the report to this file");
  app.add_flag("--engines", options.engines, "also prints each engine's clocks by cause");
  add_debug_options(app, options.debug);
}

RtlOptions rtl_options(const DeviceOptions& options) {
  RtlOptions rtl;
  rtl.n = options.array;
  rtl.memory.latency = options.memory_latency;
  rtl.memory.bytes_per_cycle = options.memory_bytes_per_cycle;
  rtl.memory.stall_probability = options.memory_stalls;
  rtl.seed = options.seed;
  return rtl;
}

std::unique_ptr<Device> make_device(const DeviceOptions& options) {
  if (options.device == "rtl") return make_rtl_device(rtl_options(options));
  Geometry geometry;
  geometry.n = static_cast<std::uint32_t>(options.array);
  geometry.weight_tiles = 1024 / geometry.n;  // as in the RTL: the buffer has so many words
  geometry.stage_rows = std::min(geometry.stage_rows, geometry.n);
  return std::make_unique<ReferenceDevice>(geometry);
}

std::unique_ptr<OutputFile> open_json(const std::string& path) {
  return path.empty() ? nullptr : std::make_unique<OutputFile>(path);
}

int finish_report(RunReport report, const CommonOptions& options, OutputFile* json) {
  // Where one product ran alone, the others have nothing to tell.
  auto& layers = report.layers;
  layers.erase(std::remove_if(layers.begin(), layers.end(),
                              [](const LayerReport& layer) { return layer.skipped; }),
               layers.end());
  if (options.replay && layers.empty()) {
    throw UsageError(
        fmt::format("the run has no product {}, counted from 0", options.replay->product));
  }
  const std::size_t width = terminal_width();
  fmt::print("{}", run_table(report, width));
  if (options.engines && report.timed()) fmt::print("\n{}", engine_table(report, width));
  std::fflush(stdout);
  if (json != nullptr) json->write(to_json(report).dump(2) + "\n");
  return report.verified() ? 0 : 1;
}

}  // namespace gemm64
