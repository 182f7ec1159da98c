// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/network_parts.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>
#include <vector>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::json;
using Bytes = Json::binary_t::container_type;

Json to_json(const Tensor& tensor) {
  if (!tensor.present()) return nullptr;
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(tensor.raw());
  return {{"type", static_cast<int>(tensor.type())},
          {"dims", tensor.dims()},
          {"data", Json::binary(Bytes(begin, begin + tensor.bytes()))}};
}

Tensor tensor_from(const Json& json) {
  if (json.is_null()) return {};
  Tensor tensor(static_cast<DataType>(json.at("type").get<int>()), json.at("dims").get<Dims>());
  const Bytes& data = json.at("data").get_binary();
  if (data.size() != tensor.bytes()) throw UsageError("a tensor lacks some of its values");
  if (!data.empty()) std::memcpy(tensor.mutable_raw(), data.data(), data.size());
  return tensor;
}

Json to_json(const GemmShape& shape) { return {shape.m, shape.k, shape.n}; }

GemmShape shape_from(const Json& json) {
  return {json.at(0).get<std::uint64_t>(), json.at(1).get<std::uint64_t>(),
          json.at(2).get<std::uint64_t>()};
}

/// The sizes of a convolution, each by its place, so that there is one list of them.
template <class Any>
auto sizes_of(Any& c) {
  return std::vector{&c.images,          &c.channels,       &c.out_channels,  &c.groups,
                     &c.height,          &c.width,          &c.out_height,    &c.out_width,
                     &c.kernel_height,   &c.kernel_width,   &c.stride_height, &c.stride_width,
                     &c.dilation_height, &c.dilation_width, &c.pad_top,       &c.pad_left};
}

Json to_json(const Convolution& convolution) {
  Json sizes = Json::array();
  for (const std::uint32_t* size : sizes_of(convolution)) sizes.push_back(*size);
  return {{"sizes", sizes}, {"zero", convolution.zero}};
}

Convolution convolution_from(const Json& json) {
  Convolution convolution;
  std::size_t i = 0;
  for (std::uint32_t* size : sizes_of(convolution)) json.at("sizes").at(i++).get_to(*size);
  json.at("zero").get_to(convolution.zero);
  return convolution;
}

Json to_json(const LayerReport& layer) {
  const Mismatches& wrong = layer.mismatches;
  Json json = {{"name", layer.name},
               {"shape", to_json(layer.shape)},
               {"padded", to_json(layer.padded)},
               {"tiles", layer.tiles},
               {"results", static_cast<int>(layer.results.code())},
               {"arithmetic", layer.arithmetic},
               {"program", layer.program},
               {"products", layer.products},
               {"strips", layer.strips},
               {"packed", layer.packed},
               {"vector_nodes", layer.vector_nodes},
               {"packed_bytes", layer.packed_bytes},
               {"why_sums", layer.why_sums},
               {"skipped", layer.skipped},
               {"overlapped", layer.overlapped},
               {"counters", layer.counters},
               {"predicted", layer.predicted},
               {"published",
                {layer.published.scale_sim_os, layer.published.scale_sim_ws,
                 layer.published.single_buffered, layer.published.double_buffered}},
               {"utilization", layer.utilization},
               {"roofline", layer.roofline_utilization},
               {"mismatches",
                {wrong.count, wrong.first_row, wrong.first_column, wrong.expected, wrong.found,
                 wrong.max_abs_error}},
               {"max_abs_error", layer.max_abs_error},
               {"error_bound", layer.error_bound},
               {"seconds", layer.seconds},
               {"simulated_clocks", layer.simulated_cycles}};
  if (layer.convolution) json["convolution"] = to_json(*layer.convolution);
  if (layer.on_device) json["on_device"] = *layer.on_device;
  for (const LayerFault& fault : layer.faults) {
    json["faults"].push_back({fault.error, fault.memory, fault.tile.m, fault.tile.k, fault.tile.n,
                              fault.place, fault.clock, fault.found});
  }
  return json;
}

