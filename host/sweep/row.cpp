// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "host/report/dram_use.hpp"
#include "host/report/json.hpp"
#include "host/report/network_text.hpp"
#include "host/util/escaped.hpp"
#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

/// What names a point, apart from how its figures were got.
constexpr const char* kPointKeys[] = {"network",
                                      "batch",
                                      "depthwise",
                                      "array",
                                      "scratchpad_words",
                                      "accumulator_rows",
                                      "tensor_words",
                                      "weight_tiles",
                                      "parameter_sets",
                                      "memory",
                                      "memory_bytes_per_cycle",
                                      "memory_latency"};

/// What the array's cycles were spent on.
constexpr std::pair<const char*, std::size_t> kCauses[] = {
    {"compute", counter::kComputeCompute},
    {"wait_weights", counter::kComputeWaitWeights},
    {"wait_activations", counter::kComputeWaitActivations},
    {"wait_results", counter::kComputeWaitResults}};

constexpr std::pair<const char*, std::size_t> kPorts[] = {
    {"weights", counter::kBytesWeights},       {"activations", counter::kBytesActivations},
    {"results", counter::kBytesResults},       {"commands", counter::kBytesCommands},
    {"parameters", counter::kBytesParameters}, {"operands", counter::kBytesOperands}};

/// Cycles of the array by cause, and the cause that took most of those without a product.
void add_causes(const Counters& counters, Json& row) {
  std::vector<std::pair<std::string, std::uint64_t>> waits;
  for (const auto& [cause, counter] : kCauses) {
    row[std::string("cycle_breakdown.") + cause] = counters[counter];
    if (counter != counter::kComputeCompute) waits.emplace_back(cause, counters[counter]);
  }
  const std::uint64_t fill = counters[counter::kComputeIdle] + counters[counter::kComputeDrain];
  row["cycle_breakdown.fill"] = fill;
  waits.emplace_back("fill", fill);
  const auto most = std::max_element(
      waits.begin(), waits.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  row["main_wait"] = most->first;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

std::string csv_text(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? quoted(value.get<std::string>()) : value.dump();
}

std::string count_text(const Json& value) {
  return value.is_null() ? "" : grouped(value.get<std::uint64_t>());
}

std::string percent_text(const Json& value) {
  return value.is_null() ? "" : percent(value.get<double>());
}

/// Has a row figures of a DRAM channel? Sweeps without one lack their keys.
bool has_dram(const SweepRow& row) {
  const auto bytes = row.find("dram.bytes");
  return bytes != row.end() && !bytes->is_null();
}

/// The share of a DRAM channel's bursts that hit an open row.
std::string row_hits_text(const SweepRow& row) {
  if (!has_dram(row)) return "";
  const double hits = row["dram.row_hits"].get<double>();
  return percent(hits / std::max(hits + row["dram.row_misses"].get<double>(), 1.0));
}

std::string plain_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : csv_text(value);
}

}  // namespace

SweepRow make_row(const Sweep& sweep, std::size_t index, const RunReport& report) {
  const LayerReport total = report.total();
  const bool done = report.error.empty();
  const bool timed = done && report.timed();
  Json row = {{"point", index}};
  row.update(describe(sweep, sweep.point(index)));
  const auto figure = [&row](const std::string& name, bool known, const auto& value) {
    row[name] = known ? Json(value) : Json();
  };
  const std::uint64_t cycles = total.counters[counter::kTotalClocks];
  const std::uint64_t device = report.device_macs(), all = report.all_macs();
  figure("cycles", timed, cycles);
  figure("predicted_cycles", timed && sweep.runs, total.predicted[counter::kTotalClocks]);
  figure("utilization", timed, total.utilization);
  figure("roofline_utilization", timed, total.roofline_utilization);
  figure("macs", done, device);
  figure("all_macs", done, all);
  figure("device_share", done && all != 0,
         static_cast<double>(device) / static_cast<double>(std::max<std::uint64_t>(all, 1)));
  const std::string warning = share_warning(device, all);
  figure("warning", done && !warning.empty(), warning);
  figure("tiles", done, total.tiles);
  std::uint64_t bytes = 0;
  for (const auto& [port, counter] : kPorts) bytes += total.counters[counter];
  figure("bytes", timed, bytes);
  for (const auto& [port, counter] : kPorts) {
    figure(std::string("bytes.") + port, timed, total.counters[counter]);
  }
  // All rows of a sweep have the same names.
  if (std::any_of(sweep.designs.begin(), sweep.designs.end(), [](const SweepDesign& design) {
        return design.memory.sharing == MemorySharing::kDram;
      })) {
    const bool dram = timed && report.memory.sharing == MemorySharing::kDram;
    const Json use = to_json(DramUse(report.memory.dram, total.dram, total.counters));
    for (const auto& [name, value] : use.items()) figure("dram." + name, dram, value);
  }
  add_causes(total.counters, row);
  const PublishedCycles& published = total.published;
  figure("published_cycles.double_buffered_ws", timed, published.double_buffered);
  figure("published_cycles.single_buffered_ws", timed, published.single_buffered);
  figure("published_cycles.scale_sim_ws", timed, published.scale_sim_ws);
  figure("published_cycles.scale_sim_os", timed, published.scale_sim_os);
  if (!timed) {
    for (const auto& [cause, counter] : kCauses)
      row[std::string("cycle_breakdown.") + cause] = nullptr;
    row["cycle_breakdown.fill"] = row["main_wait"] = nullptr;
  }
  figure("verified", sweep.runs, report.verified());
  figure("mismatches", sweep.runs && done, total.mismatches.count);
  figure("error", !done, report.error);
  return row;
}

