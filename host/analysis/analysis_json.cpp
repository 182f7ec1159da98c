// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "host/analysis/analysis_report.hpp"
#include "host/report/dram_use.hpp"
#include "host/report/json.hpp"
#include "host/report/network_text.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

Json published_json(const PublishedCycles& cycles) {
  return {{"double_buffered_ws", cycles.double_buffered},
          {"single_buffered_ws", cycles.single_buffered},
          {"scale_sim_ws", cycles.scale_sim_ws},
          {"scale_sim_os", cycles.scale_sim_os}};
}

Json array_json(const ArrayCost& cost) {
  Json json = {{"m", cost.products.shape.m},
               {"k", cost.products.shape.k},
               {"n", cost.products.shape.n},
               {"products", cost.products.count},
               {"tiles", cost.tiles},
               {"padding_waste", cost.padding_waste},
               {"clocks", cost.cycles ? Json(*cost.cycles) : Json()},
               {"utilization", cost.cycles ? Json(cost.utilization) : Json()},
               {"bound", cost.bound()},
               {"roof_clocks",
                {{"macs", cost.macs_cycles},
                 {"weights", cost.weights_cycles},
                 {"activations", cost.activations_cycles},
                 {"results", cost.results_cycles}}},
               {"published_cycles", published_json(cost.published)},
               {"bytes",
                {{"weights", cost.bytes.weights},
                 {"activations", cost.bytes.activations},
                 {"results", cost.bytes.results},
                 {"commands", cost.bytes.commands}}},
               {"macs_per_byte", cost.intensity}};
  if (cost.program != 0) json["program"] = cost.program;
  if (cost.packed) json["packed"] = true;
  return json;
}

/// A figure, null where it is not known.
template <class T>
Json known(bool is_known, T value) {
  return is_known ? Json(value) : Json();
}

Json layer_json(const LayerAnalysis& layer) {
  Json attributes = Json::object();
  for (const auto& [name, value] : layer.attributes) attributes[name] = value;
  Json json = {{"name", layer.name},
               {"operator", layer.op_type},
               {"attributes", attributes},
               {"inputs", layer.inputs},
               {"outputs", layer.outputs},
               {"parameters", known(layer.parameters_known, layer.parameters)},
               {"parameter_bytes", known(layer.parameters_known, layer.parameter_bytes)},
               {"weight_bytes", known(layer.parameters_known, layer.weight_bytes)},
               {"statistic_bytes", known(layer.parameters_known, layer.statistic_bytes)},
               {"macs", known(layer.macs_known, layer.macs)},
               {"bias_adds", known(layer.macs_known, layer.bias_adds)},
               {"activation_bytes", known(layer.bytes_known, layer.activation_bytes)},
               {"in_and_out_bytes", known(layer.bytes_known, layer.in_and_out_bytes)},
               {"read_bytes", known(layer.bytes_known, layer.read_bytes)},
               {"written_bytes", known(layer.bytes_known, layer.written_bytes)},
               {"intensity", known(layer.macs_known && layer.bytes_known, layer.intensity)},
               {"folded", layer.folded}};
  if (layer.on_host) {
    json["on"] = layer.on_host->empty() ? "device" : "host";
    if (!layer.on_host->empty()) json["why_on_host"] = *layer.on_host;
  }
  if (layer.array) json["array"] = array_json(*layer.array);
  if (layer.pool) json["pool"] = {{"program", layer.pool->program}, {"clocks", layer.pool->cycles}};
  if (!layer.unknown.empty()) json["unknown"] = layer.unknown;
  return json;
}

/// JSON has no infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json kind_json(const OperatorKind& kind) {
  Json attributes = Json::object();
  for (const auto& [name, attribute] : kind.attributes) {
    Json entry = {{"nodes", attribute.count}};
    if (attribute.range) {
      entry["min"] = number(attribute.range->first);
      entry["max"] = number(attribute.range->second);
    }
    entry["values"] = attribute.values;
    entry["more_values"] = attribute.more;
    attributes[name] = entry;
  }
  return {{"nodes", kind.count},
          {"parameters", known(kind.parameters_known, kind.parameters)},
          {"macs", known(kind.macs_known, kind.macs)},
          {"bias_adds", known(kind.macs_known, kind.bias_adds)},
          {"activation_bytes", known(kind.bytes_known, kind.activation_bytes)},
          {"traffic_bytes", known(kind.bytes_known, kind.traffic_bytes)},
          {"attributes", attributes}};
}

/// The kinds of figures whose sums lack what is not known.
Json partial_json(const AnalysisTotals& totals) {
  Json partial = Json::array();
  if (!totals.parameters_known) partial.push_back("parameters");
  if (!totals.macs_known) partial.push_back("macs");
  if (!totals.bytes_known) partial.push_back("bytes");
  if (!totals.array_known) partial.push_back("array");
  return partial;
}

