// SPDX-License-Identifier: Apache-2.0
// The format of a sweep, and what is wrong with one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <string_view>

#include "host/device/array_geometry.hpp"
#include "host/graph/onnx/networks.hpp"
#include "host/sweep/sweep.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostLevels = 8;
constexpr std::size_t kMostPoints = 1'000'000;
constexpr std::int64_t kMostSize = std::int64_t{1} << 31;

/// Reads one file; its name stands before each message.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Sweep read(const std::string& text);

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw UsageError(fmt::format("{}: {}", file_, what));
  }
  [[noreturn]] void refuse(const std::string& key, const Json& value,
                           const std::string& right) const {
    std::string shown = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (shown.size() > 60) shown = shown.substr(0, 60) + "...";
    refuse(fmt::format("{} is {}; {}", key, shown, right));
  }

  Json parse(const std::string& text) const;
  void check_keys(const Json& object, const std::string& where,
                  const std::vector<std::string>& known) const;
  std::string word(const std::string& key, const Json& value,
                   const std::vector<std::string>& words) const;
  std::string word(const Json& object, const char* key,
                   const std::vector<std::string>& words) const;
  std::int64_t number(const std::string& key, const Json& value, std::int64_t low,
                      std::int64_t high) const;
  std::vector<Json> list(const std::string& key, const Json& value) const;
  std::vector<Json> list(const Json& object, const std::string& where, const char* key,
                         const Json& otherwise) const;
  SweepNetwork network(const std::string& key, const Json& value) const;
  std::optional<GemmShape> product(const std::string& key, const std::string& text) const;
  void add_designs(Sweep& sweep, bool lanes, const Json& design, const std::string& where) const;

  const std::string file_;
};

Json Reader::parse(const std::string& text) const {
  std::vector<std::set<std::string>> keys;  // of the objects around
  const Json::parser_callback_t check = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMostLevels) refuse(fmt::format("it nests more than {} levels deep", kMostLevels));
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      refuse(fmt::format("the key {} is there twice", value.dump()));
    }
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Json::parse_error& error) {
    const std::size_t end = std::min<std::size_t>(error.byte, text.size());
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    refuse(fmt::format("this is no JSON (line {}, byte {})", line, error.byte));
  } catch (const Json::exception&) {
    refuse("this is no JSON: a number in it is too large");
  }
}

void Reader::check_keys(const Json& object, const std::string& where,
                        const std::vector<std::string>& known) const {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    refuse(fmt::format("{} has no key '{}'; its keys are {}", where, key, fmt::join(known, ", ")));
  }
}

std::string Reader::word(const std::string& key, const Json& value,
                         const std::vector<std::string>& words) const {
  if (!value.is_string() || std::find(words.begin(), words.end(), value) == words.end()) {
    refuse(key, value, fmt::format("it is \"{}\"", fmt::join(words, "\" or \"")));
  }
  return value;
}

/// The first of the words where there is no such key.
std::string Reader::word(const Json& object, const char* key,
                         const std::vector<std::string>& words) const {
  const auto at = object.find(key);
  return at == object.end() ? words.front() : word(key, *at, words);
}

std::int64_t Reader::number(const std::string& key, const Json& value, std::int64_t low,
                            std::int64_t high) const {
  const bool fits = value.is_number_unsigned() &&
                    value.get<std::uint64_t>() >= static_cast<std::uint64_t>(low) &&
                    value.get<std::uint64_t>() <= static_cast<std::uint64_t>(high);
  if (!fits) refuse(key, value, fmt::format("it is a whole number from {} to {}", low, high));
  return value.get<std::int64_t>();
}

/// The values of a list, or the one value; none twice.
std::vector<Json> Reader::list(const std::string& key, const Json& value) const {
  if (!value.is_array()) return {value};
  if (value.empty()) refuse(key, value, "it is a value, or a list of at least one");
  std::vector<Json> values;
  for (const Json& one : value) {
    if (std::find(values.begin(), values.end(), one) != values.end()) {
      refuse(key, one, "and so is an earlier value of the list; give each once");
    }
    values.push_back(one);
  }
  return values;
}

