// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/sweep.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "host/device/array_geometry.hpp"

namespace gemm64 {

SweepPoint Sweep::point(std::size_t index) const {
  if (index >= size()) {
    throw std::out_of_range(fmt::format("point {} of a sweep with {}", index, size()));
  }
  SweepPoint point;
  point.design = index % designs.size();
  point.batch = batches[index / designs.size() % batches.size()];
  point.network = index / designs.size() / batches.size();
  return point;
}

nlohmann::ordered_json describe(const Sweep& sweep, const SweepPoint& point) {
  const SweepNetwork& network = sweep.networks[point.network];
  const auto& [geometry, memory, lanes] = sweep.designs[point.design];
  nlohmann::ordered_json row = {{"mode", sweep.runs ? "run" : "predict"},
                                {"device", nullptr},
                                {"network", network.name},
                                {"batch", point.batch},
                                {"depthwise", lanes ? "window" : "array"},
                                {"array", geometry.n},
                                {"scratchpad_words", geometry.scratchpad_words},
                                {"accumulator_rows", geometry.accumulator_rows},
                                {"tensor_words", geometry.tensor_words},
                                {"weight_tiles", geometry.weight_tiles},
                                {"parameter_sets", geometry.parameter_sets},
                                {"sram_kib", static_cast<double>(sram_bytes(geometry)) / 1024},
                                {"memory", memory.word()},
                                {"memory_bytes_per_cycle", memory.bytes_per_cycle},
                                {"memory_latency", memory.latency}};
  if (sweep.runs) row["device"] = sweep.device;
  return row;
}

nlohmann::ordered_json varied_value(const nlohmann::ordered_json& row, const std::string& key) {
  if (key != "weight_tiles") return row.at(key);
  return row.at(key).get<std::uint64_t>() * row.at("array").get<std::uint64_t>();
}

std::string label(const Sweep& sweep, std::size_t index) {
  const SweepPoint point = sweep.point(index);
  const nlohmann::ordered_json row = describe(sweep, point);
  std::string text =
      fmt::format("point {} ({}, batch {}", index, row["network"].get<std::string>(), point.batch);
  for (const char* key :
       {"depthwise", "array", "scratchpad_words", "accumulator_rows", "tensor_words",
        "weight_tiles", "parameter_sets", "memory", "memory_bytes_per_cycle", "memory_latency"}) {
    bool differs = false;
    for (std::size_t i = 0; i < sweep.designs.size() && !differs; ++i) {
      const auto other = describe(sweep, {point.network, i, point.batch});
      differs = varied_value(other, key) != varied_value(row, key);
    }
    if (!differs) continue;
    const nlohmann::ordered_json& value = row[key];
    text +=
        fmt::format(", {} {}", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text + ")";
}

}  // namespace gemm64
