// SPDX-License-Identifier: Apache-2.0
// The first layers of a network of few channels: large maps that fill a part of each word. In
// parallel strips their words are full, and tiles and lanes do more at a time.
#include <algorithm>
#include <numeric>
#include <utility>

#include "host/compile/planner.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::uint32_t kMostStrips = 8;
constexpr std::uint64_t kBetweenLayers = 150;  // cycles that it takes to go on to another one

bool is_pointwise(const Convolution& c) {
  return c.groups == 1 && c.taps() == 1 && c.stride_height == 1 && c.stride_width == 1 &&
         c.out_height == c.height && c.out_width == c.width;
}

/// Cycles in which the array or the lanes work.
std::uint64_t cycles_of(const Plan& plan) {
  if (plan.lanes) return kBetweenLayers + plan.lanes->cycles();
  return kBetweenLayers + array_cycles(plan);
}

}  // namespace

/// Is a layer one of those of a chain: a map of one image, nothing read that is not of the chain?
bool Planner::may_have_strips(const Placed& placed, const std::vector<std::size_t>& chain) const {
  const DeviceLayer& layer = placed.layer;
  const auto& map = placed.node.convolution;
  if (!map || !placed.map || map->images != 1) return false;
  if (placed.takes_operand() &&
      (!layer.operand || std::find(chain.begin(), chain.end(), *layer.operand) == chain.end())) {
    return false;
  }
  if (layer.part || layer.is_pool() || layer.identity || layer.factors || layer.sum_columns != 0) {
    return false;
  }
  if (!layer.view.empty()) return false;
  if (layer.packed) return true;
  const auto& lanes = layer.job.plan.lanes;
  return lanes ? !lanes->transposed && !lanes->in_strips() : is_pointwise(*map);
}

/// The layer that goes on with a chain: one that reads the last one's results as its activations,
/// if it may have strips.
std::optional<std::size_t> Planner::next_of(
    const std::vector<std::size_t>& chain,
    const std::vector<std::vector<std::size_t>>& readers) const {
  std::optional<std::size_t> next;
  for (const std::size_t reader : readers[chain.back()]) {
    if (layers_[reader].layer.source != chain.back()) continue;
    next = reader;
  }
  return next && may_have_strips(layers_[*next], chain) ? next : std::nullopt;
}

/// The first layers of a chain with strips, then in place of the last one a layer for each strip.
/// Throws UsageError where one cannot be made.
std::vector<Planner::Placed> Planner::with_strips(const std::vector<std::size_t>& chain,
                                                  const std::vector<Strips>& strips) const {
  std::vector<Placed> made;
  const std::uint32_t count = strips[0].count;
  const auto place = [&chain](std::size_t layer) {
    return static_cast<std::size_t>(std::find(chain.begin(), chain.end(), layer) - chain.begin());
  };
  if (layers_[chain[strips.size()]].takes_operand()) throw UsageError("its operand is in strips");
  for (std::size_t i = 0; i < strips.size(); ++i) {
    Placed placed = layers_[chain[i]];
    Convolution& map = *placed.node.convolution;
    placed.layer.strips = strips[i];
    if (i != 0) {
      placed.layer.source_strips = strips[i - 1];
      map.height = strips[i - 1].rows;
      map.out_height = strips[i].rows;
      map.channels *= count;
      map.out_channels *= count;
      if (map.groups != 1) map.groups *= count;
      placed.layer.convolution = map;
    }
    if (const auto& operand = placed.layer.operand) {
      const Strips& given = strips.at(place(*operand));
      if (given.step != strips[i].step || given.rows != strips[i].rows) {
        throw UsageError("the strips of its operand have other rows");
      }
    }
    GemmShape& shape = placed.node.shape;
    shape.m = std::uint64_t{strips[i].rows} * map.out_width;
    shape.n *= count;
    if (map.groups == 1) shape.k *= count;
    placed.layer.job = make(placed);
    made.push_back(std::move(placed));
  }
  const Strips& last = strips.back();
  for (std::uint32_t i = 0; i < count; ++i) {
    Placed placed = layers_[chain[strips.size()]];
    Convolution& map = *placed.node.convolution;
    const std::uint32_t channels = map.channels;
    placed.layer.source_strips = last;
    placed.layer.rows = {i, last.first_row(i), last.first_row(i + 1)};
    map.height = map.out_height = placed.layer.rows->end - placed.layer.rows->first;
    placed.node.shape.m = std::uint64_t{map.out_height} * map.out_width;
    placed.layer.view.resize(channels);
    std::iota(placed.layer.view.begin(), placed.layer.view.end(), i * channels);
    set_columns(placed, placed.layer.view, count * channels);
    placed.layer.convolution = map;
    placed.layer.job = make(placed);
    if (placed.layer.job.plan.n_tiles != 1 || placed.layer.job.plan.window->in_strips()) {
      throw UsageError("its rows do not lie one after the other");
    }
    made.push_back(std::move(placed));
  }
  return made;
}

/// Chains that begin with a layer whose windows the host lays out get strips where these take fewer
/// cycles. The last layer of a chain gives the map as it was.
void Planner::lay_strips() {
  std::vector<std::vector<std::size_t>> readers(layers_.size());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const DeviceLayer& layer = layers_[i].layer;
    if (layer.source) readers[*layer.source].push_back(i);
    if (layer.operand) readers[*layer.operand].push_back(i);
  }
  const std::size_t layers = layers_.size();
  for (std::size_t first = 0; first < layers; ++first) {
    if (!layers_[first].layer.packed || !may_have_strips(layers_[first], {})) continue;
    std::vector<std::size_t> chain = {first};
    std::vector<Convolution> maps = {*layers_[first].node.convolution};
    std::vector<std::uint64_t> cycles = {cycles_of(layers_[first].layer.job.plan)};
    while (const auto next = next_of(chain, readers)) {
      chain.push_back(*next);
      maps.push_back(*layers_[*next].node.convolution);
      cycles.push_back(cycles.back() + cycles_of(layers_[*next].layer.job.plan));
    }
    std::vector<Placed> best;
    std::int64_t saved = 0;
    for (std::size_t end = 2; end < chain.size(); ++end) {
      // What the strips give is read within them, and by the last layer.
      const auto is_before = [&chain, end](std::size_t layer) {
        return std::find(chain.begin(), chain.begin() + end + 1, layer) != chain.begin() + end + 1;
      };
      bool whole = false;
      for (std::size_t i = 0; i < end; ++i) {
        const auto& read_by = readers[chain[i]];
        whole = whole || !std::all_of(read_by.begin(), read_by.end(), is_before);
      }
      if (whole || !is_pointwise(maps[end])) continue;
      for (std::uint32_t count = 2; count <= kMostStrips; count *= 2) {
        const auto strips = cut_into_strips({maps.begin(), maps.begin() + end}, count);
        if (!strips) break;
        try {
          std::vector<Placed> made = with_strips(chain, *strips);
          auto less = static_cast<std::int64_t>(cycles[end]);
          for (const Placed& placed : made) {
            less -= static_cast<std::int64_t>(cycles_of(placed.layer.job.plan));
          }
          if (less <= saved) continue;
          saved = less;
          best = std::move(made);
        } catch (const UsageError&) {
          // It has no room.
        }
      }
    }
    if (best.empty()) continue;
    const std::uint32_t count = best[0].layer.strips->count;
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (i <= best.size() - count) {
        layers_[chain[i]] = std::move(best[i]);
      } else {
        layers_.push_back(std::move(best[i]));
      }
    }
  }
}

}  // namespace gemm64
