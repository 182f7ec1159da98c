// SPDX-License-Identifier: Apache-2.0
#include "host/report/run_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

#include "host/report/dram_use.hpp"
#include "host/report/json.hpp"
#include "host/report/network_text.hpp"
#include "host/report/price_table.hpp"
#include "host/report/verdict.hpp"
#include "host/util/error.hpp"
#include "host/util/escaped.hpp"
#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

std::string shape_text(const GemmShape& shape) {
  return fmt::format("{}x{}x{}", shape.m, shape.k, shape.n);
}

/// "6x4x5", of a stack "3 of 2x4x5".
std::string shape_text(const LayerReport& layer) {
  if (layer.products < 2) return shape_text(layer.shape);
  const GemmShape& all = layer.shape;
  return fmt::format("{} of {}", layer.products,
                     shape_text({all.m / layer.products, all.k, all.n}));
}

/// "3x3 /2 pool"; "-" of a layer without a window.
std::string kernel_text(const LayerReport& layer) {
  if (!layer.convolution) return "-";
  const Convolution& c = *layer.convolution;
  const auto pair = [](std::uint32_t height, std::uint32_t width) {
    return height == width ? std::to_string(width) : fmt::format("{}x{}", height, width);
  };
  std::string text = fmt::format("{}x{}", c.kernel_height, c.kernel_width);
  if (c.stride_height != 1 || c.stride_width != 1) {
    text += " /" + pair(c.stride_height, c.stride_width);
  }
  if (c.dilation_height != 1 || c.dilation_width != 1) {
    text += " dilated " + pair(c.dilation_height, c.dilation_width);
  }
  return layer.shape.k == 0 ? text + " pool" : text;  // it has no weights
}

/// The same, and how it runs.
std::string window_text(const LayerReport& layer) {
  if (!layer.convolution) return "";
  const Convolution& c = *layer.convolution;
  std::string text = kernel_text(layer);
  const bool pool = layer.shape.k == 0;
  if (c.groups != 1 && !pool) text += fmt::format(" in {} groups", c.groups);
  if (layer.tiles == 0) text += ", lanes";
  if (layer.packed) text += " packed";
  return layer.strips == 1 ? text : fmt::format("{}, {} strips", text, layer.strips);
}

/// A row of the table: a layer, or the sum of all.
struct Row {
  const RunReport& report;
  const LayerReport& layer;
  bool is_total;

  bool timed() const { return report.timed() && !layer.overlapped; }
  std::string if_timed(const std::string& text) const { return timed() ? text : "-"; }
  std::string if_layer(const std::string& text) const { return is_total ? "" : text; }
  /// Layers such as pools have no MACs, so no tiles, utilization or published cycles.
  std::string if_multiplies(const std::string& text) const {
    return layer.shape.macs() == 0 && !is_total ? "-" : text;
  }
  std::string counted_bytes(std::size_t counter) const {
    return report.timed() || layer.counters[counter] != 0 ? bytes(layer.counters[counter]) : "-";
  }
};

/// Was everything of the layer that is compared as expected?
std::string check_text(const Row& row) {
  const LayerReport& layer = row.layer;
  if (layer.mismatches.count != 0) return grouped(layer.mismatches.count) + " differ";
  for (std::size_t i = 0; i < layer.counters.size(); ++i) {
    if (row.report.is_checked(i) && layer.counters[i] != layer.predicted[i]) return "counters";
  }
  if (layer.error_bound != 0 && !(layer.max_abs_error <= layer.error_bound)) return "error";
  if (row.report.check != CheckLevel::kLayers) return "-";
  return layer.on_chip ? "on chip" : "equal";
}

struct Column {
  const char* key;
  const char* heading;
  bool usual;  // shown by default
  std::string (*cell)(const Row& row);
};