std::vector<Json> Reader::list(const Json& object, const std::string& where, const char* key,
                               const Json& otherwise) const {
  const auto at = object.find(key);
  return list(where + key, at == object.end() ? otherwise : *at);
}

/// "64x9216x4096"; empty where the text is no such thing.
std::optional<GemmShape> Reader::product(const std::string& key, const std::string& text) const {
  if (text.empty() || text.find_first_not_of("0123456789x") != std::string::npos ||
      std::count(text.begin(), text.end(), 'x') != 2 || text.find("xx") != std::string::npos ||
      text.front() == 'x' || text.back() == 'x') {
    return std::nullopt;
  }
  GemmShape shape;
  std::size_t begin = 0;
  for (std::uint64_t* const size : {&shape.m, &shape.k, &shape.n}) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    for (std::size_t i = begin; i < end && *size <= static_cast<std::uint64_t>(kMostSize); ++i) {
      *size = *size * 10 + static_cast<std::uint64_t>(text[i] - '0');
    }
    if (*size == 0 || *size > static_cast<std::uint64_t>(kMostSize)) {
      refuse(key, text, fmt::format("each size is from 1 to {}", kMostSize));
    }
    begin = end + 1;
  }
  return shape;
}

SweepNetwork Reader::network(const std::string& key, const Json& value) const {
  const std::vector<std::string> known = known_onnx_networks();
  if (value.is_string()) {
    SweepNetwork network;
    network.name = value;
    network.product = product(key, network.name);
    network.built_in = std::find(known.begin(), known.end(), network.name) != known.end();
    constexpr std::string_view kEnd = ".onnx";
    const std::size_t size = network.name.size();
    const bool named_so =
        size > kEnd.size() && network.name.compare(size - kEnd.size(), kEnd.size(), kEnd) == 0;
    if (network.product || network.built_in || named_so) return network;
  }
  refuse(key, value,
         fmt::format("it is one of {}, an ONNX file such as \"net.onnx\", or a product MxKxN such "
                     "as \"64x9216x4096\"",
                     fmt::join(known, ", ")));
}

void Reader::add_designs(Sweep& sweep, bool lanes, const Json& design,
                         const std::string& where) const {
  if (!design.is_object()) refuse(where, design, "it is an object, such as {\"array\": [32, 64]}");
  check_keys(design, where,
             {"array", "scratchpad_words", "accumulator_rows", "tensor_words", "weight_tiles",
              "parameter_sets", "memory", "memory_bytes_per_cycle", "memory_latency"});
  const std::string inside = where + ".";
  const auto size = [&](const char* key, const Json& value, std::int64_t least) {
    return number(inside + key, value, least, std::numeric_limits<std::int32_t>::max());
  };
  const auto set_word = [&](const Json& value, MemoryTiming& memory) {
    try {
      if (value.is_string() && set_memory(memory, value.get<std::string>())) return;
    } catch (const UsageError& error) {
      refuse(inside + error.what());
    }
    refuse(inside + "memory", value,
           "it is \"independent\", \"shared\", \"exclusive\" or a DRAM channel such as "
           "\"dram:lpddr4\"");
  };
  const auto each = [&](const char* key, const Json& otherwise, const auto& then) {
    for (const Json& value : list(design, inside, key, otherwise)) then(value);
  };
  SweepDesign made;
  made.lanes = lanes;
  DesignSizes sizes;
  const auto memories = [&] {
    each("memory", "independent", [&](const Json& value) {
      set_word(value, made.memory);
      each("memory_bytes_per_cycle", 0U, [&](const Json& bytes) {
        made.memory.bytes_per_cycle = static_cast<std::uint32_t>(
            number(inside + "memory_bytes_per_cycle", bytes, 0, 1 << 20));
        try {
          check(made.memory);
        } catch (const UsageError& error) {
          refuse(inside + error.what());
        }
        each("memory_latency", 100U, [&](const Json& latency) {
          made.memory.latency =
              static_cast<std::uint32_t>(number(inside + "memory_latency", latency, 1, 1000000));
          if (sweep.designs.size() == kMostPoints) {
            refuse(fmt::format("it has more than {} designs", kMostPoints));
          }
          sweep.designs.push_back(made);
        });
      });
    });
  };
  const std::vector<std::string>& keys = design_keys();
  const std::function<void(std::size_t)> cross = [&](std::size_t i) {
    if (i < keys.size()) {
      const std::int64_t least = keys[i] == "tensor_words" ? 0 : 1;
      each(keys[i].c_str(), {}, [&](const Json& value) {
        if (!value.is_null()) set_size(sizes, keys[i], size(keys[i].c_str(), value, least));
        cross(i + 1);
      });
      return;
    }
    try {
      made.geometry = geometry_of(sizes);
    } catch (const UsageError& error) {
      refuse(inside + error.what());
    }
    memories();
  };
  each("array", static_cast<unsigned>(sizes.array), [&](const Json& value) {
    sizes.array = size("array", value, 1);
    cross(0);
  });
}

