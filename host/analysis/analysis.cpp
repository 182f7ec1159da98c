// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "host/analysis/attributes.hpp"
#include "host/analysis/modules.hpp"
#include "host/analysis/operands.hpp"
#include "host/error.hpp"
#include "host/onnx/checked.hpp"
#include "host/onnx/tensor.hpp"
#include "host/onnx/work.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kLongestName = 200;

void add(std::uint64_t& sum, std::uint64_t value) { sum = plus(sum, value); }

std::string type_text(const OnnxModel& model, const std::string& value) {
  const std::optional<TensorType> type = model.type(value);
  return type ? data_type_name(type->data_type) + " " + dims_text(type->dims) : "?";
}

/// Does the node move data while the network runs?
bool moves_data(const onnx::NodeProto& node) {
  return !node.domain().empty() || (node.op_type() != "Constant" && node.op_type() != "Identity");
}

class Analyst {
 public:
  Analyst(const OnnxModel& model, const Geometry& geometry, std::uint32_t latency,
          std::uint64_t most_tiles)
      : model_(model), array_(geometry, latency, most_tiles) {
    analysis_.model = model.name();
    analysis_.graph = printable(model.graph().name());
    analysis_.opset = model.opset();
    analysis_.geometry = geometry;
    analysis_.memory_latency = latency;
    for (const onnx::NodeProto& node : model.graph().node()) {
      read_.insert(node.input().begin(), node.input().end());
    }
    for (const onnx::ValueInfoProto& output : model.graph().output()) read_.insert(output.name());
  }

  Analysis analyze();

 private:
  void describe_ends();
  void add_layer(const onnx::NodeProto& node, int index);
  void read_operand(const onnx::NodeProto& node, int i, LayerAnalysis& layer);
  void write_outputs(const onnx::NodeProto& node, LayerAnalysis& layer);
  /// Further outputs that nothing reads, such as Dropout's mask, are never made.
  bool is_made(const std::string& output, int i) const {
    return i == 0 || read_.count(output) != 0;
  }
  void add_work(const onnx::NodeProto& node, LayerAnalysis& layer);
  void add_to_kind(const onnx::NodeProto& node, const LayerAnalysis& layer);
  void sum_up();
  void sum_up_array();
  void find_live_peak();

  const OnnxModel& model_;
  ArrayModel array_;
  Analysis analysis_;
  std::set<std::string> counted_;   // parameters
  std::set<std::string> read_;      // by nodes, or given out by the graph
  std::uint64_t values_moved_ = 0;  // of the layer under work, biases left out
  std::uint64_t values_of_layers_with_macs_ = 0;
};

void Analyst::describe_ends() {
  for (const std::string& name : model_.inputs()) {
    analysis_.inputs.emplace_back(printable(name), type_text(model_, name));
    if (!model_.type(name)) {
      analysis_.unknown.push_back(fmt::format("{}; give it with --input-shape {}=AxBxC",
                                              model_.why_unknown(name), printable(name)));
    }
  }
  for (const onnx::ValueInfoProto& output : model_.graph().output()) {
    analysis_.outputs.emplace_back(printable(output.name()), type_text(model_, output.name()));
  }
}

void Analyst::read_operand(const onnx::NodeProto& node, int i, LayerAnalysis& layer) {
  const std::string& value = node.input(i);
  const Operand role = operand(model_, node, i);
  if (role == Operand::kSetting) return;
  const std::optional<TensorType> type = model_.type(value);
  layer.inputs.push_back(type ? dims_text(type->dims) : "?");
  if (!type) {
    if (layer.unknown.empty()) layer.unknown = model_.why_unknown(value);
    return;
  }
  const auto bytes = static_cast<std::uint64_t>(type->bytes());
  const auto elements = static_cast<std::uint64_t>(type->elements());
  // Of a shape nothing but the shape is read.
  const bool reads = moves_data(node) && node.op_type() != "Shape" && node.op_type() != "Size";
  if (reads) add(layer.read_bytes, bytes);
  if (reads && role != Operand::kBias) add(values_moved_, elements);
  if (role == Operand::kActivation) {
    if (reads) add(layer.in_and_out_bytes, bytes);
    return;
  }
  if (!counted_.insert(value).second || node.op_type() == "Identity") return;
  if (role == Operand::kStatistic) {
    add(layer.statistic_bytes, bytes);
    return;
  }
  add(layer.parameters, elements);
  add(layer.parameter_bytes, bytes);
  if (role == Operand::kWeight) add(layer.weight_bytes, bytes);
}

