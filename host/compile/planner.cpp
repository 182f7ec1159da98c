// SPDX-License-Identifier: Apache-2.0
#include "host/compile/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "host/graph/onnx/linear_layer.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/util/divide.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

/// Can a layer read a map, all of it in each row where the layer is a Linear one? Such a layer
/// becomes a convolution whose window is the map.
bool reads_map(Convolution map, QuantizedNode& to) {
  if (to.sum_columns != 0) return false;  // which the host adds
  if (to.convolution) {
    const Convolution& c = *to.convolution;
    return c.images == map.images && c.channels == map.channels && c.height == map.height &&
           c.width == map.width;
  }
  const std::uint64_t pixels = std::uint64_t{map.height} * map.width;
  if (to.computed && pixels != 1) return false;
  if (to.shape.m != map.images || to.shape.k != pixels * map.channels) return false;
  if (pixels == 1) return true;
  map.kernel_height = map.height;
  map.kernel_width = map.width;
  map.out_channels = static_cast<std::uint32_t>(to.shape.n);
  map.zero = 0;  // there is no border
  to.convolution = map;
  return true;
}

/// A pool whose windows have more than one pixel.
bool is_window_pool(const DeviceLayer& layer) {
  return layer.is_pool() && layer.convolution && layer.convolution->taps() > 1;
}

/// Is a channel in the view more than once? Its weights would be sums, beyond int8.
bool repeats_channel(std::vector<std::uint32_t> view) {
  std::sort(view.begin(), view.end());
  return std::adjacent_find(view.begin(), view.end()) != view.end();
}

/// Do int32 results, four beats a row, take less time than the columns of sums?
bool takes_less_by_sums(const QuantizedNode& node, std::uint32_t n) {
  const std::uint64_t beats = ResultFormat::int32().beats_per_row();
  const std::uint64_t own_tiles = std::max(divide_up(node.shape.k, n), beats);
  return own_tiles < divide_up(node.shape.k + node.sum_columns, n);
}

}  // namespace

Planner::Value Planner::value_of(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? Value{} : found->second;
}

/// What the host computes of its inputs.
Planner::Value Planner::host_value(const onnx::NodeProto& node) const {
  Value value;
  for (const std::string& name : node.input()) {
    const auto found = values_.find(name);
    if (found == values_.end()) continue;
    value.level = std::max(value.level, found->second.level + (found->second.layer ? 1 : 0));
    value.behind_layer = value.behind_layer || found->second.behind_layer;
  }
  return value;
}

/// The map that a layer's results are, or are a part of.
Convolution Planner::results_map(const Placed& from) const {
  Convolution map;
  map.images = static_cast<std::uint32_t>(from.node.shape.m);
  map.channels = static_cast<std::uint32_t>(from.layer.part            ? from.layer.part->channels
                                            : from.layer.channels != 0 ? from.layer.channels
                                                                       : from.node.shape.n);
  if (from.node.convolution) {
    map.images = from.node.convolution->images;
    map.height = from.node.convolution->out_height;
    map.width = from.node.convolution->out_width;
  }
  return map;
}

/// Columns of a layer's results, or of those that they are a part of.
std::uint32_t Planner::columns_of(std::size_t number) const {
  const Placed& from = layers_[number];
  return static_cast<std::uint32_t>(from.layer.part ? from.layer.part->columns : from.node.shape.n);
}

/// How the channels of a layer's results lie, or of those that they are a part of.
ChannelOrder Planner::order_of(std::size_t number) const {
  const DeviceLayer& layer = layers_[number].layer;
  if (!layer.part) return layer.result_order;
  ChannelOrder order(layer.part->channels);
  for (const Placed& placed : layers_) {
    const auto& part = placed.layer.part;
    if (!part || part->node != layer.part->node) continue;
    const ChannelOrder& own = placed.layer.result_order;
    for (std::uint32_t i = 0; i < placed.node.shape.n; ++i) {
      order[part->first + i] = static_cast<std::uint32_t>(part->place) + place_in(own, i);
    }
  }
  return normalized(std::move(order));
}

