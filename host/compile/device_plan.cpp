// SPDX-License-Identifier: Apache-2.0
#include "host/compile/device_plan.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "host/compile/vector_node.hpp"
#include "host/divide.hpp"
#include "host/error.hpp"
#include "host/onnx/linear_layer.hpp"
#include "host/onnx/supported.hpp"
#include "host/run/program_prediction.hpp"

namespace gemm64 {
namespace {

/// Where a value comes from.
struct Value {
  std::size_t level = 0;
  std::optional<std::size_t> layer;  // whose results it is, perhaps in another shape
  bool behind_layer = false;         // does it need the results of one?
  std::string root;                  // the value whose bytes it is, perhaps in another shape
};

/// A layer and its place.
struct Placed {
  DeviceLayer layer;
  QuantizedNode node;
  std::size_t level = 0;
  std::size_t depth = 0;               // layers of the level before it, each reading the one before
  bool read = false;                   // by another layer of the level
  std::optional<StoreCommand> vector;  // what becomes of its results
};

class Planner {
 public:
  Planner(const OnnxModel& model, const Geometry& geometry, const PlanOptions& options);

  DevicePlan run();

 private:
  void add_node(int index);
  void add_layer(int index, QuantizedNode node);
  bool add_vector(int index, const VectorNode& node);
  bool join(int index, const VectorNode& node, const std::string& first, const std::string& second,
            const StoreCommand& settings);
  bool reads_as_it_lies(const Placed& from, QuantizedNode& to) const;
  static bool reads_map(Convolution map, QuantizedNode& to);
  bool reads_in_place(const Value& input, QuantizedNode& node) const;
  bool is_packed(const QuantizedNode& node) const;
  Job make(int index, const Placed& placed) const;
  bool is_pool_for_lanes(const onnx::NodeProto& proto, const QuantizedNode& node) const;
  Value host_value(const onnx::NodeProto& node) const;
  std::vector<DeviceProgram> programs();

  const OnnxModel& model_;
  const Geometry& geometry_;
  const PlanOptions& options_;
  DevicePlan plan_;
  std::vector<Placed> layers_;
  std::map<std::string, Value> values_;
  std::map<std::string, int> readers_;  // of each value, the graph's outputs among them
};

Planner::Planner(const OnnxModel& model, const Geometry& geometry, const PlanOptions& options)
    : model_(model), geometry_(geometry), options_(options) {
  const onnx::GraphProto& graph = model.graph();
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& name : node.input()) ++readers_[name];
  }
  for (const onnx::ValueInfoProto& output : graph.output()) ++readers_[output.name()];
}

/// What the host computes of its inputs.
Value Planner::host_value(const onnx::NodeProto& node) const {
  Value value;
  for (const std::string& name : node.input()) {
    const auto found = values_.find(name);
    if (found == values_.end()) continue;
    value.level = std::max(value.level, found->second.level + (found->second.layer ? 1 : 0));
    value.behind_layer = value.behind_layer || found->second.behind_layer;
  }
  return value;
}

/// Can the layer read the results of another where they lie? A Linear layer of a map becomes a
/// convolution whose window is the map.
bool Planner::reads_as_it_lies(const Placed& from, QuantizedNode& to) const {
  const QuantizedNode& before = from.node;
  Convolution map;  // of the results
  map.images = static_cast<std::uint32_t>(before.shape.m);
  map.channels = static_cast<std::uint32_t>(before.shape.n);
  if (before.convolution) {
    map.images = before.convolution->images;
    map.height = before.convolution->out_height;
    map.width = before.convolution->out_width;
  }
  return reads_map(map, to);
}

/// Can the layer read a map, all of it in each row where the layer is a Linear one?
bool Planner::reads_map(Convolution map, QuantizedNode& to) {
  if (to.convolution) {
    const Convolution& c = *to.convolution;
    return c.images == map.images && c.channels == map.channels && c.height == map.height &&
           c.width == map.width;
  }
  const std::uint64_t pixels = std::uint64_t{map.height} * map.width;
  if (to.shape.m != map.images || to.shape.k != pixels * map.channels) return false;
  if (pixels == 1) return true;
  map.kernel_height = map.height;
  map.kernel_width = map.width;
  map.out_channels = static_cast<std::uint32_t>(to.shape.n);
  map.zero = 0;  // nothing lies beyond the border
  to.convolution = map;
  return true;
}

