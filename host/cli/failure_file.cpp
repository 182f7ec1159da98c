// SPDX-License-Identifier: Apache-2.0
#include "host/cli/failure_file.hpp"

#include <fmt/format.h>

#include "host/report/json.hpp"
#include "host/util/input_file.hpp"
#include "sim/models/devices.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;
namespace fs = std::filesystem;

OrderedJson options_json(const CommonOptions& options) {
  OrderedJson json = {{"device", options.device}};
  json.update(to_json<DeviceOptions>(device_settings(), options));
  json.update(to_json<RunSettings>(run_settings(), options));
  json.update(OrderedJson{{"batch", options.batch},
                          {"inject", options.debug.inject},
                          {"watchdog", options.debug.watchdog}});
  return json;
}

constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 20;

template <class T>
T within(const Json& options, const char* key, T low, T high) {
  const T value = json_field<T>(options, "options", key);
  if (value >= low && value <= high) return value;
  throw UsageError(fmt::format("options.{} is {}; it may be from {} to {}", key, value, low, high));
}

CommonOptions read_options(const Json& json) {
  CommonOptions options;
  options.device = json_field<std::string>(json, "options", "device");
  devices().find_inspectable(options.device, "replay");
  for (const char* const key : {"array", "seed", "memory_latency", "memory_bytes_per_cycle",
                                "memory_stalls", "precision", "accumulate"}) {
    json_field<Json>(json, "options", key);
  }
  // All others, which files of older versions may lack, have their defaults.
  read_settings<DeviceOptions>(device_settings(), json, "options.", options);
  read_settings<RunSettings>(run_settings(), json, "options.", options);
  options.check =
      CheckLevel::kLayers;  // a replay shows where it goes wrong, whatever was asked then
  // 0: as many as the file of the model says.
  options.batch = within(json, "batch", std::int64_t{json.contains("model") ? 0 : 1}, kMaxSize);
  options.debug.inject = json_field<std::vector<std::string>>(json, "options", "inject");
  if (json.contains("watchdog")) {
    options.debug.watchdog = json_field<std::uint32_t>(json, "options", "watchdog");
  }
  return options;
}

}  // namespace

void write_failure(const fs::path& file, const std::string& command, const CommonOptions& options,
                   const OrderedJson& own, const Failure& failure) {
  OrderedJson all = options_json(options);
  all.update(own);
  const OrderedJson json = {{"gemm64", GEMM64_VERSION},
                            {"command", command},
                            {"directory", fs::current_path().string()},
                            {"options", all},
                            {"failure", to_json(failure)}};
  // Names come from models too; what is no UTF-8 in them must not cost the file.
  OutputFile(file, "what failed")
      .write(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

RecordedFailure read_failure(const fs::path& file) {
  const std::string text = read_file(file.string(), kMaxBytes);
  RecordedFailure recorded;
  try {
    const Json json = Json::parse(text);
    recorded.command = json_field<std::string>(json, "", "command");
    recorded.directory = json_field<std::string>(json, "", "directory");
    recorded.own = json_field<Json>(json, "", "options");
    recorded.options = read_options(recorded.own);
    const Json failure = json_field<Json>(json, "", "failure");
    recorded.options.replay = Replay{json_field<std::size_t>(failure, "failure", "index"),
                                     json_field<std::uint64_t>(failure, "failure", "first_clock")};
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", file.string(), error.what()));
  } catch (const Json::exception&) {
    throw UsageError(
        fmt::format("{}: not JSON; give the file that run or gemm wrote", file.string()));
  }
  return recorded;
}

}  // namespace gemm64