Json place_json(const AnalysisTotals::Place& place) {
  return {{"layers", place.layers},
          {"macs", place.macs},
          {"tiles", place.tiles},
          {"clocks", place.cycles}};
}

Json totals_json(const AnalysisTotals& totals) {
  return {{"partial", partial_json(totals)},
          {"parameters", totals.parameters},
          {"parameter_bytes", totals.parameter_bytes},
          {"weight_bytes", totals.weight_bytes},
          {"statistic_bytes", totals.statistic_bytes},
          {"macs", totals.macs},
          {"bias_adds", totals.bias_adds},
          {"activation_bytes", totals.activation_bytes},
          {"activation_values", totals.activation_values},
          {"peak_layer_bytes", totals.peak_layer_bytes},
          {"peak_layer", totals.peak_layer},
          {"peak_live_bytes", totals.peak_live_bytes},
          {"peak_live_layer", totals.peak_live_layer},
          {"read_bytes", totals.read_bytes},
          {"written_bytes", totals.written_bytes},
          {"traffic_bytes", totals.read_bytes + totals.written_bytes},
          {"intensity", totals.intensity},
          {"intensity_sum_of_layers", totals.intensity_sum}};
}

}  // namespace

std::optional<EnergyUse> energy_of(const Analysis& analysis) {
  if (analysis.programs.empty()) return std::nullopt;
  std::uint64_t macs = 0;
  for (const ProgramAnalysis& program : analysis.programs) macs += program.macs;
  return EnergyUse(analysis.geometry, macs, analysis.entered_tiles, analysis.counters);
}

Json to_json(const Analysis& analysis) {
  const AnalysisTotals& totals = analysis.totals;
  Json json = {{"format", kReportFormat},
               {"model", analysis.model},
               {"graph", analysis.graph},
               {"opset", analysis.opset ? Json(*analysis.opset) : Json()},
               {"nodes", analysis.layers.size()}};
  for (const auto& [name, type] : analysis.inputs) json["inputs"][name] = type;
  for (const auto& [name, type] : analysis.outputs) json["outputs"][name] = type;
  json["total"] = totals_json(totals);
  if (analysis.modules) {
    json["modules"] = {{"leaves", analysis.modules->leaves},
                       {"leaf_bytes", analysis.modules->leaf_bytes},
                       {"containers", analysis.modules->containers},
                       {"container_bytes", analysis.modules->container_bytes}};
  }
  json["array"] = {{"n", analysis.geometry.n},
                   {"memory", analysis.memory.word()},
                   {"memory_latency", analysis.memory.latency},
                   {"layers", totals.array_layers},
                   {"macs", totals.array_macs},
                   {"tiles", totals.tiles},
                   {"clocks", totals.cycles},
                   {"on_device", place_json(totals.on_device)},
                   {"predicted_if_on_device", place_json(totals.if_on_device)},
                   {"layers_without_clocks", totals.array_unpredicted},
                   {"utilization", totals.utilization},
                   {"roof_clocks", totals.roof_cycles},
                   {"published_cycles", published_json(totals.published)}};
  if (analysis.memory.sharing == MemorySharing::kDram && !analysis.programs.empty()) {
    json["array"]["dram"] =
        to_json(DramUse(analysis.memory.dram, analysis.dram, analysis.counters));
  }
  if (analysis.compute_bound != 0 && analysis.dram_cycles != 0) {
    json["array"]["compute_bound_cycles"] = analysis.compute_bound;
    json["array"]["dram_cycles"] = analysis.dram_cycles;
    json["array"]["dram_memory"] = analysis.dram_memory.word();
  }
  if (const auto energy = energy_of(analysis)) json["array"]["energy"] = to_json(*energy);
  json["array"]["between_programs"] = between_json(analysis.between);
  json["array"]["waits"] = waits_json(analysis.between, analysis.geometry.n);
  for (const ProgramAnalysis& program : analysis.programs) {
    json["array"]["programs"].push_back(
        {{"layers", program.layers}, {"macs", program.macs}, {"clocks", program.cycles}});
    if (program.places.empty()) continue;
    json["array"]["programs"].back()["results_in"] = program.places;
  }
  for (const auto& [name, kind] : analysis.kinds) json["operators"][name] = kind_json(kind);
  json["layers"] = Json::array();
  for (const LayerAnalysis& layer : analysis.layers) json["layers"].push_back(layer_json(layer));
  if (!analysis.why_not_run.empty()) json["why_not_run"] = analysis.why_not_run;
  json["unknown"] = analysis.unknown;
  const std::string warning = share_warning(totals.on_device.macs, totals.macs);
  if (!warning.empty()) json["warnings"] = {warning};
  return json;
}

}  // namespace gemm64
