// SPDX-License-Identifier: Apache-2.0
#include "host/device/array_geometry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::int64_t kMostArray = 64;  // a command of 64 bytes is at least one beat
constexpr std::int64_t kMostRows = std::int64_t{1} << 15;  // ROWS of a command has 16 bits
constexpr std::int64_t kMostWords = std::int64_t{1} << 20;
constexpr std::int64_t kMostWeightWords = std::int64_t{1} << 16;
constexpr std::int64_t kMostParameterSets = 1024;
constexpr std::uint64_t kSumBytes = 4;

bool is_power_of_two(std::int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

struct DesignKey {
  std::string name;
  std::uint32_t Geometry::*value;
  void (*set)(DesignSizes&, std::int64_t);
};

const std::vector<DesignKey>& keys() {
  static const std::vector<DesignKey> all{
      {"scratchpad_words", &Geometry::scratchpad_words,
       [](DesignSizes& sizes, std::int64_t value) { sizes.scratchpad_words = value; }},
      {"accumulator_rows", &Geometry::accumulator_rows,
       [](DesignSizes& sizes, std::int64_t value) { sizes.accumulator_rows = value; }},
      {"tensor_words", &Geometry::tensor_words,
       [](DesignSizes& sizes, std::int64_t value) { sizes.tensor_words = value; }},
      {"weight_tiles", &Geometry::weight_tiles,
       [](DesignSizes& sizes, std::int64_t value) { sizes.weight_tiles = value; }},
      {"parameter_sets", &Geometry::parameter_sets,
       [](DesignSizes& sizes, std::int64_t value) { sizes.parameter_sets = value; }}};
  return all;
}

}  // namespace

const std::vector<std::string>& design_keys() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const DesignKey& key : keys()) all.push_back(key.name);
    return all;
  }();
  return names;
}

void set_size(DesignSizes& sizes, const std::string& key, std::int64_t value) {
  for (const DesignKey& one : keys()) {
    if (one.name == key) return one.set(sizes, value);
  }
  throw UsageError(fmt::format("a design has no size '{}'; its sizes are {}", key,
                               fmt::join(design_keys(), ", ")));
}

DesignSizes read_design(const std::string& text) {
  DesignSizes sizes;
  std::vector<std::string> seen;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    at = end == text.size() ? end : end + 1;
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string key = item.substr(0, equals);
    const char* const last = item.data() + item.size();
    std::int64_t value = 0;
    const auto [stop, error] =
        std::from_chars(std::min(item.data() + equals + 1, last), last, value);
    if (error != std::errc() || stop != last || (at == text.size() && text.back() == ',')) {
      throw UsageError(fmt::format(
          "'{}' is no list of KEY=NUMBER, as accumulator_rows=64,weight_tiles=4", text));
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      throw UsageError(fmt::format("'{}' has {} twice", text, key));
    }
    seen.push_back(key);
    set_size(sizes, key, value);
  }
  return sizes;
}

std::string design_text(const Geometry& geometry) {
  std::string text;
  for (const DesignKey& key : keys()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key.name, geometry.*key.value);
  }
  return text;
}

Geometry geometry_of_array(int n) {
  constexpr std::uint32_t kWeightWords = 1024;
  Geometry geometry;
  geometry.n = static_cast<std::uint32_t>(n);
  geometry.stage_rows = std::min(geometry.stage_rows, geometry.n);
  geometry.weight_tiles = kWeightWords / geometry.n;
  return geometry;
}

