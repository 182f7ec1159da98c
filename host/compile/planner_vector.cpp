// SPDX-License-Identifier: Apache-2.0
// What becomes of a layer's results on the way to memory: tables, second operands, and where in a
// concatenation they are written. What cannot join the layer that gives a value becomes a layer of
// its own: the lanes copy it, as the largest value under a window of one, or where it goes to other
// lanes, the array does, as a product with ones on the diagonal.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "host/compile/planner.hpp"
#include "host/compile/resize_node.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/proto/attribute.hpp"
#include "host/util/divide.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

/// Does only one node read the value?
bool Planner::is_alone(const std::string& name) const {
  const auto found = readers_.find(name);
  return found != readers_.end() && found->second.size() == 1;
}

/// A layer that gives a value again, in the name of node `index`, in other lanes where it is
/// `shifted`; nothing where none can. Its job is not made yet.
std::optional<Planner::Placed> Planner::copy_of(int index, const std::string& name,
                                                bool shifted) const {
  const Value value = value_of(name);
  if (!options_.lanes || !value.layer || value.root != name) return std::nullopt;
  shifted = shifted || !value.view.empty();
  const Placed& from = layers_[*value.layer];
  Placed copy;
  copy.layer.node = index;
  copy.layer.input_value = name;
  copy.layer.identity = shifted;
  copy.layer.sum = copy.node.sum = shifted ? LaneSum::kProducts : LaneSum::kMaximum;
  copy.layer.source = value.layer;
  copy.layer.input = copy.layer.result = from.layer.result;
  copy.layer.view = value.view;
  copy.layer.input.zero += move_to_int8(from.node.type);
  Convolution map = map_of(value);
  map.out_channels = map.channels;
  map.groups = shifted ? 1 : map.channels;
  map.out_height = map.height;
  map.out_width = map.width;
  map.zero = std::numeric_limits<std::int8_t>::min();  // nothing is less
  copy.node.place = NodePlace::kLayer;
  copy.node.type = from.node.type;
  copy.node.result.zero = -move_to_int8(from.node.type);
  copy.node.convolution = map;
  copy.node.shape = {map.out_pixels(), shifted ? map.channels : 0, map.channels};
  set_columns(copy, value, value.view);
  copy.layer.convolution = copy.node.convolution;
  if (!shifted) copy.layer.result_order = copy.layer.input_order;
  copy.level = from.level;
  copy.depth = from.depth + 1;
  copy.map = from.map;
  return copy;
}

/// The layer's results pass a table, and then have other steps.
void Planner::set_table(Placed& placed, std::vector<std::uint8_t> table,
                        const Quantization& result) {
  placed.vector = StoreCommand{};
  placed.vector->table = 1;
  placed.layer.table = std::move(table);
  placed.layer.result = result;
}

/// A copy becomes a layer, whose last node gives its results; false where the lanes have no room.
bool Planner::push_copy(Placed copy) {
  try {
    copy.layer.job = make(copy);
  } catch (const UsageError&) {
    return false;
  }
  const std::string output = output_of(copy);
  push(std::move(copy), output);
  return true;
}

/// A function of the last layer's results, value by value, becomes its table.
void Planner::add_table(std::size_t number) {
  Placed placed = layers_[number];
  const auto function = read_table(nodes_, readers_, output_of(placed));
  if (!function) return;
  set_table(placed, function->table, function->result);
  placed.layer.fused = function->nodes;
  placed.layer.job = make(placed);
  done_.insert(function->nodes.begin(), function->nodes.end());
  const std::string& output = output_of(placed);
  values_[output] = {placed.level, number, true, output};
  layers_[number] = std::move(placed);
}

/// The same of results that others read as well: a layer of its own.
bool Planner::copy_through_table(int index) {
  const onnx::NodeProto& node = proto(index);
  const std::string name = node.input_size() == 0 ? "" : node.input(0);
  if (!value_of(name).layer) return false;
  const auto function = read_table(nodes_, readers_, name, true);
  if (!function || function->nodes.front() != index) return false;
  std::optional<Placed> copy = copy_of(index, name);
  if (!copy) return false;
  set_table(*copy, function->table, function->result);
  copy->layer.fused.assign(function->nodes.begin() + 1, function->nodes.end());
  if (!push_copy(*std::move(copy))) return false;
  done_.insert(function->nodes.begin(), function->nodes.end());
  return true;
}