/// Can the layer read a value where it lies in planes?
bool Planner::reads_in_place(const Value& input, QuantizedNode& node) const {
  const std::optional<TensorType> type = model_.type(input.root);
  if (node.convolution) return true;
  if (!type) return false;
  const auto size = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  Convolution map;
  const std::vector<std::int64_t>& dims = type->dims;
  if (!dims.empty()) map.images = size(dims[0]);
  if (dims.size() > 1) map.channels = size(dims[1]);
  for (std::size_t axis = 2; axis + 1 < dims.size(); ++axis) map.height *= size(dims[axis]);
  if (dims.size() > 2) map.width = size(dims.back());
  return reads_map(map, node);
}

/// Is a layer whose activations come from the host one with few channels, at most half a word, that
/// takes fewer tiles if the host lays out its windows?
bool Planner::is_packed(const QuantizedNode& node) const {
  const Convolution& c = *node.convolution;
  const std::uint64_t taps = std::uint64_t{c.kernel_height} * c.kernel_width;
  return c.groups == 1 && std::uint64_t{2} * c.channels <= geometry_.n &&
         divide_up(node.shape.k, geometry_.n) < taps;
}

/// The layer's job. Throws UsageError where there is none.
Job Planner::make(int index, const Placed& placed) const {
  const DeviceLayer& layer = placed.layer;
  const QuantizedNode& node = placed.node;
  Output output;
  const bool as_unsigned =
      node.type == onnx::TensorProto::UINT8 && !placed.read && !options_.in_place;
  output.vector = placed.vector;
  if (output.vector) {
    // The vector path computes with the values that the file has; in memory, uint8 that a layer
    // reads is int8.
    const bool is_uint8 = node.type == onnx::TensorProto::UINT8;
    output.format = ResultFormat(is_uint8 ? ResultCode::kUint8 : ResultCode::kInt8);
    output.zero = node.result.zero;
    output.vector->operand_moved = is_uint8 ? 1 : 0;
    output.vector->result_moved = is_uint8 && !as_unsigned ? 1 : 0;
  } else {
    output.format = ResultFormat(as_unsigned ? ResultCode::kUint8 : ResultCode::kInt8);
    output.zero = node.result.zero + (as_unsigned ? 0 : move_to_int8(node.type));
  }
  output.low = output.format.least();
  output.high = output.format.largest();
  std::string name = node_label(model_.graph().node(index), index);
  if (layer.convolution && !layer.packed) {
    std::optional<Job> lanes;
    if (options_.lanes)
      lanes = make_lanes_job(name, *layer.convolution, geometry_, output, layer.sum);
    if (lanes) return *std::move(lanes);
    if (layer.is_pool()) throw UsageError("the lanes have no room for its window");
    return make_job(std::move(name), *layer.convolution, geometry_, output);
  }
  return make_job(std::move(name), node.shape, Accumulate::kDevice, geometry_, output);
}

void Planner::add_layer(int index, QuantizedNode node) {
  const onnx::NodeProto& proto = model_.graph().node(index);
  const auto found = values_.find(proto.input(0));
  const Value input = found == values_.end() ? Value{} : found->second;
  Placed placed;
  placed.layer.node = index;
  placed.layer.input = node.input;
  placed.layer.result = node.result;
  placed.layer.sum = node.sum;
  if (node.sum == LaneSum::kMaximum) {
    placed.layer.input = placed.layer.result = layers_[*input.layer].layer.result;
    placed.layer.input.zero += move_to_int8(node.type);
  }
  const auto try_to_make = [&](bool packed) {
    placed.layer.packed = packed;
    placed.layer.convolution = placed.node.convolution;
    try {
      placed.layer.job = make(index, placed);
      return true;
    } catch (const UsageError& error) {
      plan_.on_host[index] = error.what();
      return false;
    }
  };
  bool made = false;
  placed.node = node;
  if (input.layer && reads_as_it_lies(layers_[*input.layer], placed.node)) {
    placed.layer.source = input.layer;
    placed.level = input.level;
    placed.depth = layers_[*input.layer].depth + 1;
    made = try_to_make(false);
  }
  if (!made && !placed.layer.is_pool()) {
    placed.node = std::move(node);
    placed.layer.source.reset();
    placed.level = input.level + (input.layer ? 1 : 0);
    placed.depth = 0;
    if (options_.in_place) {
      const bool lies = !input.behind_layer || reads_in_place(input, placed.node);
      if (!lies) plan_.on_host[index] = "its activations do not lie as the processor leaves them";
      made = lies && try_to_make(false);
    } else {
      made = placed.node.convolution && is_packed(placed.node) && try_to_make(true);
      made = made || try_to_make(false);
      // What is no window for the device is a product, if the host lays it out.
      const bool one_group = placed.node.convolution && placed.node.convolution->groups == 1;
      made = made || (one_group && try_to_make(true));
    }
  }
  if (!made) {
    if (placed.layer.is_pool()) plan_.on_host.erase(index);  // it has no products
    Value value = host_value(proto);
    value.root = proto.output(0);
    values_[proto.output(0)] = std::move(value);
    return;
  }
  plan_.on_host.erase(index);
  if (placed.layer.source) layers_[*placed.layer.source].read = true;
  values_[proto.output(0)] = {placed.level, layers_.size(), true, proto.output(0)};
  layers_.push_back(std::move(placed));
}