const Column kColumns[] = {
    // These two are of networks whose layers are parts of programs.
    {"program", "program", false,
     [](const Row& row) {
       return row.if_layer(row.layer.program == 0 ? "-" : std::to_string(row.layer.program));
     }},
    {"window", "window", false,
     [](const Row& row) { return row.if_layer(window_text(row.layer)); }},
    {"shape", "MxKxN", true,
     [](const Row& row) {
       const bool multiplies = row.layer.shape.macs() != 0;
       return row.if_layer(multiplies ? shape_text(row.layer) : kernel_text(row.layer));
     }},
    {"padded", "padded", false,
     [](const Row& row) { return row.if_layer(row.if_multiplies(shape_text(row.layer.padded))); }},
    {"tiles", "tiles", false,
     [](const Row& row) { return row.layer.tiles == 0 ? "-" : grouped(row.layer.tiles); }},
    {"cycles", "cycles", true,
     [](const Row& row) {
       return row.if_timed(grouped(row.layer.counters[counter::kTotalClocks]));
     }},
    {"predicted", "predicted", true,
     [](const Row& row) {
       return row.layer.overlapped ? "-" : grouped(row.layer.predicted[counter::kTotalClocks]);
     }},
    {"double_buffered_ws", "double-\nbuffered WS", false,
     [](const Row& row) {
       return row.if_multiplies(grouped(row.layer.published.double_buffered));
     }},
    {"single_buffered_ws", "single-\nbuffered WS", false,
     [](const Row& row) {
       return row.if_multiplies(grouped(row.layer.published.single_buffered));
     }},
    {"scale_sim_ws", "SCALE-Sim\nWS", false,
     [](const Row& row) { return row.if_multiplies(grouped(row.layer.published.scale_sim_ws)); }},
    {"scale_sim_os", "SCALE-Sim\nOS", false,
     [](const Row& row) { return row.if_multiplies(grouped(row.layer.published.scale_sim_os)); }},
    {"utilization", "utilization", true,
     [](const Row& row) {
       return row.if_multiplies(row.if_timed(percent(row.layer.utilization)));
     }},
    {"roofline_utilization", "of its\nroofline", false,
     [](const Row& row) { return row.if_timed(percent(row.layer.roofline_utilization)); }},
    {"weights", "weights", false,
     [](const Row& row) { return row.counted_bytes(counter::kBytesWeights); }},
    {"activations", "activations", false,
     [](const Row& row) { return row.counted_bytes(counter::kBytesActivations); }},
    {"results", "results", false,
     [](const Row& row) { return row.counted_bytes(counter::kBytesResults); }},
    {"commands", "commands", false,
     [](const Row& row) { return row.counted_bytes(counter::kBytesCommands); }},
    {"bytes", "bytes", true, [](const Row& row) { return short_bytes(all_bytes(row.layer)); }},
    {"check", "check", true, check_text},
    {"mismatches", "mis-\nmatches", false,
     [](const Row& row) {
       return row.report.check == CheckLevel::kLayers ? grouped(row.layer.mismatches.count)
                                                      : std::string("-");
     }},
    {"cycles_per_second", "simulated\ncycles", false,
     [](const Row& row) {
       if (row.layer.seconds <= 0) return row.if_timed("-");
       const double rate = static_cast<double>(row.layer.simulated_cycles) / row.layer.seconds;
       return row.if_timed(fmt::format("{:.2f} M/s", rate / 1e6));
     }},
};