LayerReport layer_from(const Json& json) {
  LayerReport layer;
  json.at("name").get_to(layer.name);
  layer.shape = shape_from(json.at("shape"));
  layer.padded = shape_from(json.at("padded"));
  json.at("tiles").get_to(layer.tiles);
  layer.results = ResultFormat(static_cast<ResultCode>(json.at("results").get<int>()));
  json.at("arithmetic").get_to(layer.arithmetic);
  json.at("program").get_to(layer.program);
  if (json.contains("convolution")) layer.convolution = convolution_from(json.at("convolution"));
  json.at("products").get_to(layer.products);
  json.at("strips").get_to(layer.strips);
  json.at("packed").get_to(layer.packed);
  json.at("vector_nodes").get_to(layer.vector_nodes);
  json.at("packed_bytes").get_to(layer.packed_bytes);
  json.at("why_sums").get_to(layer.why_sums);
  json.at("skipped").get_to(layer.skipped);
  json.at("overlapped").get_to(layer.overlapped);
  json.at("counters").get_to(layer.counters);
  json.at("predicted").get_to(layer.predicted);
  if (json.contains("on_device")) layer.on_device = json.at("on_device").get<Counters>();
  for (const Json& fault : json.value("faults", Json::array())) {
    layer.faults.push_back({fault.at(0).get<std::string>(),
                            fault.at(1).get<std::string>(),
                            {fault.at(2).get<std::uint64_t>(), fault.at(3).get<std::uint64_t>(),
                             fault.at(4).get<std::uint64_t>()},
                            fault.at(5).get<std::uint64_t>(),
                            fault.at(6).get<std::uint64_t>(),
                            fault.at(7).get<std::uint64_t>()});
  }
  const Json& published = json.at("published");
  published.at(0).get_to(layer.published.scale_sim_os);
  published.at(1).get_to(layer.published.scale_sim_ws);
  published.at(2).get_to(layer.published.single_buffered);
  published.at(3).get_to(layer.published.double_buffered);
  json.at("utilization").get_to(layer.utilization);
  json.at("roofline").get_to(layer.roofline_utilization);
  const Json& wrong = json.at("mismatches");
  wrong.at(0).get_to(layer.mismatches.count);
  wrong.at(1).get_to(layer.mismatches.first_row);
  wrong.at(2).get_to(layer.mismatches.first_column);
  wrong.at(3).get_to(layer.mismatches.expected);
  wrong.at(4).get_to(layer.mismatches.found);
  wrong.at(5).get_to(layer.mismatches.max_abs_error);
  json.at("max_abs_error").get_to(layer.max_abs_error);
  json.at("error_bound").get_to(layer.error_bound);
  json.at("seconds").get_to(layer.seconds);
  json.at("simulated_clocks").get_to(layer.simulated_cycles);
  return layer;
}

Json to_json(const HostLayer& layer) {
  return {{"name", layer.name},     {"op_type", layer.op_type}, {"macs", layer.macs},
          {"reason", layer.reason}, {"values", layer.values},   {"programs", layer.programs}};
}

HostLayer host_layer_from(const Json& json) {
  return {
      json.at("name").get<std::string>(),     json.at("op_type").get<std::string>(),
      json.at("macs").get<std::uint64_t>(),   json.at("reason").get<std::string>(),
      json.at("values").get<std::uint64_t>(), json.at("programs").get<std::vector<std::size_t>>()};
}

Json list_of(const std::vector<HostLayer>& layers) {
  Json list = Json::array();
  for (const HostLayer& layer : layers) list.push_back(to_json(layer));
  return list;
}

std::vector<HostLayer> host_layers_from(const Json& list) {
  std::vector<HostLayer> layers;
  for (const Json& layer : list) layers.push_back(host_layer_from(layer));
  return layers;
}

Json to_json(const HostWork& host) {
  return {{"runtime", host.runtime},     {"nodes", host.nodes},
          {"seconds", host.seconds},     {"reference_seconds", host.reference_seconds},
          {"operators", host.operators}, {"between", list_of(host.between)}};
}

HostWork host_from(const Json& json) {
  HostWork host;
  json.at("runtime").get_to(host.runtime);
  json.at("nodes").get_to(host.nodes);
  json.at("seconds").get_to(host.seconds);
  json.at("reference_seconds").get_to(host.reference_seconds);
  json.at("operators").get_to(host.operators);
  host.between = host_layers_from(json.at("between"));
  return host;
}

}  // namespace