Sweep Reader::read(const std::string& text) {
  const Json json = parse(text);
  if (!json.is_object()) {
    refuse("a sweep is an object, such as {\"networks\": [\"alexnet\"], \"batches\": [1, 16]}");
  }
  check_keys(json, "a sweep",
             {"mode", "device", "seed", "quantize", "depthwise", "designs", "networks", "batches"});
  Sweep sweep;
  sweep.runs = word(json, "mode", {"predict", "run"}) == "run";
  sweep.device = word(json, "device", {"rtl", "tlm"});
  if (json.contains("device") && !sweep.runs) {
    refuse("device", json["device"], "it goes with \"mode\": \"run\"; predictions need no device");
  }
  if (json.contains("seed")) {
    sweep.seed = static_cast<std::uint32_t>(number("seed", json["seed"], 0, 0xffffffff));
  }
  if (json.contains("quantize")) {
    if (!json["quantize"].is_boolean()) {
      refuse("quantize", json["quantize"], "it is true, which quantizes float files, or false");
    }
    sweep.quantize = json["quantize"].get<bool>();
  }
  if (!json.contains("networks")) {
    refuse("it has no \"networks\"; give a list such as [\"alexnet\", \"64x9216x4096\"]");
  }
  const auto place = [](const char* key, const Json& lists, std::size_t i) {
    return lists.is_array() ? fmt::format("{}[{}]", key, i) : key;
  };
  std::size_t i = 0;
  for (const Json& value : list(json, "", "networks", {})) {
    sweep.networks.push_back(network(place("networks", json["networks"], i++), value));
  }
  i = 0;
  for (const Json& value : list(json, "", "batches", 1U)) {
    const std::string key =
        json.contains("batches") ? place("batches", json["batches"], i++) : "batches";
    sweep.batches.push_back(number(key, value, 1, kMostSize));
  }
  i = 0;
  for (const Json& depthwise : list(json, "", "depthwise", "window")) {
    const std::string key =
        json.contains("depthwise") ? place("depthwise", json["depthwise"], i++) : "depthwise";
    const bool lanes = word(key, depthwise, {"window", "array"}) == "window";
    std::size_t j = 0;
    for (const Json& value : list(json, "", "designs", Json::object())) {
      add_designs(sweep, lanes, value,
                  json.contains("designs") ? place("designs", json["designs"], j++) : "designs");
    }
  }
  for (const SweepNetwork& network : sweep.networks) {
    const std::int64_t most = *std::max_element(sweep.batches.begin(), sweep.batches.end());
    if (network.product && network.product->m > static_cast<std::uint64_t>(kMostSize / most)) {
      refuse(fmt::format("{} at batch {}: M times the batch may be at most {}", network.name, most,
                         kMostSize));
    }
  }
  if (sweep.networks.size() * sweep.batches.size() > kMostPoints / sweep.designs.size()) {
    refuse(fmt::format("{} networks x {} batches x {} designs are more than {} points",
                       sweep.networks.size(), sweep.batches.size(), sweep.designs.size(),
                       kMostPoints));
  }
  return sweep;
}

}  // namespace

Sweep parse_sweep(const std::string& text, const std::string& file) {
  return Reader(file).read(text);
}

}  // namespace gemm64