/// A Resize that repeats pixels: a layer of its own.
bool Planner::enlarge(int index) {
  if (proto(index).op_type() != "Resize") return false;
  const std::string& name = proto(index).input(0);
  std::optional<Placed> copy = copy_of(index, name);
  if (!copy || !copy->map) return leave(index, "it does not read a map that a layer gave");
  const auto repeats = read_repeats(nodes_, index);
  if (!repeats) return leave(index, "it does more than repeat each pixel");
  if (copy->layer.identity) {  // the array copies a view, and repeats nothing
    if (!materialize(name)) return leave(index, "the lanes have no room for its rows");
    copy = copy_of(index, name);
  }
  Convolution& map = *copy->node.convolution;
  map.height = map.out_height = map.height * repeats->first;
  map.width = map.out_width = map.width * repeats->second;
  copy->layer.convolution = map;
  copy->layer.repeats = *repeats;
  copy->node.shape.m = map.out_pixels();
  if (!push_copy(*std::move(copy))) return leave(index, "the lanes have no room for its rows");
  add_table(layers_.size() - 1);
  return true;
}

/// A float function of each value and its channel: a layer of its own, a depthwise convolution with
/// windows of one.
bool Planner::scale_channels(int index) {
  if (proto(index).input_size() == 0) return false;
  const std::string& name = proto(index).input(0);
  const Value value = value_of(name);
  if (!value.layer || value.root != name || !value.view.empty()) return false;
  std::string why;
  auto function = read_channel_function(nodes_, readers_, index, why);
  if (!function) return why.empty() ? false : leave(index, why);
  const Placed& from = layers_[*value.layer];
  Placed placed;
  placed.layer.node = index;
  placed.layer.fused.assign(function->nodes.begin() + 1, function->nodes.end());
  placed.layer.input_value = name;
  placed.layer.source = value.layer;
  placed.layer.input = from.layer.result;
  placed.layer.input.zero += move_to_int8(from.node.type);
  placed.layer.result = placed.node.result = function->result;
  Convolution map = map_of(value);
  if (function->factors.weight.size() != map.channels) return false;
  map.out_channels = map.groups = map.channels;
  map.out_height = map.height;
  map.out_width = map.width;
  placed.node.place = NodePlace::kLayer;
  placed.node.type = function->type;
  placed.node.convolution = placed.layer.convolution = map;
  placed.node.shape = {map.out_pixels(), 1, map.channels};
  set_columns(placed, value, {});
  placed.layer.result_order = placed.layer.input_order;
  placed.layer.factors = in_order(function->factors, placed.layer.input_order);
  placed.level = from.level;
  placed.depth = from.depth + 1;
  placed.map = from.map;
  if (!push_copy(std::move(placed))) return leave(index, "the lanes have no room for its rows");
  done_.insert(function->nodes.begin(), function->nodes.end());
  add_table(layers_.size() - 1);
  return true;
}

/// Gives a layer's results a second operand, from another layer of the program, or from the host.
/// `own`: the layer's number, if it has one.
bool Planner::attach(int index, Placed& placed, std::optional<std::size_t> own,
                     const VectorNode& node, const std::string& second,
                     const StoreCommand& settings) {
  if (placed.node.type != node.type) return leave(index, "its operands are of two types");
  if (placed.takes_operand()) return leave(index, "its layer takes a second operand already");
  if (placed.layer.part) return leave(index, "its layer writes a part of a concatenation");
  // The channels of a map are axis 1, those of rows of a matrix the last axis.
  const auto full = model_.type(proto(index).input(node.a));
  if (node.stretched && full->dims.size() != 2 && placed.map == node.by_columns) {
    return leave(index, "one operand has values of an axis that is none of channels");
  }
  // Only the depthwise unit accepts values for each image.
  if (node.images != 1 && (!options_.lanes || (own && !placed.layer.job.plan.lanes))) {
    return leave(index,
                 "one operand has values for each image, which only the depthwise unit accepts");
  }
  const Value operand = value_of(second);
  const bool in_program = operand.layer && operand.level == placed.level && operand.root == second;
  Placed changed = placed;
  if (in_program) {
    const Placed& from = layers_[*operand.layer];
    const bool in_place =
        node.stretched ? from.node.shape.m == node.images : from.map == placed.map;
    if (operand.layer == own || !in_place ||
        order_of(*operand.layer) != placed.layer.result_order) {
      return leave(index, "its operands do not lie in one layout");
    }
    changed.depth = std::max(placed.depth, from.depth + 1);
    changed.layer.operand = operand.layer;
  } else if (operand.level + (operand.layer ? 1 : 0) > placed.level) {
    return leave(index, "its second operand is there only after the program of the first");
  }
  changed.vector = settings;
  changed.operand_images = node.images;
  changed.vector->table = placed.layer.table.empty() ? 0 : 1;
  changed.layer.second = second;
  changed.layer.second_quantization = second == proto(index).input(node.a) ? node.of_a : node.of_b;
  changed.layer.second_quantization.zero += move_to_int8(node.type);
  if (changed.layer.node != index) changed.layer.fused.push_back(index);
  changed.layer.result = node.result;
  changed.layer.job = make(changed);
  placed = std::move(changed);
  if (in_program) mark_read(*operand.layer);
  return true;
}

