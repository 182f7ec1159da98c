// SPDX-License-Identifier: Apache-2.0
#include "host/report/run_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "host/escaped.hpp"
#include "host/report/dram_use.hpp"
#include "host/report/json.hpp"
#include "host/report/network_text.hpp"
#include "host/report/price_table.hpp"
#include "host/report/verdict.hpp"
#include "host/table.hpp"
#include "host/text.hpp"

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

/// "3x3 /2", with what else is unusual about it.
std::string window_text(const LayerReport& layer) {
  if (!layer.convolution) return "";
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
  const bool pool = layer.shape.k == 0;  // it has no weights
  if (pool) text += " pool";
  if (c.groups != 1 && !pool) text += fmt::format(" in {} groups", c.groups);
  if (layer.tiles == 0) text += ", lanes";
  if (layer.packed) text += " packed";
  return layer.strips == 1 ? text : fmt::format("{}, {} strips", text, layer.strips);
}

/// A row of the table: a layer, or the sum of all.
struct Row {
  const LayerReport& layer;
  bool is_total;
  bool timed;     // does the device count clocks?
  bool compared;  // were layers?

  std::string if_timed(const std::string& text) const {
    return timed && !layer.overlapped ? text : "-";
  }
  std::string if_layer(const std::string& text) const { return is_total ? "" : text; }
  std::string counted_bytes(std::size_t counter) const { return bytes(layer.counters[counter]); }
};

struct Column {
  const char* heading;
  std::string (*cell)(const Row& row);
};

/// Of networks whose layers are parts of programs.
const Column kProgramColumns[] = {
    {"program",
     [](const Row& row) {
       return row.if_layer(row.layer.program == 0 ? "-" : std::to_string(row.layer.program));
     }},
    {"window", [](const Row& row) { return row.if_layer(window_text(row.layer)); }},
};

const Column kColumns[] = {
    {"MxKxN", [](const Row& row) { return row.if_layer(shape_text(row.layer)); }},
    {"padded", [](const Row& row) { return row.if_layer(shape_text(row.layer.padded)); }},
    {"tiles", [](const Row& row) { return grouped(row.layer.tiles); }},
    {"clocks",
     [](const Row& row) {
       return row.if_timed(grouped(row.layer.counters[counter::kTotalClocks]));
     }},
    {"predicted",
     [](const Row& row) {
       return row.layer.overlapped ? "-" : grouped(row.layer.predicted[counter::kTotalClocks]);
     }},
    {"double-\nbuffered WS",
     [](const Row& row) { return grouped(row.layer.published.double_buffered); }},
    {"single-\nbuffered WS",
     [](const Row& row) { return grouped(row.layer.published.single_buffered); }},
    {"SCALE-Sim\nWS", [](const Row& row) { return grouped(row.layer.published.scale_sim_ws); }},
    {"SCALE-Sim\nOS", [](const Row& row) { return grouped(row.layer.published.scale_sim_os); }},
    {"weights", [](const Row& row) { return row.counted_bytes(counter::kBytesWeights); }},
    {"activations", [](const Row& row) { return row.counted_bytes(counter::kBytesActivations); }},
    {"results", [](const Row& row) { return row.counted_bytes(counter::kBytesResults); }},
    {"commands", [](const Row& row) { return row.counted_bytes(counter::kBytesCommands); }},
    {"utilization", [](const Row& row) { return row.if_timed(percent(row.layer.utilization)); }},
    {"of its\nroofline",
     [](const Row& row) { return row.if_timed(percent(row.layer.roofline_utilization)); }},
    {"mis-\nmatches",
     [](const Row& row) {
       return row.compared ? grouped(row.layer.mismatches.count) : std::string("-");
     }},
    {"simulated\nclocks",
     [](const Row& row) {
       if (row.layer.seconds <= 0) return row.if_timed("-");
       const double rate = static_cast<double>(row.layer.simulated_clocks) / row.layer.seconds;
       return row.if_timed(fmt::format("{:.2f} M/s", rate / 1e6));
     }},
};

std::string layer_table(const RunReport& report, std::size_t width) {
  if (report.layers.empty()) return "";
  Table table;
  table.add_column("layer", Align::kLeft);
  std::vector<Column> columns;
  const bool programs = std::any_of(report.layers.begin(), report.layers.end(),
                                    [](const LayerReport& layer) { return layer.program != 0; });
  if (programs) columns.assign(std::begin(kProgramColumns), std::end(kProgramColumns));
  columns.insert(columns.end(), std::begin(kColumns), std::end(kColumns));
  for (const Column& column : columns) table.add_column(column.heading);
  const auto add = [&](const LayerReport& layer, bool is_total) {
    const Row row{layer, is_total, report.timed(), report.check == CheckLevel::kLayers};
    std::vector<std::string> cells{layer.name};
    for (const Column& column : columns) cells.push_back(column.cell(row));
    table.add_row(cells);
  };
  for (const LayerReport& layer : report.layers) add(layer, false);
  if (report.layers.size() > 1) {
    table.add_rule();
    add(report.total(), true);
  }
  return table.render(width) + "\n";
}

/// Layers that the host computed in float32: no device, no clocks.
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

}  // namespace

std::string run_table(const RunReport& report, std::size_t width) {
  if (report.host_only) {
    return fmt::format("{} on the host in float32, batch {}\n\n", escaped(report.model),
                       report.batch) +
           host_layer_table(report, width) + host_text(report) + quality_text(report) +
           verdict(report);
  }
  std::string text = fmt::format(
      "{} on device '{}', array {}x{}, {}, partial sums added on the {}, batch {}, {}memory "
      "latency "
      "{}{}\n\n",
      escaped(report.model), report.device, report.geometry.n, report.geometry.n,
      precision_of(report), name(report.accumulate), report.batch,
      report.memory.sharing == MemorySharing::kIndependent
          ? ""
          : fmt::format("{} memory, ", report.memory.word()),
      counted(report.memory.latency, "clock"),
      report.one_program ? ", all layers as one program"
      : report.chained   ? ", layers without work of the host between them as one program"
                         : "");
  text += layer_table(report, width) + price_table(report, width);
  if (report.memory.sharing == MemorySharing::kDram && report.timed()) {
    const LayerReport total = report.total();
    text += to_text(DramUse(report.memory.dram, total.dram, total.counters));
  }
  if (report.in_float32() && report.check == CheckLevel::kLayers) {
    text +=
        fmt::format("float32 from four slices of 7 bits: largest error {:.3g} against double.\n",
                    report.total().max_abs_error);
  }
  return text + host_text(report) + quality_text(report) + verdict(report);
}

std::string engine_table(const RunReport& report, std::size_t width) {
  const LayerReport total = report.total();
  const std::uint64_t clocks = total.counters[counter::kTotalClocks];
  Table table;
  table.add_column("engine", Align::kLeft);
  table.add_column("cause", Align::kLeft);
  table.add_column("clocks");
  table.add_column("share");
  table.add_column("meaning", Align::kLeft);
  std::string engine;
  for (std::size_t i = 0; i < total.counters.size() && clocks != 0; ++i) {
    const std::string of = kCounters[i].engine;
    if (of == "total" || of == "bytes") continue;
    if (!engine.empty() && of != engine) table.add_rule();
    table.add_row({of == engine ? "" : of, kCounters[i].cause, grouped(total.counters[i]),
                   percent(static_cast<double>(total.counters[i]) / static_cast<double>(clocks)),
                   kCounters[i].purpose});
    engine = of;
  }
  return table.render(width);
}

}  // namespace gemm64
