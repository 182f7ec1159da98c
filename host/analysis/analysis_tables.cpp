// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "host/analysis/analysis_report.hpp"
#include "host/analysis/attributes.hpp"
#include "host/analysis/columns.hpp"
#include "host/report/dram_use.hpp"
#include "host/report/network_text.hpp"
#include "host/tiling/tensor_placement.hpp"
#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

/// A sum; ">= " before it says that it lacks what is not known.
std::string sum_text(std::uint64_t sum, bool is_known) {
  return (is_known ? "" : ">= ") + grouped(sum);
}

/// The columns that every layer has a figure for, known or not.
bool is_for_all_layers(const std::string& key) {
  static const std::set<std::string> keys{"parameters",       "weight_bytes", "macs",
                                          "activation_bytes", "read_bytes",   "written_bytes",
                                          "intensity"};
  return keys.count(key) != 0;
}

struct CellDisplay {
  std::string key;
  std::string operator()(std::monostate) const { return is_for_all_layers(key) ? "?" : ""; }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(std::uint64_t count) const { return count == 0 ? "-" : grouped(count); }
  std::string operator()(double value) const {
    if (key == "intensity") return value == 0 ? "-" : fmt::format("{:.4f}", value);
    return percent(value);
  }
};

std::string ends_text(const Analysis& analysis) {
  std::string text = fmt::format("{}: {}, {}\n", analysis.model, analysis.opsets,
                                 counted(analysis.layers.size(), "node"));
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
  table.add_column("totals", Align::kLeft);
  table.add_column("value");
  table.add_column("", Align::kLeft);
  const auto row = [&table](const std::string& what, std::uint64_t value, bool is_known,
                            const std::string& note = "") {
    table.add_row({what, sum_text(value, is_known), note});
  };
  const bool parameters_known = totals.parameters_known;
  const bool bytes_known = totals.bytes_known;
  row("parameters", totals.parameters, parameters_known);
  row("bytes of all parameters", totals.parameter_bytes, parameters_known,
      bytes(totals.parameter_bytes));
  row("bytes of the weights only", totals.weight_bytes, parameters_known, "without biases");
  if (totals.statistic_bytes != 0) {
    row("bytes of statistics", totals.statistic_bytes, parameters_known,
        "means and variances of BatchNormalization; no parameters");
  }
  row("MACs", totals.macs, totals.macs_known, "biases not counted");
  row("additions of biases", totals.bias_adds, totals.macs_known);
  row("bytes of activations, sum", totals.activation_bytes, bytes_known,
      fmt::format("{} values", sum_text(totals.activation_values, bytes_known)));
  if (analysis.modules) {
    const ModuleActivations& modules = *analysis.modules;
    row("  by module, as hooks count", modules.leaf_bytes + modules.container_bytes, bytes_known,
        fmt::format("{}, and {} that contain them again ({})", counted(modules.leaves, "module"),
                    modules.containers, counted(modules.container_bytes, "byte")));
  }
  row("  peak of one layer, in + out", totals.peak_layer_bytes, bytes_known, totals.peak_layer);
  row("  peak live at one time", totals.peak_live_bytes, bytes_known, totals.peak_live_layer);
  row("traffic without on-chip buffer", totals.read_bytes + totals.written_bytes, bytes_known,
      fmt::format("{} read, {} written", grouped(totals.read_bytes),
                  grouped(totals.written_bytes)));
  table.add_row(
      {"MACs per value moved", fmt::format("{:.5f}", totals.intensity),
       fmt::format("layers with {}MACs, biases left out; the layers' own add up to {:.5f}",
                   totals.macs_known && bytes_known ? "" : "known ", totals.intensity_sum)});
  return table.render(width);
}

/// Layers with MACs that `gemm64 run` leaves to the host, by operator and reason.
std::string host_text(const Analysis& analysis) {
  if (!analysis.why_not_run.empty()) {
    return fmt::format("gemm64 run refuses this network: {}\n", analysis.why_not_run);
  }
  std::map<std::pair<std::string, std::string>, std::uint64_t> groups;
  for (const LayerAnalysis& layer : analysis.layers) {
    if (layer.on_host && !layer.on_host->empty()) ++groups[{layer.op_type, *layer.on_host}];
  }
  std::string text;
  for (const auto& [group, count] : groups) {
    text += fmt::format("On the host in gemm64 run: {} {}: {}\n", grouped(count), group.first,
                        group.second);
  }
  const std::string warning = share_warning(analysis.totals.on_device.macs, analysis.totals.macs);
  if (!warning.empty()) text += "Warning: in gemm64 run, " + warning + ".\n";
  return text;
}

