// SPDX-License-Identifier: Apache-2.0
#include "host/report/json.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "host/report/classification_text.hpp"
#include "host/report/dram_use.hpp"
#include "host/report/network_text.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

/// What the array's cycles were spent on. `fill` is all without a MATMUL: the first fetches and
/// loads, the last rows on their way through the array, and the last store.
Json cycle_breakdown(const Counters& counters) {
  return {{"compute", counters[counter::kComputeCompute]},
          {"fill", counters[counter::kComputeIdle] + counters[counter::kComputeDrain]},
          {"wait_weights", counters[counter::kComputeWaitWeights]},
          {"wait_activations", counters[counter::kComputeWaitActivations]},
          {"wait_results", counters[counter::kComputeWaitResults]}};
}

Json traffic(const Counters& counters) {
  return {{"weights", counters[counter::kBytesWeights]},
          {"activations", counters[counter::kBytesActivations]},
          {"results", counters[counter::kBytesResults]},
          {"commands", counters[counter::kBytesCommands]},
          {"parameters", counters[counter::kBytesParameters]},
          {"operands", counters[counter::kBytesOperands]}};
}

/// Every counter, by engine and cause.
Json by_engine(const Counters& counters) {
  Json engines = Json::object();
  for (std::size_t i = 0; i < counters.size(); ++i) {
    engines[kCounters[i].engine][kCounters[i].cause] = counters[i];
  }
  return engines;
}

/// JSON has no infinity: where there is no noise, or no signal, there is no figure.
Json decibels(double value) { return std::isfinite(value) ? Json(value) : Json(); }

double per_second(double count, double seconds) { return seconds > 0 ? count / seconds : 0; }

Json window_json(const Convolution& c) {
  return {{"images", c.images},
          {"input", {c.channels, c.height, c.width}},
          {"output", {c.out_channels, c.out_height, c.out_width}},
          {"kernel", {c.kernel_height, c.kernel_width}},
          {"strides", {c.stride_height, c.stride_width}},
          {"dilations", {c.dilation_height, c.dilation_width}},
          {"padding", {c.pad_top, c.pad_left}},
          {"groups", c.groups}};
}

/// What each program took, and the weights of all against the model's.
void add_programs(const RunReport& report, Json& json) {
  std::uint64_t model_bytes = 0, loaded = 0;
  Json programs = Json::array();
  for (const LayerReport& program : report.programs()) {
    if (program.program == 0) continue;
    std::uint64_t layers = 0, macs = 0;
    for (const LayerReport& layer : report.layers) {
      if (layer.program != program.program) continue;
      ++layers;
      macs += layer.shape.macs();
      if (layer.products != 0) continue;
      model_bytes += layer.shape.k * layer.shape.n;
      loaded += layer.counters[counter::kBytesWeights];
    }
    programs.push_back({{"program", program.program},
                        {"layers", layers},
                        {"cycles", program.counters[counter::kTotalClocks]},
                        {"predicted_cycles", program.predicted[counter::kTotalClocks]},
                        {"macs", macs},
                        {"utilization", program.utilization},
                        {"roofline_utilization", program.roofline_utilization}});
  }
  if (programs.empty()) return;
  json["programs"] = std::move(programs);
  json["total"]["weights"] = {{"model_bytes", model_bytes}, {"loaded_bytes", loaded}};
}

Json host_json(const RunReport& report) {
  const HostWork& host = *report.host;
  Json json = {{"nodes", host.nodes}, {"seconds", host.seconds}};
  if (!host.runtime.empty()) json["runtime"] = host.runtime;
  if (host.operators.empty()) return json;
  json["operators"] = host.operators;
  json["reference_seconds"] = host.reference_seconds;
  json["between_programs"] = between_json(host.between);
  json["waits"] = waits_json(host.between, report.geometry.n);
  return json;
}

const char* name(Arithmetic arithmetic) {
  constexpr std::array kNames{"integers", "float32 in slices", "quantized on the way"};
  return kNames.at(static_cast<std::size_t>(arithmetic));
}