/// Can a node be part of the layer that gives its input `first`? Its input `second` comes from
/// memory: from another layer of the program, or from the host.
bool Planner::join(int index, const VectorNode& node, const std::string& first,
                   const std::string& second, const StoreCommand& settings) {
  const auto found = values_.find(first);
  if (found == values_.end() || !found->second.layer || readers_[first] != 1) return false;
  const std::size_t number = *found->second.layer;
  Placed& placed = layers_[number];
  const std::string& results = model_.graph().node(placed.layer.last()).output(0);
  if (results != first || placed.vector || placed.node.type != node.type) return false;
  const auto other = values_.find(second);
  const Value operand = other == values_.end() ? Value{} : other->second;
  const bool in_program = operand.layer && operand.level == placed.level && operand.root == second;
  if (in_program) {
    // Pixels of a map, or rows of a matrix: one way for both.
    const auto is_map = [this](const Placed& of) {
      const std::string& type = model_.graph().node(of.layer.node).op_type();
      return type == "QLinearConv" || of.layer.is_pool();
    };
    if (*operand.layer == number || is_map(layers_[*operand.layer]) != is_map(placed)) return false;
    placed.depth = std::max(placed.depth, layers_[*operand.layer].depth + 1);
    placed.layer.operand = operand.layer;
    layers_[*operand.layer].read = true;
  } else if (operand.level + (operand.layer ? 1 : 0) > placed.level) {
    return false;
  }
  placed.vector = settings;
  placed.layer.second = second;
  placed.layer.second_quantization =
      second == model_.graph().node(index).input(node.a) ? node.of_a : node.of_b;
  placed.layer.second_quantization.zero += move_to_int8(node.type);
  placed.layer.behind.push_back(index);
  placed.layer.result = node.result;
  placed.layer.job = make(placed.layer.node, placed);
  const std::string& output = model_.graph().node(index).output(0);
  values_[output] = {placed.level, number, true, output};
  return true;
}

bool Planner::add_vector(int index, const VectorNode& node) {
  const onnx::NodeProto& proto = model_.graph().node(index);
  const std::string &a = proto.input(node.a), &b = proto.input(node.b);
  if (a == b) return false;
  // The layer that comes later takes what the other one gave.
  const auto depth = [this](const std::string& name) {
    const auto found = values_.find(name);
    if (found == values_.end() || !found->second.layer)
      return std::pair(std::size_t{0}, std::size_t{0});
    return std::pair(found->second.level, layers_[*found->second.layer].depth + 1);
  };
  if (depth(a) >= depth(b)) {
    return join(index, node, a, b, node.settings) || join(index, node, b, a, node.swapped());
  }
  return join(index, node, b, a, node.swapped()) || join(index, node, a, b, node.settings);
}

/// Pools that read a layer's results run where these are; others stay with the host, as its input
/// does.
bool Planner::is_pool_for_lanes(const onnx::NodeProto& proto, const QuantizedNode& node) const {
  if (!options_.lanes || options_.in_place) return false;
  const auto input = values_.find(proto.input(0));
  return input != values_.end() && input->second.layer &&
         layers_[*input->second.layer].node.type == node.type;
}

void Planner::add_node(int index) {
  const onnx::NodeProto& proto = model_.graph().node(index);
  if (!options_.in_place) {
    std::string why;
    const auto vector = read_vector_node(model_, index, geometry_, why);
    if (vector && add_vector(index, *vector)) return;
  }
  QuantizedNode node = read_quantized_node(model_, index);
  const bool is_pool = node.sum != LaneSum::kProducts;
  if (is_pool && !is_pool_for_lanes(proto, node)) node.place = NodePlace::kOther;
  if (node.place == NodePlace::kLayer && node.convolution && !is_pool && !options_.convolutions) {
    node.place = NodePlace::kHost;
    node.why = "with --convolutions host";
  }
  if (node.place == NodePlace::kLayer) {
    add_layer(index, std::move(node));
    return;
  }
  if (node.place == NodePlace::kHost) plan_.on_host[index] = node.why;
  if (node.place == NodePlace::kSums) plan_.sums[index] = node.why;
  Value value = host_value(proto);
  if ((is_view(proto) || node.place == NodePlace::kView) && proto.input_size() != 0) {
    const auto found = values_.find(proto.input(0));
    if (found != values_.end()) value = found->second;
  }
  const bool keeps_bytes = !value.root.empty();
  for (const std::string& output : proto.output()) {
    if (!keeps_bytes) value.root = output;
    values_[output] = value;
  }
}