/// Can the layer read another's result in place?
bool Planner::reads_as_it_lies(const Value& input, QuantizedNode& to) const {
  return reads_map(map_of(input), to);
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
Job Planner::make(const Placed& placed) const {
  Job job = make_job_of(placed);
  job.source_tile = placed.layer.source_tile;
  if (const auto& rows = placed.layer.rows) {
    const std::uint64_t width = placed.layer.convolution->width;
    job.source_row = placed.layer.first_row_read() * width;
    job.name += fmt::format(" (rows {} to {})", rows->first, rows->end - 1);
  }
  return job;
}

Job Planner::make_job_of(const Placed& placed) const {
  const DeviceLayer& layer = placed.layer;
  const QuantizedNode& node = placed.node;
  Output output;
  // An average's sums may have another one before they are rounded.
  const int zero = node.sum == LaneSum::kValues ? node.average.zero : node.result.zero;
  const bool as_unsigned = node.type == onnx::TensorProto::UINT8 && !placed.read;
  output.vector = placed.vector;
  output.operand_images = placed.operand_images;
  if (layer.part) {
    const bool has_gaps = layer.part->columns != layer.part->channels;
    output.part = {{layer.part->place, layer.part->columns, 0, 0, has_gaps}};
  }
  if (layer.rows) {
    const std::uint64_t width = layer.convolution->width;
    output.part = {
        {0, node.shape.n, layer.rows->first * width, layer.source_strips->all_rows() * width}};
  }
  if (output.part && output.part->has_shared_tiles(node.shape.n, geometry_.n) && !output.vector) {
    output.vector = StoreCommand{};
  }
  if (output.vector) {
    // The element-wise unit computes with the values that the file has; in memory, uint8 that a
    // layer reads is int8.
    const bool is_uint8 = node.type == onnx::TensorProto::UINT8;
    output.format = ResultFormat(is_uint8 ? ResultCode::kUint8 : ResultCode::kInt8);
    output.zero = zero;
    output.vector->operand_moved = is_uint8 ? 1 : 0;
    output.vector->result_moved = is_uint8 && !as_unsigned ? 1 : 0;
  } else {
    output.format = ResultFormat(as_unsigned ? ResultCode::kUint8 : ResultCode::kInt8);
    output.zero = zero + (as_unsigned ? 0 : move_to_int8(node.type));
  }
  output.low = output.format.least();
  output.high = output.format.largest();
  std::string name = node_label(proto(layer.node), layer.node);
  if (layer.convolution && !layer.packed) {
    std::optional<Job> lanes;
    if (options_.lanes)
      lanes = make_lanes_job(name, *layer.convolution, geometry_, output, layer.sum, layer.repeats);
    if (lanes) return *std::move(lanes);
    const bool repeats = layer.repeats != std::pair(1U, 1U);
    if (layer.is_pool() || repeats) throw UsageError("the lanes have no room for its window");
    return make_job(std::move(name), *layer.convolution, geometry_, output, options_.rate);
  }
  GemmShape shape = node.shape;
  shape.k += node.sum_columns;
  std::uint32_t products = node.products;
  if (layer.shared_tiles) {
    const std::uint32_t together = layer.shared_tiles->together;
    products = static_cast<std::uint32_t>(divide_up(products, together));
    shape.m = shape.m / node.products * together * products;
    shape.n *= together;
  }
  return make_job(std::move(name), shape, Accumulate::kDevice, geometry_, output, products);
}

/// A layer of the program reads the results of another.
void Planner::mark_read(std::size_t layer) {
  layers_[layer].read = true;
  if (!layers_[layer].layer.part) return;
  for (Placed& placed : layers_) {
    if (placed.layer.part && placed.layer.part->node == layers_[layer].layer.part->node) {
      placed.read = true;
    }
  }
}

/// Do only layers of its program read a layer's results?
bool Planner::is_internal(const Placed& giver) const {
  const std::string& name = output_of(giver);
  const auto readers = readers_.find(name);
  if (readers == readers_.end()) return false;
  return std::all_of(readers->second.begin(), readers->second.end(), [&](int node) {
    bool read = false;
    for (const Placed& placed : layers_) {
      const DeviceLayer& layer = placed.layer;
      const std::vector<int> nodes = layer.nodes();
      if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) continue;
      const bool as_input = layer.input_value == name, as_operand = layer.second == name;
      const bool in_memory = (as_input && !layer.source) || (as_operand && !layer.operand);
      if (in_memory || layer.weights_value == name) return false;
      if (!as_input && !as_operand) continue;
      if (placed.level != giver.level) return false;
      read = true;
    }
    return read;  // else the host does, or it is an output
  });
}

/// Adds a layer; the number of the new one.
std::size_t Planner::append(Placed placed) {
  if (placed.layer.source) mark_read(*placed.layer.source);
  layers_.push_back(std::move(placed));
  return layers_.size() - 1;
}

