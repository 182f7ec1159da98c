// SPDX-License-Identifier: Apache-2.0
#include "host/compile/channel_order.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "host/graph/onnx/supported.hpp"
#include "host/graph/proto/attribute.hpp"
#include "host/util/divide.hpp"

namespace gemm64 {
namespace {

// Of more parts than this not all orders are tried.
constexpr std::size_t kMostParts = 7;

std::uint64_t cost_at(const PartCost& part, std::uint64_t place, std::uint32_t n) {
  const std::uint64_t lane = place % n;
  return divide_up(lane + part.channels, n) * part.tile_cycles +
         (lane == 0 ? 0 : part.shifted_cycles);
}

std::uint64_t cost_of(const std::vector<PartCost>& parts, const std::vector<std::size_t>& order,
                      std::uint32_t n) {
  std::uint64_t cost = 0, place = 0;
  for (const std::size_t part : order) {
    cost += cost_at(parts[part], place, n);
    place += parts[part].channels;
  }
  return cost;
}

/// Does a node that reads a value keep it from lying in another order?
bool needs_its_order(const onnx::NodeProto& node) {
  const std::string name = operator_name(node);
  if (name == "com.microsoft.QLinearAdd" || name == "com.microsoft.QLinearMul") return true;
  return name == "QLinearConv" && attribute(node, "group", std::int64_t{1}) != 1;
}

/// Are the results of a node made of all channels of a value?
bool mixes_channels(const onnx::NodeProto& node) {
  static const std::set<std::string> kNames = {
      "QLinearConv", "QLinearMatMul", "com.microsoft.QGemm", "com.microsoft.QLinearConcat"};
  return kNames.count(operator_name(node)) != 0;
}

}  // namespace

ChannelOrder normalized(ChannelOrder order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != i) return order;
  }
  return {};
}

std::vector<std::uint64_t> place_parts(const std::vector<PartCost>& parts, std::uint32_t n,
                                       bool any_order) {
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::size_t> best = order;
  if (any_order && parts.size() <= kMostParts) {
    std::uint64_t least = cost_of(parts, best, n);
    while (std::next_permutation(order.begin(), order.end())) {
      const std::uint64_t cost = cost_of(parts, order, n);
      if (cost >= least) continue;
      least = cost;
      best = order;
    }
  }
  std::vector<std::uint64_t> places(parts.size());
  std::uint64_t place = 0;
  for (const std::size_t part : best) {
    places[part] = place;
    place += parts[part].channels;
  }
  return places;
}

std::vector<std::uint64_t> place_in_tiles(const std::vector<PartCost>& parts, std::uint32_t n) {
  std::vector<std::uint64_t> places;
  std::uint64_t place = 0;
  for (const PartCost& part : parts) {
    places.push_back(place);
    place += divide_up(part.channels, n) * n;
  }
  return places;
}

bool takes_gaps(const OnnxModel& model, const Readers& readers, const std::string& value) {
  static const std::set<std::string> kKeepChannels = {"MaxPool", "Flatten",
                                                      "com.microsoft.QLinearAveragePool",
                                                      "com.microsoft.QLinearGlobalAveragePool"};
  const auto found = readers.find(value);
  if (found == readers.end()) return false;
  return std::all_of(found->second.begin(), found->second.end(), [&](int reader) {
    if (reader == model.graph().node_size()) return false;  // an output of the graph
    const onnx::NodeProto& node = model.graph().node(reader);
    const std::string name = operator_name(node);
    if (kKeepChannels.count(name) != 0) return takes_gaps(model, readers, node.output(0));
    return mixes_channels(node) && name != "com.microsoft.QLinearConcat" && !needs_its_order(node);
  });
}

bool takes_any_order(const OnnxModel& model, const Readers& readers, const std::string& value) {
  std::set<std::string> seen;
  std::vector<std::string> left = {value};
  while (!left.empty()) {
    const std::string name = left.back();
    left.pop_back();
    const auto found = readers.find(name);
    if (!seen.insert(name).second || found == readers.end()) continue;
    for (const int reader : found->second) {
      if (reader == model.graph().node_size()) continue;  // an output, which the host puts in order
      const onnx::NodeProto& node = model.graph().node(reader);
      if (needs_its_order(node)) return false;
      if (mixes_channels(node)) continue;
      left.insert(left.end(), node.output().begin(), node.output().end());
    }
  }
  return true;
}

}  // namespace gemm64