Json to_binary_json(const NamedTensors& tensors) {
  Json json = Json::object();
  for (const auto& [name, tensor] : tensors) json[name] = to_json(tensor);
  return json;
}

NamedTensors tensors_from(const Json& json) {
  NamedTensors tensors;
  for (const auto& [name, tensor] : json.items()) tensors[name] = tensor_from(tensor);
  return tensors;
}

std::string pack_part(const NetworkRun& part) {
  const RunReport& report = part.report;
  Json json = {{"layers", Json::array()},
               {"host_layers", list_of(report.host_layers)},
               {"chained", report.chained},
               {"host_only", report.host_only},
               {"error", report.error},
               {"outputs", to_binary_json(part.outputs)},
               {"exact", to_json(part.exact)},
               {"compared", report.quality.has_value()},
               {"output_values", report.outputs.values},
               {"output_mismatches", report.outputs.mismatches},
               {"first_output", report.outputs.first}};
  for (const LayerReport& layer : report.layers) json["layers"].push_back(to_json(layer));
  if (report.host) json["host"] = to_json(*report.host);
  std::string bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

NetworkRun unpack_part(std::string_view bytes) {
  NetworkRun part;
  try {
    const Json json = Json::from_cbor(bytes);
    RunReport& report = part.report;
    for (const Json& layer : json.at("layers")) report.layers.push_back(layer_from(layer));
    report.host_layers = host_layers_from(json.at("host_layers"));
    json.at("chained").get_to(report.chained);
    json.at("host_only").get_to(report.host_only);
    json.at("error").get_to(report.error);
    json.at("output_values").get_to(report.outputs.values);
    json.at("output_mismatches").get_to(report.outputs.mismatches);
    json.at("first_output").get_to(report.outputs.first);
    part.outputs = tensors_from(json.at("outputs"));
    part.exact = tensor_from(json.at("exact"));
    if (json.at("compared").get<bool>()) report.quality.emplace();
    if (json.contains("host")) report.host = host_from(json.at("host"));
  } catch (const Json::exception& error) {
    throw UsageError(
        fmt::format("what came of a part of the work cannot be read: {}", error.what()));
  }
  return part;
}

PartJoin::PartJoin(const onnx::GraphProto& graph, const NetworkInputs& inputs, RunReport report)
    : graph_(graph), inputs_(inputs) {
  run_.report = std::move(report);
  run_.report.images_at_once = static_cast<std::uint64_t>(inputs.at_once);
  run_.report.why_in_turn = inputs.why_in_turn;
}

void PartJoin::add(NetworkRun part) {
  RunReport& report = run_.report;
  if (!report.error.empty()) return;
  report.chained = report.chained || part.report.chained;
  report.host_only = part.report.host_only;
  report.error = part.report.error;
  gemm64::add(report.outputs, part.report.outputs);
  if (next_ == 0) {  // the host does the same in each
    report.host = part.report.host;
    report.host_layers = std::move(part.report.host_layers);
    const auto passes = static_cast<std::uint64_t>(inputs_.passes());
    for (HostLayer& layer : report.host_layers) layer.macs *= passes;
    if (report.host) {
      for (HostLayer& node : report.host->between) node.values *= passes;
    }
  } else if (report.host && part.report.host) {
    report.host->seconds += part.report.host->seconds;
    report.host->reference_seconds += part.report.host->reference_seconds;
  }
  join(report.layers, std::move(part.report.layers));
  if (report.error.empty()) {
    has_exact_ = has_exact_ || part.report.quality || part.exact.present();
    passes_.add(graph_, std::move(part.outputs), part.exact.present() ? &part.exact : nullptr,
                inputs_.images_of(next_), inputs_.at_once);
  }
  ++next_;
}

NetworkRun PartJoin::finish() {
  const auto& names = graph_.output();
  if (run_.report.error.empty()) {
    run_.outputs = passes_.outputs();
    if (!names.empty()) run_.first = run_.outputs.at(names[0].name());
  }
  if (has_exact_) {
    run_.report.quality = passes_.quality();
    run_.exact = passes_.exact();
  }
  return std::move(run_);
}

}  // namespace gemm64
