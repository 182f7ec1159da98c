// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "host/analysis/attributes.hpp"
#include "host/analysis/modules.hpp"
#include "host/analysis/operands.hpp"
#include "host/compile/executable.hpp"
#include "host/graph/onnx/checked.hpp"
#include "host/graph/onnx/control_flow.hpp"
#include "host/graph/onnx/linear_layer.hpp"
#include "host/graph/onnx/operator.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/onnx/work.hpp"
#include "host/graph/proto/attribute.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kLongestName = 200;

void add(std::uint64_t& sum, std::uint64_t value) { sum = plus(sum, value); }

std::string type_text(const OnnxModel& model, const std::string& value) {
  const std::optional<TensorType> type = model.type(value);
  return type ? data_type_name(type->data_type) + " " + dims_text(type->dims) : "?";
}

/// "opset 13, com.microsoft 1", as the file names them.
std::string opsets_text(const OnnxModel& model, std::optional<std::int64_t>& opset) {
  std::string others;
  for (const onnx::OperatorSetIdProto& import : model.proto().opset_import()) {
    if (import.domain().empty() || import.domain() == "ai.onnx") {
      opset = import.version();
    } else {
      others += fmt::format(", {} {}", printable(import.domain()), import.version());
    }
  }
  if (opset) return fmt::format("opset {}{}", *opset, others);
  const bool assumed = model.opsets().count("") != 0;
  return (assumed ? fmt::format("names no opset (read as opset {})", model.opset())
                  : "names no opset of ONNX") +
         others;
}