void Planner::push(Placed placed, const std::string& output) {
  const std::size_t level = placed.level;
  values_[output] = {level, append(std::move(placed)), true, output};
}

void Planner::add_layer(int index, QuantizedNode node) {
  const std::string& name = proto(index).input(0);
  const bool by_channel =
      node.sum != LaneSum::kProducts || (node.convolution && node.convolution->groups != 1);
  if (by_channel || repeats_channel(value_of(name).view)) materialize(name);
  const Value input = value_of(name);
  Placed placed;
  placed.layer.node = index;
  placed.layer.input_value = name;
  placed.layer.input = node.input;
  placed.layer.result = node.result;
  placed.layer.sum = node.sum;
  placed.layer.average = node.average;
  if (node.computed) placed.layer.weights_value = proto(index).input(3);
  placed.layer.stack = node.stack;
  placed.layer.sum_columns = node.sum_columns;
  placed.map = proto(index).op_type() == "QLinearConv" || placed.layer.is_pool();
  if (node.sum == LaneSum::kMaximum) {
    placed.layer.input = placed.layer.result = layers_[*input.layer].layer.result;
    placed.layer.input.zero += move_to_int8(node.type);
  }
  const auto try_to_make = [&](bool packed) {
    placed.layer.packed = packed;
    placed.layer.convolution = placed.node.convolution;
    try {
      if (!placed.layer.input_order.empty() && !placed.layer.is_pool() && placed.node.convolution &&
          placed.node.convolution->groups != 1) {
        throw UsageError("the channels of its groups lie in another order");
      }
      placed.layer.job = make(placed);
      return true;
    } catch (const UsageError& error) {
      plan_.on_host[index] = error.what();
      return false;
    }
  };
  bool made = false;
  placed.node = std::move(node);
  const Placed unplaced = placed;
  const Value weights = value_of(placed.layer.weights_value);
  const std::size_t weights_level = weights.level + (weights.layer ? 1 : 0);
  const bool in_place = input.layer && (input.view.empty() || !by_channel) &&
                        !repeats_channel(input.view) && weights_level <= input.level &&
                        reads_as_it_lies(input, placed.node);
  if (in_place) {
    placed.layer.source = input.layer;
    placed.layer.view = input.view;
    set_columns(placed, input, input.view);
    if (placed.layer.is_pool()) placed.layer.result_order = placed.layer.input_order;
    placed.level = input.level;
    placed.depth = layers_[*input.layer].depth + 1;
    made = try_to_make(false);
  }
  if (!made && !placed.layer.is_pool()) {
    placed = unplaced;
    placed.level = std::max(input.level + (input.layer ? 1 : 0), weights_level);
    // The host lays out the windows of few channels, and of weights with a zero point.
    const bool sums = placed.node.sum_columns != 0;
    made = placed.node.convolution && (sums || is_packed(placed.node)) && try_to_make(true);
    made = made || ((!placed.node.convolution || !sums) && try_to_make(false));
    // What is no window for the device is a product, if the host lays it out.
    const bool one_group = placed.node.convolution && placed.node.convolution->groups == 1;
    made = made || (one_group && try_to_make(true));
  }
  const std::string& output = proto(index).output(0);
  if (!made) {
    if (placed.layer.is_pool()) {  // it has no products
      left_[index] = plan_.on_host[index];
      plan_.on_host.erase(index);
    }
    Value value = host_value(proto(index));
    value.root = output;
    values_[output] = std::move(value);
    return;
  }
  plan_.on_host.erase(index);
  push(std::move(placed), output);
  add_table(layers_.size() - 1);
}

/// Pools that read a layer's results run where these are; others stay with the host, as its input
/// does.
bool Planner::is_pool_for_lanes(const onnx::NodeProto& proto, const QuantizedNode& node) const {
  if (!options_.lanes) return false;
  const auto input = values_.find(proto.input(0));
  return input != values_.end() && input->second.layer &&
         layers_[*input->second.layer].node.type == node.type;
}