/// Can a node be part of the layer that gives its input `first`?
bool Planner::join(int index, const VectorNode& node, const std::string& first,
                   const std::string& second, const StoreCommand& settings) {
  const Value value = value_of(first);
  if (!value.layer || !is_alone(first)) return false;
  Placed& placed = layers_[*value.layer];
  if (output_of(placed) != first) return false;
  if (!attach(index, placed, value.layer, node, second, settings)) return false;
  const std::string& output = proto(index).output(0);
  values_[output] = {placed.level, value.layer, true, output};
  return true;
}

bool Planner::add_second_operand(int index, const VectorNode& node) {
  struct Way {
    std::string first, second;
    StoreCommand settings;
  };
  const std::string &a = proto(index).input(node.a), &b = proto(index).input(node.b);
  if (a == b) return leave(index, "both operands are one tensor");
  if (!materialize(a) || !materialize(b)) {
    return leave(index, "an operand is a Slice that cannot be copied");
  }
  std::vector<Way> ways = {{a, b, node.settings}};
  if (!node.stretched) {
    // The layer that comes later takes what the other one gave.
    const auto depth = [this](const std::string& name) {
      const Value value = value_of(name);
      return value.layer ? std::pair(value.level, layers_[*value.layer].depth + 1)
                         : std::pair(std::size_t{0}, std::size_t{0});
    };
    const bool later = depth(a) >= depth(b);
    ways.insert(later ? ways.end() : ways.begin(), {b, a, node.swapped()});
  }
  for (const Way& way : ways) {
    if (join(index, node, way.first, way.second, way.settings)) return true;
  }
  for (const Way& way : ways) {
    std::optional<Placed> copy = copy_of(index, way.first);
    // Where rows are added, as in a transformer, the host goes on with the sum.
    if (!copy || !copy->map) continue;
    try {
      if (!attach(index, *copy, std::nullopt, node, way.second, way.settings)) continue;
    } catch (const UsageError& error) {  // the lanes have no room
      leave(index, error.what());
      continue;
    }
    push(*std::move(copy), proto(index).output(0));
    return true;
  }
  return false;
}

/// The level of a concatenation: the last of those in which its inputs are there.
std::size_t Planner::level_of_concat(int index) const {
  std::size_t level = 0;
  for (int input = 2; input + 2 < proto(index).input_size(); input += 3) {
    level = std::max(level, value_of(proto(index).input(input)).level);
  }
  return level;
}

/// Does a layer of a level give an input of a concatenation?
bool Planner::has_part_of(int index, std::size_t level) const {
  for (int input = 2; input + 2 < proto(index).input_size(); input += 3) {
    const Value value = value_of(proto(index).input(input));
    if (value.layer && value.level == level) return true;
  }
  return false;
}

/// The first input of a concatenation that no layer gives; empty where layers give all.
std::string Planner::host_part_of(int index) const {
  for (int input = 2; input + 2 < proto(index).input_size(); input += 3) {
    const std::string& name = proto(index).input(input);
    if (!value_of(name).layer) return name;
  }
  return "";
}

/// Returns whether a node reads the value where it is stored, if a layer gives it. Averages are
/// left out: whether their sums are exact is known only once they are planned.
bool Planner::is_read_on_device(const std::string& name) const {
  const auto reads = [this](int reader) {
    if (reader >= model_.graph().node_size()) return false;  // an output of the graph
    const std::string by = operator_name(proto(reader));
    if (by == "MaxPool" || by == "com.microsoft.QLinearConcat") return true;
    if (by == "QLinearConv" || by == "QLinearMatMul" || by == "com.microsoft.QGemm") {
      const QuantizedNode node = read_quantized_node(model_, reader);
      // The host lays out what meets weights with a zero point.
      return node.place == NodePlace::kLayer && node.sum_columns == 0;
    }
    std::string why;
    return read_channel_function(nodes_, readers_, reader, why).has_value();
  };
  const auto readers = readers_.find(name);
  return readers != readers_.end() &&
         std::any_of(readers->second.begin(), readers->second.end(), reads);
}