/// What ">=" means, and what would help; empty where all is known.
std::string partial_text(const Analysis& analysis) {
  const AnalysisTotals& totals = analysis.totals;
  if (totals.parameters_known && totals.macs_known && totals.bytes_known && totals.array_known) {
    return "";
  }
  std::string text = "\nPartial: totals marked >= omit what is listed at the end.\n";
  if (!analysis.open_inputs.empty()) {
    text += fmt::format("The file leaves sizes open; give them with --input-shape {}.\n",
                        fmt::join(analysis.open_inputs, " --input-shape "));
  }
  return text;
}

std::string array_table(const Analysis& analysis, std::size_t width) {
  const AnalysisTotals& totals = analysis.totals;
  if (totals.array_layers == 0) {
    const std::string text = host_text(analysis);
    return text.empty() ? "" : "\n" + text;
  }
  const std::uint32_t n = analysis.geometry.n;
  Table table;
  table.add_column(fmt::format("on the {}x{} array", n, n), Align::kLeft);
  table.add_column("value");
  table.add_column("", Align::kLeft);
  const auto row = [&](const std::string& what, std::uint64_t value, const std::string& note) {
    table.add_row({what, sum_text(value, totals.array_known), note});
  };
  const AnalysisTotals::Place& here = totals.on_device;
  const AnalysisTotals::Place& there = totals.if_on_device;
  const auto macs = [&totals](const AnalysisTotals::Place& place) {
    return fmt::format("{} of their MACs", share(place.macs, totals.array_macs));
  };
  row("layers", totals.array_layers, "Conv as one product per group (im2col), Gemm, MatMul");
  row("  on the device in gemm64 run", here.layers, macs(here));
  row("  on the host in gemm64 run", there.layers, macs(there) + "; predicted, if on the device");
  row("tiles of weights", totals.tiles, "");
  row("cycles, predicted", totals.cycles,
      fmt::format("int8, {}memory latency {} cycles; {} of its MACs used",
                  analysis.memory.sharing == MemorySharing::kIndependent
                      ? ""
                      : fmt::format("{} memory, ", analysis.memory.word()),
                  analysis.memory.latency, percent(totals.utilization)));
  row("  on the device in gemm64 run", here.cycles,
      analysis.quantizes && here.layers != 0 ? "with --precision int8" : "");
  row("  on the host in gemm64 run", there.cycles, "if on the device");
  if (totals.array_unpredicted != 0) {
    row("  layers left out of that", totals.array_unpredicted, "too many tiles to follow");
  }
  row("cycles, roofline", totals.roof_cycles, "lower bound from MACs or the busiest port");
  row("cycles, double-buffered WS", totals.published.double_buffered, "published formula");
  row("cycles, single-buffered WS", totals.published.single_buffered, "published formula");
  row("cycles, SCALE-Sim WS", totals.published.scale_sim_ws, "published formula");
  row("cycles, SCALE-Sim OS", totals.published.scale_sim_os, "published formula");
  return "\n" + table.render(width) + host_text(analysis);
}

/// The programs of `run`, a row each.
std::string programs_table(const Analysis& analysis, std::size_t width) {
  if (analysis.programs.empty()) return "";
  Table table;
  table.add_column("program", Align::kLeft);
  for (const char* heading : {"layers", "MACs", "cycles", "utilization"}) {
    table.add_column(heading);
  }
  table.add_column("from", Align::kLeft);
  table.add_column("to", Align::kLeft);
  const auto row = [&](const std::string& name, const ProgramAnalysis& program,
                       const std::string& from, const std::string& to) {
    const double all = static_cast<double>(analysis.geometry.macs_per_clock()) *
                       static_cast<double>(program.cycles);
    table.add_row({name, grouped(program.layers.size()), grouped(program.macs),
                   grouped(program.cycles), percent(static_cast<double>(program.macs) / all), from,
                   to});
  };
  ProgramAnalysis total;
  for (std::size_t i = 0; i < analysis.programs.size(); ++i) {
    const ProgramAnalysis& program = analysis.programs[i];
    row(std::to_string(i + 1), program, program.layers.front(), program.layers.back());
    total.layers.insert(total.layers.end(), program.layers.begin(), program.layers.end());
    total.cycles += program.cycles;
    total.macs += program.macs;
  }
  table.add_rule();
  row("total", total, "", "");
  return "\n" + table.render(width) + between_text(analysis.between) +
         waits_text(analysis.between, analysis.geometry.n, analysis.totals.on_device.cycles);
}