Json layer_json(const LayerReport& layer, bool compared) {
  Json json = {{"name", layer.name},
               {"on", "device"},
               {"m", layer.shape.m},
               {"k", layer.shape.k},
               {"n", layer.shape.n},
               {"padded", {layer.padded.m, layer.padded.k, layer.padded.n}},
               {"tiles", layer.tiles},
               {"results", layer.results.name()},
               {"macs", layer.shape.macs()},
               {"cycles", layer.counters[counter::kTotalClocks]},
               {"predicted_cycles", layer.predicted[counter::kTotalClocks]},
               {"cycle_breakdown", cycle_breakdown(layer.counters)},
               {"bytes", traffic(layer.counters)},
               {"predicted_bytes", traffic(layer.predicted)},
               {"counters", by_engine(layer.counters)},
               {"predicted_counters", by_engine(layer.predicted)},
               {"published_cycles",
                {{"double_buffered_ws", layer.published.double_buffered},
                 {"single_buffered_ws", layer.published.single_buffered},
                 {"scale_sim_ws", layer.published.scale_sim_ws},
                 {"scale_sim_os", layer.published.scale_sim_os}}},
               {"utilization", layer.utilization},
               {"roofline_utilization", layer.roofline_utilization},
               {"mismatches", compared && !layer.on_chip ? Json(layer.mismatches.count) : Json()},
               {"max_abs_error", compared ? Json(layer.max_abs_error) : Json()},
               {"seconds", layer.seconds}};
  if (layer.overlapped) {
    json["overlapped"] = true;  // its counters go from fence to fence, through other layers' cycles
    for (const char* figure :
         {"cycles", "predicted_cycles", "utilization", "roofline_utilization"}) {
      json[figure] = nullptr;
    }
  }
  if (layer.program != 0) json["program"] = layer.program;
  if (!layer.place.empty()) json["results_in"] = layer.place;
  if (layer.convolution) json["window"] = window_json(*layer.convolution);
  if (layer.products != 0) json["products"] = layer.products;
  if (layer.strips != 1) json["strips"] = layer.strips;
  if (layer.packed) json["packed_bytes"] = layer.packed_bytes;
  if (!layer.vector_nodes.empty()) json["vector_nodes"] = layer.vector_nodes;
  if (!layer.why_sums.empty()) json["why_int32"] = layer.why_sums;
  if (layer.arithmetic != Arithmetic::kIntegers) json["arithmetic"] = name(layer.arithmetic);
  if (layer.error_bound != 0) json["error_bound"] = layer.error_bound;
  if (layer.on_device) {
    json["accumulated_on_device"] = {
        {"predicted_cycles", (*layer.on_device)[counter::kTotalClocks]},
        {"predicted_bytes", traffic(*layer.on_device)}};
  }
  for (const LayerFault& fault : layer.faults) {
    Json found{{"error", fault.error}};
    if (fault.error == LayerFault::kRegister) {
      found["register"] = fault.memory;
    } else if (fault.memory.empty()) {
      found["tile"] = {fault.tile.m, fault.tile.k, fault.tile.n};
      found["row"] = fault.place;
    } else {
      found["memory"] = fault.memory;
      found["word"] = fault.place;
    }
    found["found_in"] = fault.found;
    found["run_again_from"] = fault.clock;
    json["faults_found"].push_back(found);
  }
  if (layer.mismatches.count != 0) {
    json["first_mismatch"] = {{"row", layer.mismatches.first_row},
                              {"column", layer.mismatches.first_column},
                              {"expected", layer.mismatches.expected},
                              {"found", layer.mismatches.found}};
  }
  return json;
}

/// A layer on the host has no cycles and no tiles.
Json layer_json(const HostLayer& layer) {
  return {{"name", layer.name},
          {"on", "host"},
          {"operator", layer.op_type},
          {"macs", layer.macs},
          {"reason", layer.reason}};
}

}  // namespace