/// An input of a concatenation that the host gives, or a program before: what is copied to its
/// lanes.
std::optional<Planner::ConcatInput> Planner::given_input(int index, int input,
                                                         std::size_t level) const {
  const std::string& name = proto(index).input(input);
  const Value value = value_of(name);
  const auto type = model_.type(name);
  if (!type || (value.layer && (value.root != name || !value.view.empty()))) return std::nullopt;
  ConcatInput result;
  result.input = input;
  try {
    result.table = concat_table(nodes_, index, input);
  } catch (const UsageError&) {  // where it runs, the host will tell of it
    return std::nullopt;
  }
  const Placed copy = copy_of_given(index, input, level, false);
  const std::uint64_t tiles = divide_up(copy.node.shape.n, geometry_.n);
  result.cost.channels = copy.node.shape.n;
  result.cost.tile_cycles = tiles * copy.node.shape.m;
  result.cost.shifted_cycles = tiles * result.cost.tile_cycles;
  return result;
}

/// A layer that gives such an input again, as copy_of().
Planner::Placed Planner::copy_of_given(int index, int input, std::size_t level,
                                       bool shifted) const {
  const onnx::NodeProto& node = proto(index);
  const TensorType type = model_.type(node.input(input)).value();
  const NodeContext context{&node, node_label(node, index), model_.opset()};
  const auto size = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  Placed copy;
  copy.node.type = static_cast<DataType>(type.data_type);
  copy.layer.node = index;
  copy.layer.input_value = node.input(input);
  copy.layer.identity = shifted;
  copy.layer.sum = copy.node.sum = shifted ? LaneSum::kProducts : LaneSum::kMaximum;
  copy.layer.input =
      constant_quantization(model_, context, input + 1, copy.node.type).value_or(Quantization{});
  copy.layer.input.zero += move_to_int8(copy.node.type);
  Convolution map;
  map.images = size(type.dims[0]);
  map.channels = map.out_channels = size(type.dims[1]);
  if (type.dims.size() > 2) map.width = size(type.dims.back());
  if (type.dims.size() > 3) map.height = size(type.dims[2]);
  map.groups = shifted ? 1 : map.channels;
  map.out_height = map.height;
  map.out_width = map.width;
  map.zero = std::numeric_limits<std::int8_t>::min();  // nothing is less
  copy.node.place = NodePlace::kLayer;
  copy.node.result.zero = -move_to_int8(copy.node.type);
  copy.node.convolution = copy.layer.convolution = map;
  copy.node.shape = {map.out_pixels(), shifted ? map.channels : 0, map.channels};
  copy.level = level;
  copy.map = type.dims.size() > 2;
  return copy;
}

/// What an input of a concatenation is for the planner; nothing where the host has to join it.
std::optional<Planner::ConcatInput> Planner::concat_input(int index, int input) const {
  const std::string& name = proto(index).input(input);
  const Value value = value_of(name);
  if (!value.layer || value.root != name) return std::nullopt;
  const Placed& from = layers_[*value.layer];
  ConcatInput result;
  result.input = input;
  result.layer = value.layer;
  try {
    result.table = concat_table(nodes_, index, input);
  } catch (const UsageError&) {  // where it runs, the host will tell of it
    return std::nullopt;
  }
  const Plan& plan = from.layer.job.plan;
  const bool one_group = !plan.convolution() || plan.convolution()->groups == 1;
  result.joins = is_alone(name) && output_of(from) == name && !from.layer.part &&
                 (result.table.empty() || !from.vector);
  result.joins_shifted = result.joins && !from.takes_operand() && !plan.lanes && one_group &&
                         from.layer.result_order.empty();
  // A copy that shifts is a product with ones on the diagonal.
  const Convolution map = map_of(value);
  const std::uint64_t rows = plan.shape.m, tiles = divide_up(map.channels, geometry_.n);
  result.cost.channels = map.channels;
  result.cost.tile_cycles = result.joins_shifted ? plan.k_tiles * rows : tiles * rows;
  if (!result.joins_shifted) result.cost.shifted_cycles = tiles * tiles * rows;
  return result;
}

