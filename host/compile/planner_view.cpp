// SPDX-License-Identifier: Apache-2.0
// Slices of channels, and Gathers: their input is read in place, with weights of zero for
// the channels of others. Where that does not do, the array copies them to lanes of their own.
#include <algorithm>
#include <numeric>
#include <utility>

#include "host/compile/planner.hpp"
#include "host/compile/slice_node.hpp"
#include "host/util/divide.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

/// The map that a layer's value is.
Convolution Planner::map_of(const Value& value) const {
  Convolution map = results_map(layers_[*value.layer]);
  if (!value.view.empty()) map.channels = static_cast<std::uint32_t>(value.view.size());
  return map;
}

/// A Slice or a Gather of the channels that a layer gives moves nothing.
bool Planner::add_view(int index) {
  if (proto(index).input_size() == 0) return false;
  const Value value = value_of(proto(index).input(0));
  if (!value.layer || value.root != proto(index).input(0)) return false;
  auto channels = read_slice(nodes_, index);
  const auto type = model_.type(proto(index).input(0));
  if (!channels || type->dims[1] != map_of(value).channels) return false;
  if (!layers_[*value.layer].map && type->dims.size() != 2) return false;
  Value view = value;
  view.root = proto(index).output(0);
  view.slice = index;
  for (std::uint32_t& channel : *channels) {
    if (!value.view.empty()) channel = value.view[channel];
  }
  view.view = *std::move(channels);
  values_[view.root] = std::move(view);
  return true;
}

/// Sets where a layer finds the channels of its input, `given` or for a copy some of these, and how
/// many columns it reads: all tiles that have some of them.
void Planner::set_columns(Placed& placed, const Value& given,
                          const std::vector<std::uint32_t>& channels) const {
  DeviceLayer& layer = placed.layer;
  layer.source_order = order_of(*given.layer);
  layer.input_order = layer.source_order;
  const std::uint32_t all = results_map(layers_[*given.layer]).channels;
  const std::uint32_t columns = columns_of(*given.layer);
  if (!channels.empty()) {
    set_columns(placed, channels, columns);
  } else if (columns != all) {
    set_gaps(placed, all, columns);
  }
}

/// Lets a layer read all columns of a concatenation, some of which hold no channel. A pool has
/// these among its own results.
void Planner::set_gaps(Placed& placed, std::uint32_t channels, std::uint32_t columns) {
  QuantizedNode& node = placed.node;
  if (node.convolution) node.convolution->channels = columns;
  if (placed.layer.is_pool()) {
    placed.layer.channels = channels;
    node.convolution->out_channels = node.convolution->groups = columns;
    node.shape.n = columns;
  } else {
    node.shape.k = (node.convolution ? node.convolution->taps() : 1) * std::uint64_t{columns};
    placed.layer.view.resize(channels);
    std::iota(placed.layer.view.begin(), placed.layer.view.end(), 0U);
  }
}

/// The same of a map of `all` channels.
void Planner::set_columns(Placed& placed, const std::vector<std::uint32_t>& channels,
                          std::uint32_t all) const {
  DeviceLayer& layer = placed.layer;
  ChannelOrder places;
  for (const std::uint32_t channel : channels) {
    places.push_back(place_in(layer.source_order, channel));
  }
  const auto [least, most] = std::minmax_element(places.begin(), places.end());
  layer.source_tile = *least / geometry_.n;
  const std::uint32_t first = layer.source_tile * geometry_.n;
  const auto tiles = static_cast<std::uint32_t>(divide_up(*most + 1 - first, geometry_.n));
  const std::uint32_t columns = std::min(tiles * geometry_.n, all - first);
  for (std::uint32_t& place : places) place -= first;
  layer.input_order = normalized(std::move(places));
  std::uint64_t taps = 1;
  if (auto& convolution = placed.node.convolution) {
    convolution->channels = columns;
    taps = convolution->taps();
  }
  placed.node.shape.k = taps * columns;
}

/// Copies a view to lanes of its own, for those that cannot read it in place; false where none
/// can.
bool Planner::materialize(const std::string& name) {
  const Value value = value_of(name);
  if (value.view.empty()) return true;
  if (value.root != name) return false;
  std::optional<Placed> copy = copy_of(value.slice, name, true);
  if (!copy) return false;
  // Its node is the Slice, which reads what that reads.
  copy->layer.input_value = proto(value.slice).input(0);
  copy->layer.view = value_of(copy->layer.input_value).view;
  return push_copy(*std::move(copy));
}

}  // namespace gemm64
