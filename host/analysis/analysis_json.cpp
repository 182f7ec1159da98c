// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "host/analysis/analysis_report.hpp"

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
               {"clocks", cost.clocks ? Json(*cost.clocks) : Json()},
               {"utilization", cost.clocks ? Json(cost.utilization) : Json()},
               {"bound", cost.bound()},
               {"roof_clocks",
                {{"macs", cost.macs_clocks},
                 {"weights", cost.weights_clocks},
                 {"activations", cost.activations_clocks},
                 {"results", cost.results_clocks}}},
               {"published_cycles", published_json(cost.published)},
               {"bytes",
                {{"weights", cost.bytes.weights},
                 {"activations", cost.bytes.activations},
                 {"results", cost.bytes.results},
                 {"commands", cost.bytes.commands}}},
               {"macs_per_byte", cost.intensity}};
  return json;
}

Json layer_json(const LayerAnalysis& layer) {
  Json attributes = Json::object();
  for (const auto& [name, value] : layer.attributes) attributes[name] = value;
  Json json = {{"name", layer.name},
               {"operator", layer.op_type},
               {"attributes", attributes},
               {"inputs", layer.inputs},
               {"outputs", layer.outputs},
               {"parameters", layer.parameters},
               {"parameter_bytes", layer.parameter_bytes},
               {"weight_bytes", layer.weight_bytes},
               {"statistic_bytes", layer.statistic_bytes},
               {"macs", layer.macs},
               {"bias_adds", layer.bias_adds},
               {"activation_bytes", layer.activation_bytes},
               {"in_and_out_bytes", layer.in_and_out_bytes},
               {"read_bytes", layer.read_bytes},
               {"written_bytes", layer.written_bytes},
               {"intensity", layer.intensity}};
  if (layer.array) json["array"] = array_json(*layer.array);
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
          {"parameters", kind.parameters},
          {"macs", kind.macs},
          {"bias_adds", kind.bias_adds},
          {"activation_bytes", kind.activation_bytes},
          {"traffic_bytes", kind.traffic_bytes},
          {"attributes", attributes}};
}

Json totals_json(const AnalysisTotals& totals) {
  return {{"parameters", totals.parameters},
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

Json to_json(const Analysis& analysis) {
  const AnalysisTotals& totals = analysis.totals;
  Json json = {{"model", analysis.model},
               {"graph", analysis.graph},
               {"opset", analysis.opset},
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
                   {"memory_latency", analysis.memory_latency},
                   {"layers", totals.array_layers},
                   {"macs", totals.array_macs},
                   {"tiles", totals.tiles},
                   {"clocks", totals.clocks},
                   {"layers_without_clocks", totals.array_unpredicted},
                   {"utilization", totals.utilization},
                   {"roof_clocks", totals.roof_clocks},
                   {"published_cycles", published_json(totals.published)}};
  for (const auto& [name, kind] : analysis.kinds) json["operators"][name] = kind_json(kind);
  json["layers"] = Json::array();
  for (const LayerAnalysis& layer : analysis.layers) json["layers"].push_back(layer_json(layer));
  json["unknown"] = analysis.unknown;
  return json;
}

}  // namespace gemm64