/// A QLinearConcat of channels: each layer that gives one of its inputs writes it where the
/// concatenation has it.
bool Planner::add_concat(int index) {
  const onnx::NodeProto& node = proto(index);
  if (operator_name(node) != "com.microsoft.QLinearConcat") return false;
  const auto whole = model_.type(node.output(0));
  const std::int64_t axis = attribute(node, "axis", std::int64_t{1});
  if (!whole || whole->dims.size() < 2) return leave(index, "its shape is not known");
  if (axis != 1 && axis + static_cast<std::int64_t>(whole->dims.size()) != 1) {
    return leave(index, "it does not concatenate channels");
  }
  const NodeContext context{&node, node_label(node, index), model_.opset()};
  const auto type = static_cast<DataType>(whole->data_type);
  const auto result = constant_quantization(model_, context, 0, type);
  if (!result) return leave(index, "its scale depends on the input");

  std::vector<ConcatInput> inputs;
  std::vector<PartCost> costs;
  const bool is_map = whole->dims.size() != 2;
  const std::size_t level = level_of_concat(index);
  // What the host gives of it is copied, if that keeps what reads it in the program of a part.
  const bool copies =
      options_.lanes && has_part_of(index, level) && is_read_on_device(node.output(0));
  for (int input = 2; input + 2 < node.input_size(); input += 3) {
    const std::string& name = node.input(input);
    const Value value = value_of(name);
    const bool of_program = value.layer && value.level == level;
    auto one = of_program ? concat_input(index, input) : std::nullopt;
    if (!of_program && copies) one = given_input(index, input, level);
    if (!one) {
      const std::string missing = of_program ? name : host_part_of(index);
      return leave(index, missing.empty() ? "its inputs are those of two programs"
                                          : missing + " is not what a layer gives");
    }
    const auto given = model_.type(name);
    const bool other_layout = of_program && layers_[*one->layer].map != is_map;
    if (other_layout && !layers_[*one->layer].map) {
      return leave(index, "it does not concatenate channels");
    }
    if (other_layout || given->data_type != type) {
      return leave(index, "its inputs do not lie in one layout");
    }
    costs.push_back(one->cost);
    inputs.push_back(*std::move(one));
  }
  if (inputs.empty()) return false;
  const bool any_order = takes_any_order(model_, readers_, node.output(0));
  std::vector<std::uint64_t> places = place_parts(costs, geometry_.n, any_order);

  struct Part {
    Placed placed;
    std::optional<std::size_t> number;  // of the layer that it is; else it is a new one
  };
  std::vector<Part> parts;
  ConcatPart at;
  at.node = index;
  at.channels = at.columns = static_cast<std::uint64_t>(whole->dims[1]);
  const auto is_shifted = [this](std::uint64_t place) { return place % geometry_.n != 0; };
  if (options_.whole_parts && std::any_of(places.begin(), places.end(), is_shifted) &&
      takes_gaps(model_, readers_, node.output(0))) {
    places = place_in_tiles(costs, geometry_.n);
    at.columns = places.back() + divide_up(costs.back().channels, geometry_.n) * geometry_.n;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ConcatInput& input = inputs[i];
    at.input = input.input;
    at.place = places[i];
    const bool shifts = at.place % geometry_.n != 0;
    Part part;
    if (shifts ? input.joins_shifted : input.joins) {
      part = {layers_[*input.layer], input.layer};
    } else if (!input.layer) {
      part.placed = copy_of_given(index, input.input, level, shifts);
    } else {
      std::optional<Placed> copy = copy_of(index, node.input(input.input), shifts);
      if (!copy) return leave(index, node.input(input.input) + " cannot be copied to its lanes");
      part.placed = *std::move(copy);
    }
    part.placed.layer.part = at;
    part.placed.layer.result = *result;
    if (!input.table.empty()) set_table(part.placed, std::move(input.table), *result);
    try {
      part.placed.layer.job = make(part.placed);
    } catch (const UsageError& error) {
      return leave(index, error.what());
    }
    at.first += part.placed.node.shape.n;
    parts.push_back(std::move(part));
  }
  std::size_t last = parts[0].number.value_or(layers_.size());
  for (Part& part : parts) {
    if (!part.number) {
      part.number = append(std::move(part.placed));
    } else {
      layers_[*part.number] = std::move(part.placed);
    }
    if (layers_[*part.number].depth > layers_[last].depth) last = *part.number;
  }
  values_[node.output(0)] = {layers_[last].level, last, true, node.output(0)};
  return true;
}

bool Planner::add_vector(int index) {
  std::string why;
  const auto node = read_vector_node(model_, index, geometry_, why);
  if (!why.empty()) leave(index, why);
  if (node && add_second_operand(index, *node)) return true;
  return add_concat(index) || copy_through_table(index) || enlarge(index) || scale_channels(index);
}

}  // namespace gemm64