/// How many results stay in the tensor memory.
std::string places_text(const Analysis& analysis) {
  std::size_t all = 0, inside = 0;
  for (const ProgramAnalysis& program : analysis.programs) {
    all += program.places.size();
    inside += static_cast<std::size_t>(
        std::count(program.places.begin(), program.places.end(), TensorPlace{0, ""}.text()));
  }
  if (all == 0) return "";
  return fmt::format(
      "Results of {} of {} layers stay in the tensor memory; --columns results_in lists each.\n",
      inside, all);
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
    const auto count = [](std::uint64_t value, bool is_known) {
      if (value == 0) return std::string(is_known ? "-" : "?");
      return sum_text(value, is_known);
    };
    const bool shares_known = analysis.totals.macs_known;
    table.add_row({name, grouped(kind.count), count(kind.parameters, kind.parameters_known),
                   count(kind.macs, kind.macs_known),
                   !shares_known    ? "?"
                   : kind.macs == 0 ? "-"
                                    : percent(share),
                   count(kind.bias_adds, kind.macs_known),
                   count(kind.activation_bytes, kind.bytes_known),
                   count(kind.traffic_bytes, kind.bytes_known)});
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

/// The usual columns are in one part, for which long names are cut.
std::string layers_table(const Analysis& analysis, const std::vector<std::size_t>& layers,
                         const std::string& keys, std::size_t width) {
  const bool all = keys == "all";
  const std::vector<const LayerColumn*> columns = table_columns(keys);
  Table table;
  for (const LayerColumn* column : columns) {
    const std::string key = column->key;
    const bool left = key == "name" || key == "operator" || key == "outputs" || key == "bound" ||
                      key == "on" || key == "results_in";
    const char* const heading = column->heading == nullptr ? column->key : column->heading;
    table.add_column(heading, left ? Align::kLeft : Align::kRight);
  }
  if (all) {
    table.add_column("attributes", Align::kLeft);
    table.add_column("inputs", Align::kLeft);
  }
  for (const std::size_t i : layers) {
    const LayerAnalysis& layer = analysis.layers[i];
    std::vector<std::string> cells;
    for (const LayerColumn* column : columns) {
      cells.push_back(std::visit(CellDisplay{column->key}, column->cell(layer)));
    }
    if (all) {
      cells.push_back(short_attributes(layer));
      cells.push_back(fmt::format("{}", fmt::join(layer.inputs, " ")));
    }
    table.add_row(std::move(cells));
  }
  if (keys.empty()) {
    constexpr std::size_t kMostWidth = 100;
    width = width == 0 ? kMostWidth : std::min(width, kMostWidth);
    table.fit_first_column(width);
  }
  std::string text = table.render(width);
  if (layers.size() < analysis.layers.size()) {
    text += fmt::format("{} of {} shown; --csv and --json have all of them\n", layers.size(),
                        counted(analysis.layers.size(), "node"));
  }
  return text;
}

}  // namespace

std::string analysis_tables(const Analysis& analysis, const std::vector<std::size_t>& layers,
                            const std::string& columns, std::size_t width) {
  std::string text = ends_text(analysis);
  text += "\n" + totals_table(analysis, width);
  text += partial_text(analysis);
  text += array_table(analysis, width);
  text += programs_table(analysis, width);
  if (analysis.memory.sharing == MemorySharing::kDram && !analysis.programs.empty()) {
    text += to_text(DramUse(analysis.memory.dram, analysis.dram, analysis.counters));
  }
  text += places_text(analysis);
  if (analysis.compute_bound != 0 && analysis.dram_cycles != 0) {
    text +=
        fmt::format("Cycles of the programs: {} with {}; {} is the compute bound (ideal ports).\n",
                    grouped(analysis.dram_cycles), analysis.dram_memory.word(),
                    grouped(analysis.compute_bound));
  }
  if (const auto energy = energy_of(analysis)) text += to_text(*energy);
  text += "\n" + kinds_table(analysis, width);
  if (columns == "all") text += attributes_table(analysis, width);
  text += "\n" + layers_table(analysis, layers, columns, width);
  if (!analysis.unknown.empty()) {
    constexpr std::size_t kMaxLines = 20;
    text += "\nUnknown, and missing from the totals:\n";
    for (std::size_t i = 0; i < std::min(kMaxLines, analysis.unknown.size()); ++i) {
      text += "  " + analysis.unknown[i] + "\n";
    }
    if (analysis.unknown.size() > kMaxLines) {
      text += fmt::format("  and {} more; --json has all of them\n",
                          analysis.unknown.size() - kMaxLines);
    }
  }
  return text;
}

}  // namespace gemm64