class Analyst {
 public:
  Analyst(const OnnxModel& model, const Geometry& geometry, const MemoryTiming& memory, bool lanes,
          std::uint64_t max_tiles)
      : model_(model), origins_(model), lanes_(lanes), array_(geometry, memory, max_tiles) {
    analysis_.model = model.name();
    analysis_.graph = printable(model.graph().name());
    analysis_.opsets = opsets_text(model, analysis_.opset);
    analysis_.why_not_run = why_not_run(model);
    analysis_.geometry = geometry;
    analysis_.memory = memory;
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
  void add_parameters(const std::string& value, Operand role, LayerAnalysis& layer);
  void write_outputs(const onnx::NodeProto& node, LayerAnalysis& layer);
  /// Does the node move data while the network runs?
  bool moves_data(const onnx::NodeProto& node) const {
    return !is_folded(model_, node) && (!node.domain().empty() || node.op_type() != "Identity");
  }
  /// Further outputs that nothing reads, such as Dropout's mask, are never made.
  bool is_made(const std::string& output, int i) const {
    return i == 0 || read_.count(output) != 0;
  }
  /// Predicts the programs that `run` runs.
  std::vector<Counters> predict(const JobProgram& program);
  void add_programs();
  void add_sums(const SumsProgram& program);
  CompileOptions options_for(const MemoryTiming& memory) const;
  std::uint64_t cycles_with(const MemoryTiming& memory);
  void add_memories();
  std::string why_host(const onnx::NodeProto& node, int index) const;
  void add_work(const onnx::NodeProto& node, int index, LayerAnalysis& layer);
  void add_to_kind(const onnx::NodeProto& node, const LayerAnalysis& layer);
  void sum_up();
  void sum_up_array();
  void find_live_peak();

  const OnnxModel& model_;
  const Origins origins_;
  const bool lanes_;
  ArrayModel array_;
  Analysis analysis_;
  Executable compiled_;
  std::map<int, LayerAnalysis::Pool> pools_;  // by node
  std::map<int, ArrayCost> planned_;          // by node, of layers in programs
  std::map<int, std::string> places_;         // likewise, of their results
  std::set<std::string> counted_;             // parameters
  std::set<std::string> read_;                // by nodes, or given out by the graph
  std::uint64_t values_moved_ = 0;            // of the layer under work, biases left out
  std::uint64_t values_of_layers_with_macs_ = 0;
};

void Analyst::describe_ends() {
  for (const std::string& name : model_.inputs()) {
    analysis_.inputs.emplace_back(printable(name), type_text(model_, name));
    if (!model_.type(name)) {
      analysis_.open_inputs.push_back(model_.shape_to_give(name));
      analysis_.unknown.push_back(fmt::format("{}; give it with --input-shape {}",
                                              model_.why_unknown(name),
                                              analysis_.open_inputs.back()));
    }
  }
  for (const onnx::ValueInfoProto& output : model_.graph().output()) {
    analysis_.outputs.emplace_back(printable(output.name()), type_text(model_, output.name()));
  }
}

void Analyst::read_operand(const onnx::NodeProto& node, int i, LayerAnalysis& layer) {
  const std::string& value = node.input(i);
  const Operand role = operand(model_, node, i);
  const std::optional<TensorType> type = model_.type(value);
  if (role == Operand::kSetting) {
    // What operators do with their constants is not known of all of them.
    const bool is_known = find_operator(node.domain(), node.op_type()) != nullptr;
    if (!is_known && type && !type->dims.empty()) layer.parameters_known = false;
    return;
  }
  layer.inputs.push_back(type ? dims_text(type->dims) : "?");
  if (role != Operand::kActivation && !layer.folded) add_parameters(value, role, layer);
  if (!type) {
    layer.bytes_known = layer.folded;
    if (layer.unknown.empty()) layer.unknown = model_.why_unknown(value);
    return;
  }
  const auto bytes = static_cast<std::uint64_t>(type->bytes());
  const auto elements = static_cast<std::uint64_t>(type->elements());
  // Of a shape nothing but the shape is read.
  const bool reads = moves_data(node) && node.op_type() != "Shape" && node.op_type() != "Size";
  if (reads) add(layer.read_bytes, bytes);
  if (reads && role != Operand::kBias) add(values_moved_, elements);
  if (reads && role == Operand::kActivation) add(layer.in_and_out_bytes, bytes);
}

void Analyst::add_parameters(const std::string& value, Operand role, LayerAnalysis& layer) {
  for (const std::string& origin : origins_.of(value)) {
    if (!counted_.insert(origin).second) continue;
    const std::optional<TensorType> type = model_.type(origin);
    if (!type) {
      layer.parameters_known = false;
      if (layer.unknown.empty()) layer.unknown = model_.why_unknown(origin);
      continue;
    }
    const auto bytes = static_cast<std::uint64_t>(type->bytes());
    if (role == Operand::kStatistic) {
      add(layer.statistic_bytes, bytes);
      continue;
    }
    add(layer.parameters, static_cast<std::uint64_t>(type->elements()));
    add(layer.parameter_bytes, bytes);
    if (role == Operand::kWeight) add(layer.weight_bytes, bytes);
  }
}

void Analyst::write_outputs(const onnx::NodeProto& node, LayerAnalysis& layer) {
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& output = node.output(i);
    if (output.empty() || !is_made(output, i)) continue;
    const std::optional<TensorType> type = model_.type(output);
    layer.outputs.push_back(type ? dims_text(type->dims) : "?");
    if (!type) {
      layer.bytes_known = layer.bytes_known && layer.folded;
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
    if (!is_view(node) && !layer.folded) {
      add(layer.activation_bytes, bytes);
      add(layer.activation_values, elements);
    }
  }
}

/// Tiles of weights that enter the array in a job.
std::uint64_t entered_tiles(const Job& job) {
  if (job.stripes.empty()) return times(job.plan.tiles(), job.plan.row_blocks());
  std::uint64_t tiles = 0;
  for (const JobStripe& stripe : job.stripes) {
    add(tiles, times(stripe.plan.tiles(), stripe.plan.row_blocks()));
  }
  return tiles;
}

/// Counters of a program's layers, which are added to those of all programs.
std::vector<Counters> Analyst::predict(const JobProgram& program) {
  std::vector<Counters> layers =
      predict_layers(program, analysis_.geometry, analysis_.memory, &analysis_.dram);
  for (const Counters& layer : layers) {
    for (std::size_t i = 0; i < layer.size(); ++i) analysis_.counters[i] += layer[i];
  }
  for (const Job& job : program.jobs) add(analysis_.entered_tiles, entered_tiles(job));
  return layers;
}

CompileOptions Analyst::options_for(const MemoryTiming& memory) const {
  CompileOptions options;
  options.lanes = lanes_;
  options.rate = rate_of(memory);
  options.memory = memory;
  options.tensor_memory.reset();
  options.most_tiles = array_.max_tiles();
  return options;
}

/// Cycles of the network's programs, compiled for another memory; 0: too many tiles to follow.
std::uint64_t Analyst::cycles_with(const MemoryTiming& memory) {
  const Executable made = compile_in_integers(model_, analysis_.geometry, options_for(memory));
  std::vector<const JobProgram*> lists;
  for (const CompiledProgram& program : made.programs) lists.push_back(&program.list);
  for (const SumsProgram& program : made.sums) lists.push_back(&program.list);
  std::uint64_t cycles = 0;
  for (const JobProgram* const list : lists) {
    std::uint64_t tiles = 0;
    for (const Job& job : list->jobs) add(tiles, entered_tiles(job));
    if (list->jobs.empty() || !array_.follow(tiles)) return 0;
    for (const Counters& layer : predict_layers(*list, analysis_.geometry, memory)) {
      cycles += layer[counter::kTotalClocks];
    }
  }
  return cycles;
}

/// Predicts the programs with ideal ports and with a DRAM channel.
void Analyst::add_memories() {
  if (analysis_.programs.size() != compiled_.programs.size() + compiled_.sums.size()) return;
  if (analysis_.programs.empty()) return;
  const MemoryTiming& own = analysis_.memory;
  MemoryTiming ideal;
  ideal.latency = own.latency;
  analysis_.dram_memory = ideal;
  set_memory(analysis_.dram_memory, "dram:lpddr4");
  if (own.sharing == MemorySharing::kDram) analysis_.dram_memory = own;
  const bool is_ideal = own.sharing == MemorySharing::kIndependent && own.bytes_per_cycle == 0;
  const std::uint64_t cycles = analysis_.counters[counter::kTotalClocks];
  analysis_.compute_bound = is_ideal ? cycles : cycles_with(ideal);
  analysis_.dram_cycles =
      own.sharing == MemorySharing::kDram ? cycles : cycles_with(analysis_.dram_memory);
}

void Analyst::add_programs() {
  if (!analysis_.why_not_run.empty()) return;
  compiled_ = compile_in_integers(model_, analysis_.geometry, options_for(analysis_.memory));
  analysis_.quantizes = compiled_.options.floats == CompileOptions::Floats::kOnDevice;
  for (std::size_t number = 0; number < compiled_.programs.size(); ++number) {
    const DeviceProgram& program = compiled_.plan.programs[number];
    std::uint64_t tiles = 0;
    for (const DeviceLayer& layer : program.layers) {
      add(tiles, times(layer.job.plan.tiles(), layer.job.plan.row_blocks()));
    }
    if (!array_.follow(tiles)) continue;
    const JobProgram& made = compiled_.programs[number].list;
    const std::vector<Counters> counters = predict(made);
    ProgramAnalysis& entry = analysis_.programs.emplace_back();
    for (std::size_t i = 0; i < program.layers.size(); ++i) {
      const DeviceLayer& layer = program.layers[i];
      const auto work = work_of(model_, model_.graph().node(layer.node));
      entry.layers.push_back(layer.job.name);
      if (made.tensor_memory) {
        entry.places.push_back(made.places[i].text());
        places_[layer.node] = entry.places.back();
      }
      entry.cycles += counters[i][counter::kTotalClocks];
      if (!work || !work->products) {
        pools_[layer.node] = {analysis_.programs.size(), counters[i][counter::kTotalClocks]};
        continue;
      }
      const Plan& plan = made.jobs[i].plan;
      ArrayCost cost =
          array_.cost(*work->products, plan.tiles() * plan.row_blocks(), plan.weight_bytes(),
                      counters[i], layer.strips ? layer.strips->count : 1);
      cost.program = analysis_.programs.size();
      cost.packed = layer.packed;
      const auto [planned, is_first] = planned_.emplace(layer.node, cost);
      if (is_first) {
        entry.macs += work->macs;
      } else {
        array_.add(planned->second, cost);
      }
    }
  }
  for (const SumsProgram& program : compiled_.sums) add_sums(program);
  add_memories();
  for (const auto& [index, why] : compiled_.plan.between) {
    const onnx::NodeProto& node = model_.graph().node(index);
    analysis_.between.push_back({node_label(node, index), operator_name(node), 0, why,
                                 values_of(model_, node), compiled_.plan.programs_after(index)});
  }
}

void Analyst::add_sums(const SumsProgram& program) {
  if (program.list.jobs.empty()) return;  // too many tiles
  std::uint64_t tiles = 0;
  for (const Job& job : program.list.jobs) {
    add(tiles, times(job.plan.tiles(), job.plan.row_blocks()));
  }
  if (!array_.follow(tiles)) return;
  const std::vector<Counters> counters = predict(program.list);
  ProgramAnalysis& entry = analysis_.programs.emplace_back();
  std::size_t next = 0;
  for (const SumsProgram::Node& node : program.nodes) {
    Counters sum{};
    std::uint64_t own_tiles = 0, weight_bytes = 0;
    for (const std::size_t end = next + node.jobs; next < end; ++next) {
      const Plan& plan = program.list.jobs[next].plan;
      own_tiles += plan.tiles() * plan.row_blocks();
      weight_bytes += plan.weight_bytes();
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += counters[next][i];
    }
    const auto work = work_of(model_, model_.graph().node(static_cast<int>(node.index)));
    ArrayCost cost = array_.cost(node.products, own_tiles, weight_bytes, sum);
    cost.program = analysis_.programs.size();
    entry.layers.push_back(node.name);
    entry.cycles += *cost.cycles;
    entry.macs += work ? work->macs : 0;
    planned_[static_cast<int>(node.index)] = cost;
  }
}

/// Why `run` computes a node's products on the host; empty where it does not.
std::string Analyst::why_host(const onnx::NodeProto& node, int index) const {
  if (!analysis_.why_not_run.empty()) return "gemm64 run refuses the network";
  const auto found = compiled_.plan.on_host.find(index);
  if (found != compiled_.plan.on_host.end()) return found->second;
  return compiled_.plan.has(index) ? "" : why_on_host(model_, node);
}

void Analyst::add_work(const onnx::NodeProto& node, int index, LayerAnalysis& layer) {
  if (layer.folded) return;
  const std::optional<Work> work = work_of(model_, node);
  if (!work || work->macs != 0) {
    layer.on_host = why_host(node, index);
  }
  if (!work) {
    layer.macs_known = false;
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
  if (const auto place = places_.find(index); place != places_.end()) {
    layer.results_in = place->second;
  }
  if (const auto pool = pools_.find(index); pool != pools_.end()) {
    layer.pool = pool->second;
    layer.on_host = "";
  } else if (const auto planned = planned_.find(index); planned != planned_.end()) {
    layer.array = planned->second;
  } else if (work->products) {
    std::string why;
    layer.array = array_.cost(*work->products, why);
    if (layer.array) return;
    analysis_.totals.array_known = false;
    layer.on_host = why;
    if (layer.unknown.empty()) layer.unknown = why;
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
  kind.parameters_known = kind.parameters_known && layer.parameters_known;
  kind.macs_known = kind.macs_known && layer.macs_known;
  kind.bytes_known = kind.bytes_known && layer.bytes_known;
  add_attributes(model_, node, kind);
}

void Analyst::add_layer(const onnx::NodeProto& node, int index) {
  LayerAnalysis layer;
  layer.name = node.name().empty() ? node_label(node, index) : printable(node.name(), kLongestName);
  layer.op_type = node.domain().empty() ? printable(node.op_type())
                                        : printable(node.domain() + "." + node.op_type());
  layer.attributes = attribute_texts(model_, node);
  layer.folded = is_folded(model_, node);
  layer.parameters_known = !has_subgraph(node);  // they may hold some
  values_moved_ = 0;
  try {
    for (int i = 0; i < node.input_size(); ++i) {
      if (!node.input(i).empty()) read_operand(node, i, layer);
    }
    write_outputs(node, layer);
    add_work(node, index, layer);
    add_to_kind(node, layer);
  } catch (const std::overflow_error& error) {
    throw UsageError(
        fmt::format("{}: node '{}': its sizes make {}", model_.name(), layer.name, error.what()));
  }
  if (is_control_flow(node)) layer.unknown = operator_name(node) + " " + model_.why_kept(node);
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
    totals.parameters_known = totals.parameters_known && layer.parameters_known;
    totals.macs_known = totals.macs_known && layer.macs_known;
    totals.bytes_known = totals.bytes_known && layer.bytes_known;
    if (layer.in_and_out_bytes > totals.peak_layer_bytes) {
      totals.peak_layer_bytes = layer.in_and_out_bytes;
      totals.peak_layer = layer.name;
    }
  }
  totals.array_known = totals.array_known && totals.macs_known;
  plus(totals.read_bytes, totals.written_bytes);  // what reports add up must fit too
  if (values_of_layers_with_macs_ != 0) {
    totals.intensity =
        static_cast<double>(totals.macs) / static_cast<double>(values_of_layers_with_macs_);
  }
}

void Analyst::sum_up_array() {
  AnalysisTotals& totals = analysis_.totals;
  std::uint64_t timed_macs = 0;
  std::map<std::size_t, ArrayCost> programs;  // a layer's weights come while the one before runs
  for (const LayerAnalysis& layer : analysis_.layers) {
    if (layer.pool) {
      add(totals.on_device.cycles, layer.pool->cycles);
      add(totals.cycles, layer.pool->cycles);
      add(totals.roof_cycles, layer.pool->cycles);  // at a word per cycle
    }
    if (!layer.array) continue;
    const ArrayCost& cost = *layer.array;
    const ProductSizes& shape = cost.products.shape;
    // A node may have other products besides, and zeros in its last block.
    const std::uint64_t macs =
        std::min(layer.macs, times(times(times(shape.m, shape.k), shape.n), cost.products.count));
    AnalysisTotals::Place& place = layer.on_host->empty() ? totals.on_device : totals.if_on_device;
    ++place.layers;
    add(place.macs, macs);
    add(place.tiles, cost.tiles);
    add(place.cycles, cost.cycles.value_or(0));
    ++totals.array_layers;
    add(totals.array_macs, macs);
    add(totals.tiles, cost.tiles);
    add(totals.published.scale_sim_os, cost.published.scale_sim_os);
    add(totals.published.scale_sim_ws, cost.published.scale_sim_ws);
    add(totals.published.single_buffered, cost.published.single_buffered);
    add(totals.published.double_buffered, cost.published.double_buffered);
    if (cost.program == 0) {
      add(totals.roof_cycles, cost.roof_cycles());
    } else {
      ArrayCost& program = programs[cost.program];
      program.shared_memory = cost.shared_memory;
      add(program.macs_cycles, cost.macs_cycles);
      add(program.weights_cycles, cost.weights_cycles);
      add(program.activations_cycles, cost.activations_cycles);
      add(program.results_cycles, cost.results_cycles);
    }
    if (!cost.cycles) {
      ++totals.array_unpredicted;
      continue;
    }
    add(totals.cycles, *cost.cycles);
    add(timed_macs, macs);
  }
  for (const auto& [number, program] : programs) add(totals.roof_cycles, program.roof_cycles());
  if (totals.cycles != 0) {
    totals.utilization = static_cast<double>(timed_macs) /
                         (static_cast<double>(analysis_.geometry.macs_per_clock()) *
                          static_cast<double>(totals.cycles));
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
    if (!is_view(node) || node.input_size() == 0 || is_folded(model_, node)) continue;
    for (const std::string& output : node.output()) owner[output] = root(node.input(0));
  }
  std::map<std::string, int> last;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (is_folded(model_, graph.node(i))) continue;
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
    if (is_folded(model_, node)) continue;
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
  add_programs();
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

Analysis analyze(const OnnxModel& model, const Geometry& geometry, const MemoryTiming& memory,
                 bool lanes, std::uint64_t max_tiles) {
  return Analyst(model, geometry, memory, lanes, max_tiles).analyze();
}

}  // namespace gemm64