/// As reported: what layers were computed in, where the file decides.
const char* precision_of(const RunReport& report) {
  if (report.precision != Precision::kFile) return name(report.precision);
  return report.in_float32() ? "float32" : "int8";
}

Json between_json(const std::vector<HostLayer>& between) {
  Json json = Json::array();
  for (const HostLayer& node : between) {
    json.push_back({{"name", node.name},
                    {"operator", node.op_type},
                    {"reason", node.reason},
                    {"programs", node.programs}});
  }
  return json;
}

Json waits_json(const std::vector<HostLayer>& between, std::uint32_t n) {
  Json json = Json::array();
  for (const HostWait& wait : waits_for(between, n)) {
    json.push_back({{"operator", wait.op_type},
                    {"nodes", wait.nodes},
                    {"values", wait.values},
                    {"least_cycles", wait.cycles}});
  }
  return json;
}

Json to_json(const RunReport& report) {
  const LayerReport total = report.total();
  const std::uint64_t macs = report.device_macs();
  Json layers = Json::array();
  const bool compared = report.check == CheckLevel::kLayers;
  for (const LayerReport& layer : report.layers) layers.push_back(layer_json(layer, compared));
  for (const HostLayer& layer : report.host_layers) layers.push_back(layer_json(layer));
  Json json = {{"format", kReportFormat},
               {"model", report.model},
               {"device", report.device},
               {"precision", precision_of(report)},
               {"accumulate", name(report.accumulate)},
               {"batch", report.batch},
               {"check", name(report.check)},
               {"verified", report.verified()},
               {"memory",
                {{"sharing", report.memory.word()},
                 {"latency", report.memory.latency},
                 {"bytes_per_cycle", report.memory.bytes_per_cycle},
                 {"stall_probability", report.memory.stall_probability}}},
               {"predictions_exact", report.predictable()},
               {"array", report.geometry.n},
               {"accelerators", 1},  // whose cycles these are, however many were simulated
               {"layers", layers},
               {"total",
                {{"cycles", total.counters[counter::kTotalClocks]},
                 {"predicted_cycles", total.predicted[counter::kTotalClocks]},
                 {"macs", macs},
                 {"utilization", total.utilization},
                 {"roofline_utilization", total.roofline_utilization},
                 {"mismatches", compared ? Json(total.mismatches.count) : Json()},
                 {"bytes", traffic(total.counters)}}},
               {"simulation",
                {{"seconds", total.seconds},
                 {"cycles_per_second",
                  per_second(static_cast<double>(total.simulated_cycles), total.seconds)},
                 {"macs_per_second", per_second(static_cast<double>(macs), total.seconds)}}}};
  if (report.check == CheckLevel::kOutputs) {
    json["outputs"] = {{"values", report.outputs.values},
                       {"mismatches", report.outputs.mismatches}};
  }
  if (report.memory.sharing == MemorySharing::kDram && report.timed()) {
    json["dram"] = to_json(DramUse(report.memory.dram, total.dram, total.counters));
  }
  if (report.one_program) json["one_program"] = true;
  if (report.host) json["host"] = host_json(report);
  add_programs(report, json);
  if (report.quality) {
    json["quality"] = {
        {"top1_agreement", report.quality->top1_agreement()},
        {"top1_equal", report.quality->top1_equal},
        {"images", report.quality->images},
        {"signal_to_noise_db", decibels(report.quality->signal_to_noise_db)},
        {"centred_signal_to_noise_db", decibels(report.quality->centred_signal_to_noise_db)}};
  }
  std::vector<std::string> warnings = report.warnings;
  if (report.host) {
    const std::uint64_t all = report.all_macs();
    json["total"]["programs"] = json.contains("programs") ? json["programs"].size() : 0;
    json["total"]["host_nodes"] = report.host->nodes;
    json["total"]["device_share"] =
        all == 0 ? 0.0 : static_cast<double>(macs) / static_cast<double>(all);
    const std::string warning = share_warning(macs, all);
    if (!warning.empty() && !report.layers.empty()) warnings.push_back(warning);
  }
  if (!warnings.empty()) json["warnings"] = warnings;
  if (report.classification) json["classification"] = to_json(*report.classification);
  if (!report.scales.empty()) json["scales"] = report.scales;
  if (report.images_at_once != 0) json["images_at_once"] = report.images_at_once;
  if (!report.why_in_turn.empty()) json["images_in_turn"] = report.why_in_turn;
  if (!report.error.empty()) json["error"] = report.error;
  if (!report.problems.empty()) json["problems"] = report.problems;
  if (report.failure) json["failure"] = to_json(*report.failure);
  return json;
}