void Analyst::write_outputs(const onnx::NodeProto& node, LayerAnalysis& layer) {
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& output = node.output(i);
    if (output.empty() || !is_made(output, i)) continue;
    const std::optional<TensorType> type = model_.type(output);
    layer.outputs.push_back(type ? dims_text(type->dims) : "?");
    if (!type) {
      if (layer.unknown.empty()) layer.unknown = model_.why_unknown(output);
      continue;
    }
    const auto bytes = static_cast<std::uint64_t>(type->bytes());
    const auto elements = static_cast<std::uint64_t>(type->elements());
    if (moves_data(node)) {
      add(layer.written_bytes, bytes);
      add(values_moved_, elements);
      add(layer.in_and_out_bytes, bytes);
    }
    if (!is_view(node)) {
      add(layer.activation_bytes, bytes);
      add(layer.activation_values, elements);
    }
  }
}

void Analyst::add_work(const onnx::NodeProto& node, LayerAnalysis& layer) {
  const std::optional<Work> work = work_of(model_, node);
  if (!work) {
    if (layer.unknown.empty()) {
      layer.unknown = fmt::format("the MACs of operator {} are not counted", layer.op_type);
    }
    return;
  }
  layer.macs = work->macs;
  layer.bias_adds = work->bias_adds;
  if (work->macs != 0 && values_moved_ != 0) {
    layer.intensity = static_cast<double>(work->macs) / static_cast<double>(values_moved_);
    add(values_of_layers_with_macs_, values_moved_);
  }
  if (work->products) {
    std::string why;
    layer.array = array_.cost(*work->products, why);
    if (!layer.array && layer.unknown.empty()) layer.unknown = why;
  }
}

void Analyst::add_to_kind(const onnx::NodeProto& node, const LayerAnalysis& layer) {
  OperatorKind& kind = analysis_.kinds[layer.op_type];
  ++kind.count;
  add(kind.parameters, layer.parameters);
  add(kind.macs, layer.macs);
  add(kind.bias_adds, layer.bias_adds);
  add(kind.activation_bytes, layer.activation_bytes);
  add(kind.traffic_bytes, plus(layer.read_bytes, layer.written_bytes));
  add_attributes(model_, node, kind);
}

void Analyst::add_layer(const onnx::NodeProto& node, int index) {
  LayerAnalysis layer;
  layer.name = node.name().empty() ? node_label(node, index) : printable(node.name(), kLongestName);
  layer.op_type = node.domain().empty() ? printable(node.op_type())
                                        : printable(node.domain() + "." + node.op_type());
  layer.attributes = attribute_texts(model_, node);
  values_moved_ = 0;
  try {
    for (int i = 0; i < node.input_size(); ++i) {
      if (!node.input(i).empty()) read_operand(node, i, layer);
    }
    write_outputs(node, layer);
    add_work(node, layer);
    add_to_kind(node, layer);
  } catch (const std::overflow_error& error) {
    throw UsageError(
        fmt::format("{}: node '{}': its sizes make {}", model_.name(), layer.name, error.what()));
  }
  if (!layer.unknown.empty()) {
    analysis_.unknown.push_back(
        fmt::format("{} ({}): {}", layer.name, layer.op_type, layer.unknown));
  }
  analysis_.layers.push_back(std::move(layer));
}

void Analyst::sum_up() {
  AnalysisTotals& totals = analysis_.totals;
  for (const LayerAnalysis& layer : analysis_.layers) {
    add(totals.parameters, layer.parameters);
    add(totals.parameter_bytes, layer.parameter_bytes);
    add(totals.weight_bytes, layer.weight_bytes);
    add(totals.statistic_bytes, layer.statistic_bytes);
    add(totals.macs, layer.macs);
    add(totals.bias_adds, layer.bias_adds);
    add(totals.activation_bytes, layer.activation_bytes);
    add(totals.activation_values, layer.activation_values);
    add(totals.read_bytes, layer.read_bytes);
    add(totals.written_bytes, layer.written_bytes);
    totals.intensity_sum += layer.intensity;
    if (layer.in_and_out_bytes > totals.peak_layer_bytes) {
      totals.peak_layer_bytes = layer.in_and_out_bytes;
      totals.peak_layer = layer.name;
    }
  }
  plus(totals.read_bytes, totals.written_bytes);  // what reports add up must fit too
  if (values_of_layers_with_macs_ != 0) {
    totals.intensity =
        static_cast<double>(totals.macs) / static_cast<double>(values_of_layers_with_macs_);
  }
}

