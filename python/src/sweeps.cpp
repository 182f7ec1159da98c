// SPDX-License-Identifier: Apache-2.0
#include "python/src/sweeps.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <mutex>

#include "host/sweep/sweep_runner.hpp"
#include "host/util/error.hpp"
#include "python/src/signals.hpp"
#include "sim/models/devices.hpp"

namespace gemm64::python {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kName = "the sweep";

/// The sweep's text, and its files as they are now.
std::string identity(const std::string& text, const Sweep& sweep) {
  std::string identity = text;
  for (const SweepNetwork& network : sweep.networks) {
    if (!network.is_file()) continue;
    std::error_code error;  // the file's reader reports it
    identity += fmt::format(
        "\n{} {} {}", network.name, std::filesystem::file_size(network.name, error),
        std::filesystem::last_write_time(network.name, error).time_since_epoch().count());
  }
  return identity;
}

std::shared_ptr<SweepRunner> runner_of(const std::string& text) {
  static std::mutex mutex;
  static std::string known;
  static std::shared_ptr<SweepRunner> runner;
  Sweep sweep = parse_sweep(text, kName);
  const std::lock_guard<std::mutex> lock(mutex);
  const std::string wanted = identity(text, sweep);
  if (!runner || wanted != known) {
    runner = std::make_shared<SweepRunner>(std::move(sweep), devices());
    known = wanted;
  }
  return runner;
}

}  // namespace

Json sweep_points(const std::string& text) {
  const std::shared_ptr<SweepRunner> runner = runner_of(text);
  const Sweep& sweep = runner->sweep();
  Json points = Json::array();
  for (std::size_t i = 0; i < sweep.size(); ++i) {
    Json point = {{"point", i}};
    point.update(describe(sweep, sweep.point(i)));
    points.push_back(std::move(point));
  }
  return points;
}

Json sweep_row(const std::string& text, std::size_t index) {
  const std::shared_ptr<SweepRunner> runner = runner_of(text);
  if (index >= runner->sweep().size()) {
    throw UsageError(fmt::format("index is {}; the sweep has points 0 to {}", index,
                                 runner->sweep().size() - 1));
  }
  SignalCheck check;
  return runner->row(index, [&check](const std::string&, double) { check(); });
}

std::vector<double> sweep_costs(const std::string& text) {
  SignalCheck check;
  return runner_of(text)->check();
}

}  // namespace gemm64::python
