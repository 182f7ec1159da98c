// SPDX-License-Identifier: Apache-2.0
#include "host/page/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <map>
#include <optional>

#include "host/escaped.hpp"
#include "host/report/table.hpp"
#include "host/text.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

/// The part of a layer that holds what it costs.
const Json& cost(const Json& layer) {
  const auto array = layer.find("array");
  return array != layer.end() && array->is_object() ? *array : layer;
}

std::uint64_t clocks(const Json& layer) {
  const Json& of = cost(layer);
  const auto at = of.find(of.contains("cycles") ? "cycles" : "clocks");
  return at == of.end() || at->is_null() ? 0 : at->get<std::uint64_t>();
}

std::uint64_t moved(const Json& layer) {
  std::uint64_t sum = 0;
  const auto bytes = cost(layer).find("bytes");
  if (bytes == cost(layer).end()) return 0;
  for (const Json& count : *bytes) sum += count.get<std::uint64_t>();
  return sum;
}

/// "+12" or "-12"; "0" where they are equal.
std::string difference(std::uint64_t a, std::uint64_t b) {
  if (a == b) return "0";
  return b > a ? "+" + grouped(b - a) : "-" + grouped(a - b);
}

std::string change(std::uint64_t a, std::uint64_t b) {
  if (a == b) return "0.00 %";
  if (a == 0) return "-";
  return fmt::format("{:+.2f} %", 100.0 * (static_cast<double>(b) / static_cast<double>(a) - 1));
}

/// What the two runs were told, where that differs: "memory.sharing: independent, shared".
std::string settings(const Json& a, const Json& b) {
  std::string text;
  const Json flat_a = a.flatten();
  const Json flat_b = b.flatten();
  for (const char* key : {"/model", "/device", "/precision", "/accumulate", "/batch", "/array",
                          "/array/n", "/array/memory_latency", "/memory/sharing", "/memory/latency",
                          "/memory/bytes_per_cycle", "/memory/stall_probability", "/one_program"}) {
    const auto in_a = flat_a.find(key);
    const auto in_b = flat_b.find(key);
    const Json of_a = in_a == flat_a.end() ? Json() : *in_a;
    const Json of_b = in_b == flat_b.end() ? Json() : *in_b;
    if (of_a == of_b) continue;
    const auto shown = [](const Json& value) {
      return value.is_string() ? escaped(value.get<std::string>())
             : value.is_null() ? "-"
                               : value.dump();
    };
    text += fmt::format("{}: {} in A, {} in B\n", key + 1, shown(of_a), shown(of_b));
  }
  return text;
}

/// "64x128x64", or nothing where a layer has no such size.
std::string size(const Json& layer) {
  const Json& of = cost(layer);
  std::vector<std::string> sizes;
  for (const char* name : {"m", "k", "n"}) {
    const auto at = of.find(name);
    if (at != of.end() && at->is_number_unsigned()) sizes.push_back(at->dump());
  }
  return fmt::format("{}", fmt::join(sizes, "x"));
}

void add_row(Table& table, const std::string& name, const std::uint64_t (&a)[2],
             const std::uint64_t (&b)[2]) {
  std::vector<std::string> cells{name};
  for (const int i : {0, 1}) {
    cells.insert(cells.end(),
                 {grouped(a[i]), grouped(b[i]), difference(a[i], b[i]), change(a[i], b[i])});
  }
  table.add_row(cells);
}

struct Difference {
  std::uint64_t a = 0, b = 0;
};