/// Adds what is known of a wrong result of the depthwise lanes.
Json json_on_lanes(Json json, const Finding& finding) {
  json["clock"] = finding.clock;
  Json& first = json["first_wrong"];
  first["lane"] = finding.column;
  if (finding.place == Finding::Place::kLanes) return json;
  first["clock"] = finding.wrong_clock;
  first[finding.place == Finding::Place::kLaneLine ? "line" : "row"] = finding.bank;
  first["column"] = finding.row;
  first["expected"] = finding.expected;
  first["found"] = finding.found;
  return json;
}

Json to_json(const Failure& failure) {
  const Finding& finding = failure.finding;
  const char* const kind = !failure.error.empty()     ? "error"
                           : !failure.counter.empty() ? "counter"
                                                      : "mismatch";
  Json json = {{"kind", kind},
               {"product", failure.product},
               {"index", failure.index},
               {"m", failure.shape.m},
               {"k", failure.shape.k},
               {"n", failure.shape.n},
               {"first_clock", failure.first_clock}};
  if (!failure.error.empty()) json["message"] = failure.error;
  if (!failure.counter.empty()) json["message"] = failure.counter;
  if (failure.mismatches.count != 0) {
    json["mismatches"] = failure.mismatches.count;
    json["element"] = {{"row", failure.mismatches.first_row},
                       {"column", failure.mismatches.first_column},
                       {"expected", failure.mismatches.expected},
                       {"found", failure.mismatches.found}};
  }
  json["first_wrong"] = {{"place", name(finding.place)}};
  if (finding.place == Finding::Place::kNone) return json;
  if (finding.place == Finding::Place::kAbsent) {
    json["clock"] = finding.clock;
    return json;
  }
  if (on_lanes(finding.place)) return json_on_lanes(std::move(json), finding);
  json["tile"] = {{"m", finding.tile.m},
                  {"k", finding.tile.k},
                  {"n", finding.tile.n},
                  {"begin", finding.tile_begin},
                  {"end", finding.tile_end}};
  json["clock"] = finding.clock;
  json["first_wrong"] = {{"place", name(finding.place)}, {"clock", finding.wrong_clock},
                         {"bank", finding.bank},         {"row", finding.row},
                         {"column", finding.column},     {"expected", finding.expected},
                         {"found", finding.found}};
  if (finding.window) {
    const WindowPlace& window = *finding.window;
    json["multiplied"] = {
        {"image", window.image}, {"out_row", window.out_row}, {"out_column", window.out_column},
        {"plane", window.plane}, {"tap_row", window.tap_row}, {"tap_column", window.tap_column},
        {"row", window.row},     {"column", window.column},   {"inside", window.inside}};
    if (finding.channel) json["multiplied"]["channel"] = *finding.channel;
  }
  if (finding.place == Finding::Place::kStandstill) {
    Json waits = Json::array();
    for (const std::size_t i : gemm64::waits(finding)) {
      waits.push_back(std::string(kCounters[i].engine) + "." + kCounters[i].cause);
    }
    json["first_wrong"] = {{"place", name(finding.place)}, {"waits", waits}};
  }
  json["trace"] = {{"file", failure.trace_file},
                   {"save_file", failure.save_file},
                   {"begin", failure.trace_begin},
                   {"end", failure.trace_end}};
  return json;
}

}  // namespace gemm64