void Planner::add_node(int index) {
  if (done_.count(index) != 0) return;
  if (add_view(index) || add_vector(index)) return;
  QuantizedNode node = read_quantized_node(model_, index);
  const bool is_pool = node.sum != LaneSum::kProducts;
  if (is_pool && !is_pool_for_lanes(proto(index), node)) {
    node.place = NodePlace::kOther;
    leave(index, options_.lanes ? "it does not read what a layer gave" : "with --depthwise array");
  }
  if (node.place == NodePlace::kOther && !node.why.empty()) leave(index, node.why);
  if (node.place == NodePlace::kLayer && node.convolution && !is_pool && !options_.convolutions) {
    node.place = NodePlace::kHost;
    node.why = "with --convolutions host";
  }
  if (node.sum_columns != 0 && !node.computed && takes_less_by_sums(node, geometry_.n)) {
    node.place = NodePlace::kSums;
    node.why = "its weights have a zero point";
  }
  if (node.place == NodePlace::kSums && !options_.convolutions &&
      is_quantized_convolution(proto(index))) {
    node.place = NodePlace::kHost;
    node.why = "with --convolutions host";
  }
  if (node.place == NodePlace::kLayer) {
    add_layer(index, std::move(node));
  } else {
    add_on_host(index, node);
  }
}

void Planner::add_on_host(int index, const QuantizedNode& node) {
  if (node.place == NodePlace::kHost) plan_.on_host[index] = node.why;
  Value value = host_value(proto(index));
  if (node.place == NodePlace::kSums) {
    plan_.sums[index] = node.why;
    value.behind_layer = true;
  }
  if ((is_view(proto(index)) || node.place == NodePlace::kView) && proto(index).input_size() != 0) {
    const auto found = values_.find(proto(index).input(0));
    if (found != values_.end()) value = found->second;
  }
  const bool keeps_bytes = !value.root.empty();
  for (const std::string& output : proto(index).output()) {
    if (!keeps_bytes) value.root = output;
    values_[output] = value;
  }
}

/// The depth with which each layer is sorted. With a tensor memory the only reader of a pool
/// follows it, since the pool's results take space until then; but not where it also waits for
/// another part of a concatenation.
std::vector<std::size_t> Planner::depths_in_order() const {
  std::vector<std::size_t> depths, readers(layers_.size());
  for (const Placed& placed : layers_) {
    depths.push_back(placed.depth);
    if (placed.layer.source) ++readers[*placed.layer.source];
    if (placed.layer.operand) ++readers[*placed.layer.operand];
  }
  for (std::size_t i = 0; i < depths.size() && geometry_.tensor_memory; ++i) {
    const DeviceLayer& layer = layers_[i].layer;
    if (!layer.source || layer.operand || layer.rows || readers[*layer.source] != 1) continue;
    const Placed& pool = layers_[*layer.source];
    const bool waits =
        pool.layer.part && std::any_of(layers_.begin(), layers_.end(), [&](const Placed& other) {
          return other.layer.part && other.layer.gives() == pool.layer.gives() &&
                 other.depth >= pool.depth && !is_window_pool(other.layer);
        });
    if (is_window_pool(pool.layer) && !waits && pool.level == layers_[i].level) {
      depths[i] = pool.depth;
    }
  }
  return depths;
}

std::vector<DeviceProgram> Planner::programs() {
  std::vector<std::size_t> order(layers_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  // What gives the next layer's second operand comes first, so that it is stored when that is asked
  // for. What gives a later one's comes last, so that what the others of its depth give is stored
  // when it is read. A pool comes before parallel layers: it waits until the array is empty, as
  // what stands at a depth's beginning does anyway.
  enum Turn { kFirst, kPool, kAny, kLast };
  std::vector<Turn> turn(layers_.size(), kAny);
  for (std::size_t i = 0; i < turn.size(); ++i) {
    if (is_window_pool(layers_[i].layer)) turn[i] = kPool;
  }
  for (const Placed& placed : layers_) {
    if (!placed.layer.operand) continue;
    const Placed& giver = layers_[*placed.layer.operand];
    Turn& operand = turn[*placed.layer.operand];
    const bool next = placed.depth <= giver.depth + 1;
    operand = next || operand == kFirst ? kFirst : kLast;
    for (std::size_t i = 0; i < layers_.size() && giver.layer.rows; ++i) {
      if (layers_[i].layer.gives() == giver.layer.gives()) turn[i] = operand;
    }
  }
  const std::vector<std::size_t> depths = depths_in_order();
  for (std::size_t i = 0; i < turn.size(); ++i) {
    if (depths[i] != layers_[i].depth) turn[i] = kPool;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(layers_[a].level, depths[a], turn[a]) <
           std::tuple(layers_[b].level, depths[b], turn[b]);
  });
  std::vector<DeviceProgram> programs;
  std::vector<std::size_t> place(layers_.size());  // of each layer in its program
  std::map<int, std::size_t> last_part;            // of each concatenation, its last part's place
  // The layer whose results are all there when a layer's are, those of parallel layers as well.
  const auto place_of = [&](std::size_t layer) {
    const auto& part = layers_[layer].layer.part;
    return part || layers_[layer].layer.rows ? last_part.at(layers_[layer].layer.gives())
                                             : place[layer];
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    Placed& placed = layers_[order[i]];
    if (i == 0 || placed.level != layers_[order[i - 1]].level) programs.emplace_back();
    DeviceProgram& program = programs.back();
    place[order[i]] = program.layers.size();
    if (placed.layer.part || placed.layer.rows) {
      last_part[placed.layer.gives()] = program.layers.size();
    }
    if (placed.read && placed.node.type == onnx::TensorProto::UINT8) {
      placed.layer.job = make(placed);  // int8 after all
    }
    if (placed.layer.part || placed.layer.rows) placed.layer.job.map = placed.layer.gives();
    if (placed.layer.source) {
      placed.layer.source = place_of(*placed.layer.source);
      placed.layer.job.source = placed.layer.source;
    }
    placed.layer.job.ready = !placed.layer.source;
    placed.layer.job.internal = is_internal(placed);
    if (placed.layer.operand) {
      placed.layer.operand = place_of(*placed.layer.operand);
      placed.layer.job.operand = placed.layer.operand;
    }
    if (placed.layer.job.plan.results().code() == ResultCode::kInt8) {
      placed.layer.result.zero += move_to_int8(placed.node.type);
    }
    program.layers.push_back(placed.layer);
  }
  return programs;
}