/// Of the keys "a,b".
std::vector<std::string> split(const std::string& keys) {
  std::vector<std::string> parts;
  std::istringstream in(keys);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

std::vector<const Column*> columns_shown(const std::string& keys) {
  std::vector<const Column*> columns;
  if (keys.empty() || keys == "all") {
    for (const Column& column : kColumns) {
      if (column.usual || keys == "all") columns.push_back(&column);
    }
    return columns;
  }
  for (const std::string& key : split(keys)) {
    const auto* const found = std::find_if(std::begin(kColumns), std::end(kColumns),
                                           [&](const Column& column) { return key == column.key; });
    if (found == std::end(kColumns)) {
      throw UsageError(fmt::format("--columns: no column is called '{}'; use all, or some of {}",
                                   key, run_column_keys()));
    }
    columns.push_back(found);
  }
  return columns;
}

/// The usual columns are in one part, for which long names are cut.
std::string layer_table(const RunReport& report, const ReportView& view) {
  if (report.layers.empty()) return "";
  constexpr std::size_t kMostWidth = 100;
  std::vector<const Column*> columns = columns_shown(view.columns);
  const bool programs = std::any_of(report.layers.begin(), report.layers.end(),
                                    [](const LayerReport& layer) { return layer.program != 0; });
  if (view.columns == "all" && !programs) columns.erase(columns.begin(), columns.begin() + 2);
  Table table;
  table.add_column("layer", Align::kLeft);
  for (const Column* column : columns) table.add_column(column->heading);
  const auto add = [&](const LayerReport& layer, bool is_total) {
    const Row row{report, layer, is_total};
    std::vector<std::string> cells{escaped(layer.name)};
    for (const Column* column : columns) cells.push_back(column->cell(row));
    table.add_row(cells);
  };
  for (const LayerReport& layer : report.layers) add(layer, false);
  if (report.layers.size() > 1) {
    table.add_rule();
    add(report.total(), true);
  }
  if (!view.columns.empty()) return table.render(view.width) + "\n";
  const std::size_t most = view.width == 0 ? kMostWidth : std::min(view.width, kMostWidth);
  table.fit_first_column(most);
  return table.render(most) + "\n";
}

/// Layers that the host computed in float32: no device, no cycles.
std::string host_layer_table(const RunReport& report, std::size_t width) {
  if (report.layers.empty()) return "";
  Table table;
  table.add_column("layer", Align::kLeft);
  table.add_column("MxKxN");
  table.add_column("MACs");
  table.add_column("largest error\nagainst double");
  table.add_column("allowed");
  for (const LayerReport& layer : report.layers) {
    table.add_row({layer.name, shape_text(layer), grouped(layer.shape.macs()),
                   fmt::format("{:.3g}", layer.max_abs_error),
                   fmt::format("{:.3g}", layer.error_bound)});
  }
  return table.render(width) + "\n";
}

/// "alexnet, batch 64, on device 'rtl', array 64x64, int8", and what is not as usual.
std::string heading(const RunReport& report, bool explain) {
  std::string text = fmt::format("{} on device '{}', array {}x{}, {}, batch {}",
                                 escaped(report.model), report.device, report.geometry.n,
                                 report.geometry.n, precision_of(report), report.batch);
  if (explain || report.accumulate != Accumulate::kDevice) {
    text += fmt::format(", partial sums added on the {}", name(report.accumulate));
  }
  if (report.memory.sharing != MemorySharing::kIndependent) {
    text += fmt::format(", {} memory", report.memory.word());
  }
  if (explain || report.memory.latency != MemoryTiming().latency) {
    text += fmt::format(", memory latency {}", counted(report.memory.latency, "cycle"));
  }
  if (report.one_program) return text + ", all layers as one program";
  return report.chained && explain
             ? text + ", layers without work of the host between them as one program"
             : text;
}

}  // namespace

void check_columns(const std::string& columns) { columns_shown(columns); }

std::string run_column_keys() {
  std::string keys;
  for (const Column& column : kColumns) {
    keys += fmt::format("{}{}", keys.empty() ? "" : ", ", column.key);
  }
  return keys;
}

std::string run_details(const RunReport& report, const ReportView& view) {
  const std::string checks = check_details(report, view.explain);
  if (view.quiet) return warnings_text(report) + (report.held() ? "" : checks);
  if (report.host_only) {
    return fmt::format("{} on the host in float32, batch {}\n\n", escaped(report.model),
                       report.batch) +
           host_layer_table(report, view.width) + host_text(report, view.explain) +
           quality_text(report, view.explain) + checks;
  }
  std::string text = heading(report, view.explain) + "\n\n" + layer_table(report, view) +
                     price_table(report, view.width);
  if (report.memory.sharing == MemorySharing::kDram && report.timed()) {
    const LayerReport total = report.total();
    text += to_text(DramUse(report.memory.dram, total.dram, total.counters));
  }
  if (report.in_float32() && report.check == CheckLevel::kLayers) {
    text +=
        fmt::format("float32 from four slices of 7 bits: largest error {:.3g} against double.\n",
                    report.total().max_abs_error);
  }
  return text + host_text(report, view.explain) + quality_text(report, view.explain) + checks;
}

std::string engine_table(const RunReport& report, std::size_t width) {
  const LayerReport total = report.total();
  const std::uint64_t cycles = total.counters[counter::kTotalClocks];
  Table table;
  table.add_column("engine", Align::kLeft);
  table.add_column("cause", Align::kLeft);
  table.add_column("cycles");
  table.add_column("share");
  table.add_column("meaning", Align::kLeft);
  std::string engine;
  for (std::size_t i = 0; i < total.counters.size() && cycles != 0; ++i) {
    const std::string of = kCounters[i].engine;
    if (of == "total" || of == "bytes") continue;
    if (!engine.empty() && of != engine) table.add_rule();
    table.add_row({of == engine ? "" : of, kCounters[i].cause, grouped(total.counters[i]),
                   percent(static_cast<double>(total.counters[i]) / static_cast<double>(cycles)),
                   kCounters[i].purpose});
    engine = of;
  }
  return table.render(width);
}

}  // namespace gemm64