bool has_failed(const SweepRow& row) {
  return row.at("verified").is_boolean() && !row.at("verified").get<bool>();
}

std::string rows_csv(const std::vector<SweepRow>& rows) {
  std::string text;
  for (const SweepRow& row : rows) {
    std::string names, values;
    for (const auto& [name, value] : row.items()) {
      if (text.empty()) names += (names.empty() ? "" : ",") + name;
      values += (name == row.begin().key() ? "" : ",") + csv_text(value);
    }
    if (text.empty()) text = names + "\n";
    text += values + "\n";
  }
  return text;
}

std::string rows_json(const std::vector<SweepRow>& rows) {
  const Json json = {{"format", kReportFormat}, {"rows", rows}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string rows_verdict(const std::vector<SweepRow>& rows) {
  std::string warnings;
  std::set<std::string> warned;  // networks, whose share is the same at each batch and design
  for (const SweepRow& row : rows) {
    if (!row.contains("warning") || row["warning"].is_null()) continue;
    if (!warned.insert(row.at("network")).second) continue;
    warnings += fmt::format("Warning: {}: {}; \"quantize\": true quantizes float files.\n",
                            escaped(row.at("network").get<std::string>()),
                            row.at("warning").get<std::string>());
  }
  const std::uint64_t all = rows.size();
  const auto failed = std::count_if(rows.begin(), rows.end(), has_failed);
  if (failed != 0) {
    return warnings + fmt::format("NOT VERIFIED: {} of {}.", failed, counted(all, "point"));
  }
  const bool ran = std::any_of(rows.begin(), rows.end(),
                               [](const SweepRow& row) { return !row.at("verified").is_null(); });
  return warnings +
         (ran ? fmt::format("VERIFIED: every value, cycle and byte of {}.", counted(all, "point"))
              : fmt::format("{} predicted; nothing ran, so nothing is verified.",
                            counted(all, "point")));
}

std::vector<std::string> varied_keys(const std::vector<SweepRow>& rows) {
  std::vector<std::string> keys;
  for (const char* key : kPointKeys) {
    if (std::any_of(rows.begin(), rows.end(), [&](const SweepRow& row) {
          return varied_value(row, key) != varied_value(rows.front(), key);
        })) {
      keys.emplace_back(key);
    }
  }
  return keys;
}

std::string rows_table(const std::vector<SweepRow>& rows, std::size_t width,
                       const std::vector<std::string>& keys) {
  if (rows.empty()) return "";
  const bool runs = rows.front()["mode"] == "run";
  const bool part = std::any_of(rows.begin(), rows.end(), [](const SweepRow& row) {
    return !row["device_share"].is_null() && row["device_share"] != 1.0;
  });
  const bool designs = std::any_of(keys.begin(), keys.end(), [](const std::string& key) {
    return key != "network" && key != "batch";
  });
  const bool dram = std::any_of(rows.begin(), rows.end(), has_dram);
  Table table;
  table.add_column("point");
  for (std::string key : keys) {
    std::replace(key.begin(), key.end(), '_', '\n');
    const bool word = key == "network" || key == "depthwise" || key == "memory";
    table.add_column(key, word ? Align::kLeft : Align::kRight);
  }
  table.add_column("cycles");
  if (runs) table.add_column("predicted");
  table.add_column("utilization");
  table.add_column("of the\nroofline");
  table.add_column("main wait", Align::kLeft);
  table.add_column("bytes of\nweights");
  table.add_column("activations");
  table.add_column("results");
  table.add_column("MACs");
  for (const char* heading : {"DRAM\nrow hits", "of its\npeak", "waits for\nmemory"}) {
    if (dram) table.add_column(heading);
  }
  if (part) table.add_column("on the\ndevice");
  if (designs) table.add_column("SRAM\nKiB");
  if (designs) table.add_column("Pareto\nfront", Align::kLeft);
  if (runs) table.add_column("verified", Align::kLeft);
  for (const SweepRow& row : rows) {
    std::vector<std::string> cells{plain_text(row["point"])};
    for (const std::string& key : keys) cells.push_back(plain_text(row[key]));
    cells.push_back(count_text(row["cycles"]));
    if (runs) cells.push_back(count_text(row["predicted_cycles"]));
    cells.push_back(percent_text(row["utilization"]));
    cells.push_back(percent_text(row["roofline_utilization"]));
    cells.push_back(plain_text(row["main_wait"]));
    for (const char* port : {"bytes.weights", "bytes.activations", "bytes.results", "macs"}) {
      cells.push_back(count_text(row[port]));
    }
    if (dram) {
      cells.push_back(row_hits_text(row));
      for (const char* const share : {"dram.share_of_peak", "dram.waiting_share"}) {
        cells.push_back(has_dram(row) ? percent_text(row[share]) : "");
      }
    }
    if (part) cells.push_back(percent_text(row["device_share"]));
    if (designs) cells.push_back(fmt::format("{:.0f}", row["sram_kib"].get<double>()));
    if (designs) cells.emplace_back(row.value("pareto", false) ? "*" : "");
    if (runs) cells.emplace_back(has_failed(row) ? "NO" : "yes");
    table.add_row(std::move(cells));
  }
  return table.render(width) + "\n";
}

}  // namespace gemm64