/// Notes why the host has a node that the element-wise unit might have had; false.
bool Planner::leave(int index, std::string why) {
  left_[index] = std::move(why);
  return false;
}

/// Finds the nodes of the host that stand between programs.
void Planner::find_between() {
  std::set<std::string> wanted;  // by layers, through nodes of the host
  for (const Placed& placed : layers_) {
    if (!placed.layer.source) wanted.insert(placed.layer.input_value);
    if (!placed.layer.operand) wanted.insert(placed.layer.second);
    wanted.insert(placed.layer.weights_value);
  }
  for (const auto& [node, why] : plan_.sums) {
    wanted.insert(proto(node).input().begin(), proto(node).input().end());
  }
  for (int i = model_.graph().node_size() - 1; i >= 0; --i) {
    const onnx::NodeProto& node = proto(i);
    const bool is_wanted = std::any_of(
        node.output().begin(), node.output().end(),
        [&wanted](const std::string& name) { return !name.empty() && wanted.count(name) != 0; });
    const bool of_layer =
        std::any_of(node.output().begin(), node.output().end(),
                    [this](const std::string& name) { return value_of(name).layer.has_value(); });
    if (!is_wanted || of_layer || done_.count(i) != 0 || !host_value(node).behind_layer) continue;
    wanted.insert(node.input().begin(), node.input().end());
    if (is_view(node) || plan_.on_host.count(i) != 0 || plan_.sums.count(i) != 0) continue;
    const auto left = left_.find(i);
    plan_.between[i] = left == left_.end() ? "the device has no such operation" : left->second;
  }
}

/// Finds the programs that wait for the nodes between them.
void Planner::find_splits() {
  std::map<std::string, int> makers;
  for (int i = 0; i < model_.graph().node_size(); ++i) {
    for (const std::string& name : proto(i).output()) makers[name] = i;
  }
  for (std::size_t p = 0; p < plan_.programs.size(); ++p) {
    std::vector<std::string> names;  // whose makers have not been looked at
    for (const DeviceLayer& layer : plan_.programs[p].layers) {
      if (!layer.source) names.push_back(layer.input_value);
      if (!layer.operand) names.push_back(layer.second);
      names.push_back(layer.weights_value);
    }
    std::set<int> seen;
    while (!names.empty()) {
      const std::string name = names.back();
      names.pop_back();
      const auto maker = makers.find(name);
      if (maker == makers.end() || value_of(name).layer || !seen.insert(maker->second).second) {
        continue;
      }
      if (plan_.between.count(maker->second) != 0) plan_.splits[maker->second].push_back(p + 1);
      names.insert(names.end(), proto(maker->second).input().begin(),
                   proto(maker->second).input().end());
    }
  }
}

DevicePlan Planner::run() {
  for (int i = 0; i < model_.graph().node_size(); ++i) add_node(i);
  find_between();
  lay_strips();
  share_tiles();
  plan_.programs = programs();
  find_splits();
  return std::move(plan_);
}

}  // namespace gemm64
