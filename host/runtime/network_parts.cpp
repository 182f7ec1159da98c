// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/network_parts.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <utility>

#include "host/util/error.hpp"

namespace nlohmann {

/// A value that may be absent: null.
template <class T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& to, const std::optional<T>& from) {
    to = from ? json(*from) : json(nullptr);
  }
  static void from_json(const json& from, std::optional<T>& to) {
    to = from.is_null() ? std::nullopt : std::optional<T>(from.get<T>());
  }
};

}  // namespace nlohmann

namespace gemm64 {
namespace {

using Json = nlohmann::json;
using Bytes = Json::binary_t::container_type;

}  // namespace

void to_json(Json& json, const Tensor& tensor) {
  if (!tensor.present()) return;
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(tensor.raw());
  json = {{"type", static_cast<int>(tensor.type())},
          {"dims", tensor.dims()},
          {"data", Json::binary(Bytes(begin, begin + tensor.bytes()))}};
}

void from_json(const Json& json, Tensor& tensor) {
  tensor = Tensor();
  if (json.is_null()) return;
  tensor = Tensor(static_cast<DataType>(json.at("type").get<int>()), json.at("dims").get<Dims>());
  const Bytes& data = json.at("data").get_binary();
  if (data.size() != tensor.bytes()) throw UsageError("a tensor lacks some of its values");
  if (!data.empty()) std::memcpy(tensor.mutable_raw(), data.data(), data.size());
}

void to_json(Json& json, const ResultFormat& format) { json = static_cast<int>(format.code()); }
void from_json(const Json& json, ResultFormat& format) {
  format = ResultFormat(static_cast<ResultCode>(json.get<int>()));
}

// Every member of what a pass adds to a report; of the report only those.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GemmShape, m, k, n)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TileIndex, m, k, n)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Convolution, images, channels, out_channels, groups, height,
                                   width, out_height, out_width, kernel_height, kernel_width,
                                   stride_height, stride_width, dilation_height, dilation_width,
                                   pad_top, pad_left, zero)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DramCounts, reads, writes, hits, conflicts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PublishedCycles, scale_sim_os, scale_sim_ws, single_buffered,
                                   double_buffered)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Mismatches, count, first_row, first_column, expected, found,
                                   max_abs_error)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayerFault, error, memory, tile, place, clock, found)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayerReport, name, shape, padded, tiles, results, arithmetic,
                                   program, convolution, products, strips, packed, packed_bytes,
                                   vector_nodes, why_sums, overlapped, skipped, counters, predicted,
                                   dram, predicted_dram, on_device, published, utilization,
                                   roofline_utilization, place, on_chip, faults, mismatches,
                                   max_abs_error, error_bound, seconds, simulated_cycles)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostLayer, name, op_type, macs, reason, values, programs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostWork, runtime, nodes, seconds, reference_seconds, operators,
                                   between)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OutputCheck, values, mismatches, first)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunReport, layers, host_layers, host, chained, host_only, error,
                                   outputs)

Json to_binary_json(const NamedTensors& tensors) { return Json(tensors); }

NamedTensors tensors_from(const Json& json) { return json.get<NamedTensors>(); }

std::string pack_part(const NetworkRun& part) {
  std::string bytes;
  Json::to_cbor({{"report", Json(part.report)},
                 {"outputs", Json(part.outputs)},
                 {"exact", Json(part.exact)},
                 {"compared", part.report.quality.has_value()}},
                bytes);
  return bytes;
}

NetworkRun unpack_part(std::string_view bytes) {
  NetworkRun part;
  try {
    const Json json = Json::from_cbor(bytes);
    json.at("report").get_to(part.report);
    json.at("outputs").get_to(part.outputs);
    json.at("exact").get_to(part.exact);
    if (json.at("compared").get<bool>()) part.report.quality.emplace();
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