Geometry geometry_of(const DesignSizes& sizes) {
  if (sizes.array < 2 || sizes.array > kMostArray || !is_power_of_two(sizes.array)) {
    throw UsageError(
        fmt::format("array is {0}x{0}; its size is 2, 4, 8, 16, 32 or 64", sizes.array));
  }
  if (sizes.accumulator_rows < 2 || sizes.accumulator_rows > kMostRows ||
      !is_power_of_two(sizes.accumulator_rows)) {
    throw UsageError(fmt::format("accumulator_rows is {}; it is a power of two from 2 to {}",
                                 sizes.accumulator_rows, kMostRows));
  }
  Geometry geometry = geometry_of_array(static_cast<int>(sizes.array));
  // A block's last row may come with all the others of its burst.
  const std::int64_t words = sizes.accumulator_rows + geometry.burst_beats - 1;
  if (sizes.scratchpad_words < words || sizes.scratchpad_words > kMostWords) {
    throw UsageError(
        fmt::format("scratchpad_words is {}; {} accumulator rows take at least {}, and at most {} "
                    "can be addressed",
                    sizes.scratchpad_words, sizes.accumulator_rows, words, kMostWords));
  }
  geometry.scratchpad_words = static_cast<std::uint32_t>(sizes.scratchpad_words);
  geometry.accumulator_rows = static_cast<std::uint32_t>(sizes.accumulator_rows);
  geometry.tensor_words = usual_tensor_words(geometry);
  if (sizes.tensor_words) {
    const std::int64_t most = sizes.scratchpad_words - words;
    if (*sizes.tensor_words < 0 || *sizes.tensor_words > most) {
      throw UsageError(fmt::format(
          "tensor_words is {}; a scratchpad of {} words with {} accumulator rows has 0 to {}",
          *sizes.tensor_words, sizes.scratchpad_words, sizes.accumulator_rows, most));
    }
    geometry.tensor_words = static_cast<std::uint32_t>(*sizes.tensor_words);
  }
  if (sizes.weight_tiles) {
    const std::int64_t most = kMostWeightWords / sizes.array;
    if (*sizes.weight_tiles < 2 || *sizes.weight_tiles > most ||
        !is_power_of_two(*sizes.weight_tiles)) {
      throw UsageError(fmt::format("weight_tiles is {}; it is a power of two from 2 to {}",
                                   *sizes.weight_tiles, most));
    }
    geometry.weight_tiles = static_cast<std::uint32_t>(*sizes.weight_tiles);
  }
  if (sizes.parameter_sets < 2 || sizes.parameter_sets > kMostParameterSets ||
      !is_power_of_two(sizes.parameter_sets)) {
    throw UsageError(fmt::format("parameter_sets is {}; it is a power of two from 2 to {}",
                                 sizes.parameter_sets, kMostParameterSets));
  }
  geometry.parameter_sets = static_cast<std::uint32_t>(sizes.parameter_sets);
  return geometry;
}

nlohmann::ordered_json to_json(const Geometry& geometry) {
  return {{"n", geometry.n},
          {"stage_rows", geometry.stage_rows},
          {"macs_per_clock", geometry.macs_per_clock()},
          {"pipeline_clocks", geometry.pipeline()},
          {"scratchpad_words", geometry.scratchpad_words},
          {"tensor_words", geometry.tensor_words},
          {"accumulator_rows", geometry.accumulator_rows},
          {"weight_tiles", geometry.weight_tiles},
          {"read_bursts", geometry.reads},
          {"write_bursts", geometry.writes},
          {"commands_ahead", geometry.commands},
          {"burst_beats", geometry.burst_beats},
          {"address_width", geometry.address_width},
          {"parameter_sets", geometry.parameter_sets}};
}

std::uint64_t sram_bytes(const Geometry& geometry) {
  constexpr std::uint64_t kDepthwiseWords = 6 * 128 + 9 * 16;  // lines, weights of two planes
  const std::uint64_t tensor_words = geometry.tensor_memory ? geometry.tensor_words : 0;
  const std::uint64_t words =
      geometry.scratchpad_words + tensor_words + geometry.weight_tiles * std::uint64_t{geometry.n} +
      2 * kSumBytes * std::uint64_t{geometry.accumulator_rows} + geometry.operand_words() +
      geometry.parameter_words() + kDepthwiseWords;
  return words * geometry.n;
}

}  // namespace gemm64