void Analyst::sum_up_array() {
  AnalysisTotals& totals = analysis_.totals;
  std::uint64_t timed_macs = 0;
  for (const LayerAnalysis& layer : analysis_.layers) {
    if (!layer.array) continue;
    const ArrayCost& cost = *layer.array;
    ++totals.array_layers;
    add(totals.array_macs, layer.macs);
    add(totals.tiles, cost.tiles);
    add(totals.published.scale_sim_os, cost.published.scale_sim_os);
    add(totals.published.scale_sim_ws, cost.published.scale_sim_ws);
    add(totals.published.single_buffered, cost.published.single_buffered);
    add(totals.published.double_buffered, cost.published.double_buffered);
    add(totals.roof_clocks, cost.roof_clocks());
    if (!cost.clocks) {
      ++totals.array_unpredicted;
      continue;
    }
    add(totals.clocks, *cost.clocks);
    add(timed_macs, layer.macs);
  }
  if (totals.clocks != 0) {
    totals.utilization = static_cast<double>(timed_macs) /
                         (static_cast<double>(analysis_.geometry.macs_per_clock()) *
                          static_cast<double>(totals.clocks));
  }
}

/// Activations alive at a time when nodes run in the file's order: from the node that makes them to
/// the last one that reads them or a view of them.
void Analyst::find_live_peak() {
  const onnx::GraphProto& graph = model_.graph();
  std::map<std::string, std::string> owner;  // of each view
  const auto root = [&owner](const std::string& value) {
    const auto found = owner.find(value);
    return found == owner.end() ? value : found->second;
  };
  for (const onnx::NodeProto& node : graph.node()) {
    if (!is_view(node) || node.input_size() == 0) continue;
    for (const std::string& output : node.output()) owner[output] = root(node.input(0));
  }
  std::map<std::string, int> last;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& input : graph.node(i).input()) last[root(input)] = i;
  }
  for (const onnx::ValueInfoProto& output : graph.output()) {
    last[root(output.name())] = graph.node_size();
  }
  const auto bytes = [this](const std::string& value) -> std::uint64_t {
    const std::optional<TensorType> type = model_.type(value);
    return type && !model_.is_constant(value) ? static_cast<std::uint64_t>(type->bytes()) : 0;
  };
  std::uint64_t live = 0;
  for (const std::string& input : model_.inputs()) add(live, bytes(input));
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    if (!is_view(node)) {
      for (int o = 0; o < node.output_size(); ++o) {
        if (is_made(node.output(o), o)) add(live, bytes(node.output(o)));
      }
    }
    if (live > analysis_.totals.peak_live_bytes) {
      analysis_.totals.peak_live_bytes = live;
      analysis_.totals.peak_live_layer = analysis_.layers[static_cast<std::size_t>(i)].name;
    }
    std::set<std::string> dead;
    for (const std::string& input : node.input()) {
      if (last[root(input)] == i) dead.insert(root(input));
    }
    if (!is_view(node)) {
      // What nothing reads lives no longer than its node.
      for (int o = 0; o < node.output_size(); ++o) {
        if (o == 0 && last.count(node.output(o)) == 0) dead.insert(node.output(o));
      }
    }
    for (const std::string& value : dead) live -= bytes(value);
  }
}

Analysis Analyst::analyze() {
  describe_ends();
  for (int i = 0; i < model_.graph().node_size(); ++i) add_layer(model_.graph().node(i), i);
  try {
    sum_up();
    sum_up_array();
    find_live_peak();
    analysis_.modules = module_activations(model_);
  } catch (const std::overflow_error& error) {
    throw UsageError(
        fmt::format("{}: the sizes of its nodes add up to {}", model_.name(), error.what()));
  }
  return std::move(analysis_);
}

}  // namespace

Analysis analyze(const OnnxModel& model, const Geometry& geometry, std::uint32_t latency,
                 std::uint64_t most_tiles) {
  return Analyst(model, geometry, latency, most_tiles).analyze();
}

}  // namespace gemm64
