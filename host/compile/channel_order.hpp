// SPDX-License-Identifier: Apache-2.0
// Where the channels of a tensor lie. Parts of a concatenation may lie in another order than the
// file has them, so that fewer of them begin between two tiles; what reads it has its weights in
// that order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/compile/table_node.hpp"
#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// The position of each channel among all lanes; empty where channel i is at i.
using ChannelOrder = std::vector<std::uint32_t>;

/// The position of a channel.
inline std::uint32_t place_in(const ChannelOrder& order, std::int64_t channel) {
  return order.empty() ? static_cast<std::uint32_t>(channel)
                       : order[static_cast<std::size_t>(channel)];
}

/// The same order; empty if it is 0, 1, 2 ...
ChannelOrder normalized(ChannelOrder order);

/// A part of a concatenation, and what its place costs.
struct PartCost {
  std::uint64_t channels = 0;
  std::uint64_t tile_cycles = 0;  // for each tile of lanes that its channels fall on
  /// Cycles more if it does not begin with a tile.
  std::uint64_t shifted_cycles = 0;
};

/// The first place of each part, on an array of `n` columns: parts follow each other without a gap,
/// in the given order, or in `any_order` that costs least if one costs less.
std::vector<std::uint64_t> place_parts(const std::vector<PartCost>& parts, std::uint32_t n,
                                       bool any_order);

/// Returns the same if each part begins with a tile; what is between two parts holds no channel.
std::vector<std::uint64_t> place_in_tiles(const std::vector<PartCost>& parts, std::uint32_t n);

/// Returns whether all nodes that read a value, or a pool of it, have weights for each channel, so
/// that columns between its channels meet zeros.
bool takes_gaps(const OnnxModel& model, const Readers& readers, const std::string& value);

/// May the channels of a value lie in any order? Where layers that read it, or what is made of it
/// value by value, have weights for each channel; not where it meets another tensor, or where
/// channels come in groups.
bool takes_any_order(const OnnxModel& model, const Readers& readers, const std::string& value);

}  // namespace gemm64
