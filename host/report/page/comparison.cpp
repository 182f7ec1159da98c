// SPDX-License-Identifier: Apache-2.0
#include "host/report/page/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <map>

#include "host/util/escaped.hpp"
#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

/// The part of a layer that holds what it costs.
const Json& cost(const Json& layer) {
  const auto array = layer.find("array");
  return array != layer.end() && array->is_object() ? *array : layer;
}

std::uint64_t cycles(const Json& layer) {
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

/// The two runs' settings, where they differ: "memory.sharing: independent, shared".
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

/// Useful MACs of a layer; 0 where the report does not tell.
std::uint64_t macs(const Json& layer) {
  const auto at = layer.find("macs");
  return at == layer.end() || !at->is_number_unsigned() ? 0 : at->get<std::uint64_t>();
}

/// MACs of the array in a cycle; 0 where the report does not tell.
double macs_per_clock(const Json& report) {
  const auto array = report.find("array");
  if (array == report.end()) return 0;
  const double n = array->is_object()   ? array->value("n", 0.0)
                   : array->is_number() ? array->get<double>()
                                        : 0.0;
  return n * n;
}

/// A row of the table: cycles, then bytes, each of A and of B.
void add_row(Table& table, const std::string& name, const Json& row) {
  std::vector<std::string> cells{name};
  for (const char* what : {"clocks", "bytes"}) {
    const auto a = row[what][0].get<std::uint64_t>(), b = row[what][1].get<std::uint64_t>();
    cells.insert(cells.end(), {grouped(a), grouped(b), difference(a, b), change(a, b)});
  }
  table.add_row(cells);
}

/// A layer that only one report has cycles of, and what the other says of it.
Json only(const Json& layer, const Json* other) {
  const char* why = "";
  if (other != nullptr) {
    why = other->value("on", Json()) == "host" ? "on the host" : "without cycles of its own";
  }
  return {{"name", layer.at("name")}, {"clocks", cycles(layer)}, {"there", why}};
}

/// "conv1 (500 cycles; on the host in B), conv2 (300 cycles)".
std::string list_only(const Json& layers, const char* there) {
  std::vector<std::string> names;
  for (const Json& layer : layers) {
    const auto why = layer["there"].get<std::string>();
    names.push_back(fmt::format("{} ({}{})", escaped(layer["name"].get<std::string>()),
                                counted(layer["clocks"].get<std::uint64_t>(), "cycle"),
                                why.empty() ? "" : fmt::format("; {} in {}", why, there)));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

struct Difference {
  std::uint64_t a = 0, b = 0;
};

/// Counters that differ, over the layers that both have.
std::string counters(const Json& a, const Json& b, const Json& comparison, std::size_t width) {
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
  for (const Json& layer : comparison["layers"]) {
    add(a.at("layers")[layer["places"][0].get<std::size_t>()], &Difference::a);
    add(b.at("layers")[layer["places"][1].get<std::size_t>()], &Difference::b);
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

Json compare(const Json& a, const Json& b) {
  Json layers = Json::array(), only_a = Json::array(), only_b = Json::array();
  std::uint64_t all_cycles[2] = {0, 0}, all_bytes[2] = {0, 0}, all_macs[2] = {0, 0};
  for (const auto& [in_a, in_b] : pair_layers(a, b)) {
    const Json* const one = in_a < 0 ? nullptr : &a.at("layers")[static_cast<std::size_t>(in_a)];
    const Json* const other = in_b < 0 ? nullptr : &b.at("layers")[static_cast<std::size_t>(in_b)];
    const bool timed_a = one != nullptr && cycles(*one) != 0;
    const bool timed_b = other != nullptr && cycles(*other) != 0;
    if (timed_a && !timed_b) only_a.push_back(only(*one, other));
    if (timed_b && !timed_a) only_b.push_back(only(*other, one));
    if (!timed_a || !timed_b) continue;
    layers.push_back({{"name", one->at("name")},
                      {"places", {in_a, in_b}},
                      {"sizes", {size(*one), size(*other)}},
                      {"clocks", {cycles(*one), cycles(*other)}},
                      {"bytes", {moved(*one), moved(*other)}}});
    for (const int side : {0, 1}) {
      const Json& layer = side == 0 ? *one : *other;
      all_cycles[side] += cycles(layer);
      all_bytes[side] += moved(layer);
      all_macs[side] += macs(layer);
    }
  }
  Json utilization = Json::array();
  for (const int side : {0, 1}) {
    const double most = macs_per_clock(side == 0 ? a : b) * static_cast<double>(all_cycles[side]);
    utilization.push_back(most == 0 ? Json() : Json(static_cast<double>(all_macs[side]) / most));
  }
  return {{"layers", std::move(layers)},
          {"both",
           {{"clocks", {all_cycles[0], all_cycles[1]}},
            {"bytes", {all_bytes[0], all_bytes[1]}},
            {"utilization", std::move(utilization)}}},
          {"only", {std::move(only_a), std::move(only_b)}}};
}

std::string comparison_tables(const Json& a, const Json& b, std::size_t width) {
  const Json comparison = compare(a, b);
  Table table;
  table.add_column("layer", Align::kLeft);
  for (const char* what : {"cycles", "bytes"}) {
    for (const char* heading : {"A", "B", "B - A", "change"})
      table.add_column(fmt::format("{}\n{}", what, heading));
  }
  std::string sizes;
  for (const Json& layer : comparison["layers"]) {
    const std::string name = escaped(layer["name"].get<std::string>());
    const Json& of = layer["sizes"];
    if (of[0] != of[1]) {
      sizes += fmt::format("{}: {} in A, {} in B\n", name, of[0].get<std::string>(),
                           of[1].get<std::string>());
    }
    add_row(table, name, layer);
  }
  table.add_rule();
  add_row(table, "layers of both", comparison["both"]);
  std::string text = settings(a, b) + sizes;
  if (!text.empty()) text += "\n";
  text += comparison["layers"].empty() ? "No layer has cycles in both.\n" : table.render(width);
  const Json& only = comparison["only"];
  if (!only[0].empty()) text += fmt::format("\nOnly in A: {}.\n", list_only(only[0], "B"));
  if (!only[1].empty()) text += fmt::format("\nOnly in B: {}.\n", list_only(only[1], "A"));
  return text + counters(a, b, comparison, width);
}

std::string report_summary(const Json& report, std::size_t width) {
  const auto count = [](const Json& object, const char* name) {
    const auto at = object.find(name);
    return at == object.end() || !at->is_number_unsigned() ? "-"
                                                           : grouped(at->get<std::uint64_t>());
  };
  Table table;
  table.add_column("layer", Align::kLeft);
  for (const char* heading : {"MxKxN", "MACs", "cycles", "predicted", "bytes", "mismatches"}) {
    table.add_column(heading);
  }
  std::uint64_t all_macs = 0, all_cycles = 0, all_bytes = 0;
  for (const Json& layer : report.at("layers")) {
    if (cycles(layer) == 0) continue;
    const Json& predicted = layer.contains("predicted_cycles") ? layer : cost(layer);
    table.add_row({escaped(layer["name"].get<std::string>()), size(layer), grouped(macs(layer)),
                   grouped(cycles(layer)),
                   count(predicted, &predicted == &layer ? "predicted_cycles" : "clocks"),
                   bytes(moved(layer)), count(layer, "mismatches")});
    all_macs += macs(layer);
    all_cycles += cycles(layer);
    all_bytes += moved(layer);
  }
  const Json& total = report.at("total");
  table.add_rule();
  table.add_row({"total", "", grouped(all_macs),
                 total.contains("cycles") ? count(total, "cycles") : grouped(all_cycles),
                 count(total, "predicted_cycles"), bytes(all_bytes), count(total, "mismatches")});
  const auto device = report.find("device");
  return fmt::format("{}{}, {} MACs per cycle at most\n\n{}",
                     escaped(report.at("model").get<std::string>()),
                     device != report.end() && device->is_string()
                         ? " on device '" + escaped(device->get<std::string>()) + "'"
                         : ", analyzed",
                     macs_per_clock(report), table.render(width));
}

}  // namespace gemm64
