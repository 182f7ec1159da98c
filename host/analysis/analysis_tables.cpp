// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "host/analysis/analysis_report.hpp"
#include "host/analysis/attributes.hpp"
#include "host/analysis/columns.hpp"
#include "host/report/table.hpp"
#include "host/text.hpp"

namespace gemm64 {
namespace {

struct CellDisplay {
  std::string key;
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(std::uint64_t count) const { return count == 0 ? "-" : grouped(count); }
  std::string operator()(double value) const {
    if (key == "intensity") return value == 0 ? "-" : fmt::format("{:.4f}", value);
    return percent(value);
  }
};

std::string ends_text(const Analysis& analysis) {
  std::string text = fmt::format("{}: opset {}, {} nodes\n", analysis.model, analysis.opset,
                                 analysis.layers.size());
  for (const auto& [name, type] : analysis.inputs) {
    text += fmt::format("  input   {}: {}\n", name, type);
  }
  for (const auto& [name, type] : analysis.outputs) {
    text += fmt::format("  output  {}: {}\n", name, type);
  }
  return text;
}

std::string totals_table(const Analysis& analysis, std::size_t width) {
  const AnalysisTotals& totals = analysis.totals;
  Table table;
  table.add_column("in all", Align::kLeft);
  table.add_column("value");
  table.add_column("", Align::kLeft);
  const auto row = [&table](const std::string& what, std::uint64_t value,
                            const std::string& note = "") {
    table.add_row({what, grouped(value), note});
  };
  row("parameters", totals.parameters);
  row("bytes of all parameters", totals.parameter_bytes, bytes(totals.parameter_bytes));
  row("bytes of the weights alone", totals.weight_bytes, "without biases");
  if (totals.statistic_bytes != 0) {
    row("bytes of statistics", totals.statistic_bytes,
        "means and variances of BatchNormalization; no parameters");
  }
  row("MACs", totals.macs, "biases not counted");
  row("additions of biases", totals.bias_adds);
  row("bytes of activations, sum", totals.activation_bytes,
      fmt::format("{} values", grouped(totals.activation_values)));
  if (analysis.modules) {
    const ModuleActivations& modules = *analysis.modules;
    row("  by module, as hooks count", modules.leaf_bytes + modules.container_bytes,
        fmt::format("{} modules, and {} that contain them again ({} bytes)", modules.leaves,
                    modules.containers, grouped(modules.container_bytes)));
  }
  row("  peak of one layer, in + out", totals.peak_layer_bytes, totals.peak_layer);
  row("  peak alive at a time", totals.peak_live_bytes, totals.peak_live_layer);
  row("traffic without on-chip buffer", totals.read_bytes + totals.written_bytes,
      fmt::format("{} read, {} written", grouped(totals.read_bytes),
                  grouped(totals.written_bytes)));
  table.add_row({"MACs a value moved", fmt::format("{:.5f}", totals.intensity),
                 fmt::format("layers with MACs, biases left out; the layers' own add up to {:.5f}",
                             totals.intensity_sum)});
  return table.render(width);
}

std::string array_table(const Analysis& analysis, std::size_t width) {
  const AnalysisTotals& totals = analysis.totals;
  if (totals.array_layers == 0) return "";
  const std::uint32_t n = analysis.geometry.n;
  Table table;
  table.add_column(fmt::format("on the {}x{} array", n, n), Align::kLeft);
  table.add_column("value");
  table.add_column("", Align::kLeft);
  const auto row = [&table](const std::string& what, std::uint64_t value, const std::string& note) {
    table.add_row({what, grouped(value), note});
  };
  row("layers", totals.array_layers, "Conv as a product for each group (im2col), Gemm, MatMul");
  row("tiles of weights", totals.tiles, "");
  row("clocks, predicted", totals.clocks,
      fmt::format("int8, memory of {} clocks latency; {} of its MACs used", analysis.memory_latency,
                  percent(totals.utilization)));
  if (totals.array_unpredicted != 0) {
    row("  layers left out of that", totals.array_unpredicted, "too many tiles to follow");
  }
  row("clocks, roofline", totals.roof_clocks, "what MACs or the busiest port take at least");
  row("clocks, double-buffered WS", totals.published.double_buffered, "published formula");
  row("clocks, single-buffered WS", totals.published.single_buffered, "published formula");
  row("clocks, SCALE-Sim WS", totals.published.scale_sim_ws, "published formula");
  row("clocks, SCALE-Sim OS", totals.published.scale_sim_os, "published formula");
  return "\n" + table.render(width);
}

std::string kinds_table(const Analysis& analysis, std::size_t width) {
  Table table;
  table.add_column("operator", Align::kLeft);
  for (const char* heading : {"nodes", "parameters", "MACs", "share", "biases\nadded",
                              "activations,\nbytes", "traffic,\nbytes"}) {
    table.add_column(heading);
  }
  for (const auto& [name, kind] : analysis.kinds) {
    const double share = analysis.totals.macs == 0 ? 0
                                                   : static_cast<double>(kind.macs) /
                                                         static_cast<double>(analysis.totals.macs);
    const auto count = [](std::uint64_t value) { return value == 0 ? "-" : grouped(value); };
    table.add_row({name, grouped(kind.count), count(kind.parameters), count(kind.macs),
                   kind.macs == 0 ? "-" : percent(share), count(kind.bias_adds),
                   count(kind.activation_bytes), count(kind.traffic_bytes)});
  }
  return table.render(width);
}

std::string attributes_table(const Analysis& analysis, std::size_t width) {
  Table table;
  table.add_column("operator", Align::kLeft);
  table.add_column("attribute", Align::kLeft);
  table.add_column("nodes");
  table.add_column("range");
  table.add_column("values", Align::kLeft);
  bool any = false;
  for (const auto& [op, kind] : analysis.kinds) {
    for (const auto& [name, attribute] : kind.attributes) {
      if (op == "Constant") continue;
      std::string range;
      if (attribute.range) {
        const auto [least, most] = *attribute.range;
        range = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
      }
      std::string values = fmt::format("{}", fmt::join(attribute.values, ", "));
      if (attribute.more) values += ", ...";
      table.add_row({op, name, grouped(attribute.count), range, values});
      any = true;
    }
  }
  return any ? "\n" + table.render(width) : "";
}

std::string layers_table(const Analysis& analysis, const std::vector<std::size_t>& layers,
                         std::size_t width) {
  Table table;
  for (const LayerColumn& column : layer_columns()) {
    if (column.heading == nullptr) continue;
    const std::string key = column.key;
    const bool left = key == "name" || key == "operator" || key == "outputs" || key == "bound";
    table.add_column(column.heading, left ? Align::kLeft : Align::kRight);
  }
  table.add_column("attributes", Align::kLeft);
  table.add_column("inputs", Align::kLeft);
  for (const std::size_t i : layers) {
    const LayerAnalysis& layer = analysis.layers[i];
    std::vector<std::string> cells;
    for (const LayerColumn& column : layer_columns()) {
      if (column.heading == nullptr) continue;
      cells.push_back(std::visit(CellDisplay{column.key}, column.cell(layer)));
    }
    cells.push_back(short_attributes(layer));
    cells.push_back(fmt::format("{}", fmt::join(layer.inputs, " ")));
    table.add_row(std::move(cells));
  }
  std::string text = table.render(width);
  if (layers.size() < analysis.layers.size()) {
    text += fmt::format("{} of {} nodes shown; Constant and Identity are in --csv and --json\n",
                        layers.size(), analysis.layers.size());
  }
  return text;
}

}  // namespace

std::string analysis_tables(const Analysis& analysis, const std::vector<std::size_t>& layers,
                            std::size_t width) {
  std::string text = ends_text(analysis);
  text += "\n" + totals_table(analysis, width);
  text += array_table(analysis, width);
  text += "\n" + kinds_table(analysis, width);
  text += attributes_table(analysis, width);
  text += "\n" + layers_table(analysis, layers, width);
  if (!analysis.unknown.empty()) {
    constexpr std::size_t kMostLines = 20;
    text += "\nNot known, and missing from the sums:\n";
    for (std::size_t i = 0; i < std::min(kMostLines, analysis.unknown.size()); ++i) {
      text += "  " + analysis.unknown[i] + "\n";
    }
    if (analysis.unknown.size() > kMostLines) {
      text +=
          fmt::format("  and {} more; all are in --json\n", analysis.unknown.size() - kMostLines);
    }
  }
  return text;
}

}  // namespace gemm64