std::vector<DeviceProgram> Planner::programs() {
  std::vector<std::size_t> order(layers_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  // What gives a second operand comes first, so that it is stored when that is asked for.
  std::vector<bool> is_operand(layers_.size());
  for (const Placed& placed : layers_) {
    if (placed.layer.operand) is_operand[*placed.layer.operand] = true;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(layers_[a].level, layers_[a].depth, !is_operand[a]) <
           std::tuple(layers_[b].level, layers_[b].depth, !is_operand[b]);
  });
  std::vector<DeviceProgram> programs;
  std::vector<std::size_t> place(layers_.size());  // of each layer in its program
  for (std::size_t i = 0; i < order.size(); ++i) {
    Placed& placed = layers_[order[i]];
    if (i == 0 || placed.level != layers_[order[i - 1]].level) programs.emplace_back();
    DeviceProgram& program = programs.back();
    place[order[i]] = program.layers.size();
    if (placed.read && placed.node.type == onnx::TensorProto::UINT8) {
      placed.layer.job = make(placed.layer.node, placed);  // int8 after all
    }
    if (placed.layer.source) {
      placed.layer.source = place[*placed.layer.source];
      placed.layer.job.source = placed.layer.source;
    }
    if (placed.layer.operand) {
      placed.layer.operand = place[*placed.layer.operand];
      placed.layer.job.operand = placed.layer.operand;
    }
    if (placed.layer.job.plan.results().code() == ResultCode::kInt8) {
      placed.layer.result.zero += move_to_int8(placed.node.type);
    }
    program.layers.push_back(std::move(placed.layer));
  }
  return programs;
}

DevicePlan Planner::run() {
  for (int i = 0; i < model_.graph().node_size(); ++i) add_node(i);
  plan_.programs = programs();
  return std::move(plan_);
}

}  // namespace

std::vector<int> DeviceLayer::nodes() const {
  std::vector<int> nodes = {node};
  nodes.insert(nodes.end(), behind.begin(), behind.end());
  return nodes;
}

bool DevicePlan::has(int node) const {
  return std::any_of(programs.begin(), programs.end(), [node](const DeviceProgram& program) {
    return std::any_of(program.layers.begin(), program.layers.end(),
                       [node](const DeviceLayer& layer) {
                         const std::vector<int> nodes = layer.nodes();
                         return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
                       });
  });
}

DevicePlan plan_device(const OnnxModel& model, const Geometry& geometry,
                       const PlanOptions& options) {
  return Planner(model, geometry, options).run();
}

DevicePlan plan_sums(const OnnxModel& model, const std::string& why) {
  DevicePlan plan;
  for (int i = 0; i < model.graph().node_size(); ++i) {
    QuantizedNode node = read_quantized_node(model, i);
    if (node.place == NodePlace::kHost) plan.on_host[i] = node.why;
    if (node.place == NodePlace::kSums) plan.sums[i] = node.why;
    if (node.place != NodePlace::kLayer) continue;
    (node.convolution ? plan.on_host : plan.sums)[i] = why;
  }
  return plan;
}

void leave_floats_to_host(const OnnxModel& model, DevicePlan& plan, const std::string& why) {
  if (why.empty() && !plan.has_integers()) return;
  for (int i = 0; i < model.graph().node_size(); ++i) {
    const onnx::NodeProto& node = model.graph().node(i);
    if (!is_float_product(node)) continue;
    if (node.input_size() < 2 || !model.is_constant(node.input(1))) continue;
    plan.on_host[i] = why.empty() ? "they are float32 in the file; --precision float32 takes them "
                                    "to the device in slices, --precision int8 quantizes them on "
                                    "the way"
                                  : why;
  }
}

JobProgram make_program(const DeviceProgram& program, const Geometry& geometry) {
  std::vector<Job> jobs;
  for (const DeviceLayer& layer : program.layers) jobs.push_back(layer.job);
  return make_job_program(jobs, geometry);
}

std::vector<Counters> predict_layers(const JobProgram& program, const Geometry& geometry,
                                     const MemoryTiming& memory) {
  return predict_program(program, geometry, memory).layers;
}

}  // namespace gemm64
