// SPDX-License-Identifier: Apache-2.0
#include "host/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "host/error.hpp"
#include "sim/devices.hpp"

namespace gemm64 {
RunOptions CommonOptions::run_options() const {
  RunOptions options;
  options.precision = precision;
  options.accumulate = accumulate;
  options.memory = memory;
  return options;
}

void add_device_options(CLI::App& app, NamedDevice& options) {
  std::string kinds;
  for (const DeviceKind& kind : devices().kinds()) {
    kinds += fmt::format("{}{}: {}", kinds.empty() ? "" : "; ", kind.name, kind.summary);
  }
  app.add_option("--device", options.device, kinds)
      ->check([](const std::string& name) {
        try {
          devices().find(name);
        } catch (const UsageError& error) {
          return std::string(error.what());
        }
        return std::string();
      })
      ->capture_default_str();
  app.add_option("--array", options.array,
                 fmt::format("rows and columns of the array: {}",
                             fmt::join(devices().kinds().front().arrays, ", ")))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of weights, random operands and stalls")
      ->capture_default_str();
  app.add_option("--memory-latency", options.memory.latency,
                 "clocks from a request to memory to its answer")
      ->check(CLI::Range(1U, 1000000U))
      ->capture_default_str();
  app.add_option("--memory-bytes-per-cycle", options.memory.bytes_per_cycle,
                 "bytes a clock that memory carries on each port; 0: as many as the port is wide")
      ->capture_default_str();
  app.add_option("--memory-stalls", options.memory.stall_probability,
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

std::unique_ptr<Device> make_device(const NamedDevice& options) {
  return devices().find(options.device, options.array).make(options);
}

std::unique_ptr<OutputFile> open_json(const std::string& path) {
  return path.empty() ? nullptr : std::make_unique<OutputFile>(path);
}

}  // namespace gemm64