/// Counters that differ, over the layers that both have.
std::string counters(const Json& a, const Json& b, const std::vector<std::pair<int, int>>& pairs,
                     std::size_t width) {
  std::vector<std::string> order;
  std::map<std::string, Difference> sums;
  const auto add = [&](const Json& layer, std::uint64_t Difference::*side) {
    const auto engines = layer.find("counters");
    if (engines == layer.end()) return;
    for (const auto& [engine, causes] : engines->items()) {
      for (const auto& [cause, count] : causes.items()) {
        const std::string name = fmt::format("{}.{}", engine, cause);
        if (sums.find(name) == sums.end()) order.push_back(name);
        sums[name].*side += count.get<std::uint64_t>();
      }
    }
  };
  for (const auto& [in_a, in_b] : pairs) {
    if (in_a < 0 || in_b < 0) continue;
    add(a.at("layers")[static_cast<std::size_t>(in_a)], &Difference::a);
    add(b.at("layers")[static_cast<std::size_t>(in_b)], &Difference::b);
  }
  Table table;
  table.add_column("counters that differ", Align::kLeft);
  for (const char* heading : {"A", "B", "B - A", "change"}) table.add_column(heading);
  std::size_t rows = 0;
  for (const std::string& name : order) {
    const auto& [of_a, of_b] = sums[name];
    if (of_a == of_b) continue;
    table.add_row(
        {escaped(name), grouped(of_a), grouped(of_b), difference(of_a, of_b), change(of_a, of_b)});
    ++rows;
  }
  if (order.empty()) return "";
  return rows == 0 ? fmt::format("\nAll {} counters are equal.\n", order.size())
                   : "\n" + table.render(width);
}

}  // namespace

std::vector<std::pair<int, int>> pair_layers(const Json& a, const Json& b) {
  std::map<std::string, std::vector<int>> places;  // in b, the last one first
  const Json& of_b = b.at("layers");
  for (std::size_t i = of_b.size(); i-- > 0;) {
    places[of_b[i].at("name").get<std::string>()].push_back(static_cast<int>(i));
  }
  std::vector<std::pair<int, int>> pairs;
  std::vector<bool> taken(of_b.size(), false);
  for (const Json& layer : a.at("layers")) {
    std::vector<int>& same = places[layer.at("name").get<std::string>()];
    pairs.emplace_back(static_cast<int>(pairs.size()), same.empty() ? -1 : same.back());
    if (same.empty()) continue;
    taken[static_cast<std::size_t>(same.back())] = true;
    same.pop_back();
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i]) pairs.emplace_back(-1, static_cast<int>(i));
  }
  return pairs;
}

std::string comparison_tables(const Json& a, const Json& b, std::size_t width) {
  const std::vector<std::pair<int, int>> pairs = pair_layers(a, b);
  Table table;
  table.add_column("layer", Align::kLeft);
  for (const char* what : {"clocks", "bytes"}) {
    for (const char* heading : {"A", "B", "B - A", "change"})
      table.add_column(fmt::format("{}\n{}", what, heading));
  }
  std::uint64_t all_a[2] = {0, 0};
  std::uint64_t all_b[2] = {0, 0};
  std::vector<std::string> only_a, only_b;
  std::string sizes;
  for (const auto& [in_a, in_b] : pairs) {
    const Json& one = in_a < 0 ? b.at("layers")[static_cast<std::size_t>(in_b)]
                               : a.at("layers")[static_cast<std::size_t>(in_a)];
    const std::string name = escaped(one.at("name").get<std::string>());
    if (in_a < 0 || in_b < 0) {
      (in_a < 0 ? only_b : only_a)
          .push_back(fmt::format("{} ({} clocks)", name, grouped(clocks(one))));
      continue;
    }
    const Json& other = b.at("layers")[static_cast<std::size_t>(in_b)];
    const std::uint64_t of_a[2] = {clocks(one), moved(one)};
    const std::uint64_t of_b[2] = {clocks(other), moved(other)};
    if (of_a[0] == 0 && of_b[0] == 0) continue;  // both on the host
    if (size(one) != size(other)) {
      sizes += fmt::format("{}: {} in A, {} in B\n", name, size(one), size(other));
    }
    add_row(table, name, of_a, of_b);
    for (const int i : {0, 1}) {
      all_a[i] += of_a[i];
      all_b[i] += of_b[i];
    }
  }
  table.add_rule();
  add_row(table, "layers of both", all_a, all_b);
  std::string text = settings(a, b) + sizes;
  if (!text.empty()) text += "\n";
  text += table.render(width);
  if (!only_a.empty()) text += fmt::format("\nOnly in A: {}.\n", fmt::join(only_a, ", "));
  if (!only_b.empty()) text += fmt::format("\nOnly in B: {}.\n", fmt::join(only_b, ", "));
  return text + counters(a, b, pairs, width);
}

}  // namespace gemm64
