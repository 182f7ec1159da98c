// SPDX-License-Identifier: Apache-2.0
// What a layer's matrix products cost on the accelerator.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "host/cycles/published.hpp"
#include "host/device/counters.hpp"
#include "host/device/geometry.hpp"
#include "host/device/memory_timing.hpp"
#include "host/graph/onnx/work.hpp"
#include "host/tiling/job.hpp"

namespace gemm64 {

/// All products of a layer together, in int8 with sums added on the device.
struct ArrayCost {
  Products products;
  std::uint64_t tiles = 0;   // of weights, blocks of M counted
  double padding_waste = 0;  // part of the tiles' multiplications that meets padding of K or N
  std::optional<std::uint64_t> cycles;  // predicted; empty where there are too many tiles to follow
  double utilization = 0;               // useful MACs / (N^2 x cycles)
  std::size_t program = 0;  // of `run`, whose part it is, from 1; 0: predicted by itself
  bool packed = false;      // a convolution whose windows the host lays out as rows
  PublishedCycles published;
  Traffic bytes;                  // over each port
  double intensity = 0;           // MACs per byte of the busiest port
  std::uint64_t macs_cycles = 0;  // what useful MACs, and each port, take at least
  std::uint64_t weights_cycles = 0;
  std::uint64_t activations_cycles = 0;  // commands included, which share the port
  std::uint64_t results_cycles = 0;
  bool shared_memory = false;  // all ports together are one roof

  /// The roof that bounds the layer, the highest one: "MACs", "weights", "activations" or
  /// "results"; "memory" where the ports share it.
  std::string bound() const;
  std::uint64_t roof_cycles() const;  // the highest
};

/// Predicts costs, and remembers them: networks repeat their layers.
class ArrayModel {
 public:
  /// `max_tiles`: as many tiles are followed over all layers; the cycles of further ones are not
  /// predicted.
  ArrayModel(const Geometry& geometry, const MemoryTiming& memory, std::uint64_t max_tiles)
      : geometry_(geometry), memory_(memory), max_tiles_(max_tiles) {}

  std::uint64_t max_tiles() const { return max_tiles_; }

  /// Whether `tiles` more are within the bound; if so, counts them.
  bool follow(std::uint64_t tiles) {
    const bool may = tiles <= max_tiles_ - followed_;
    if (may) followed_ += tiles;
    return may;
  }

  /// The cost of a layer of a program that `run` runs, from its tiles, blocks of M counted, the
  /// bytes of its packed weights, and its counters. `strips`: of its map, each with these weights.
  ArrayCost cost(const Products& products, std::uint64_t tiles, std::uint64_t weight_bytes,
                 const Counters& counters, std::uint32_t strips = 1);
  /// The cost of a layer that two jobs run, of which `cost` is one's.
  void add(ArrayCost& cost, const ArrayCost& more) const;

  /// Empty, with the reason in `why`, where the accelerator's commands do not hold such a product.
  /// Throws std::overflow_error where a count is beyond 63 bits.
  std::optional<ArrayCost> cost(const Products& products, std::string& why);

 private:
  struct One {
    std::uint64_t tiles = 0;
    std::optional<std::uint64_t> cycles;
    PublishedCycles published;
    Traffic bytes;
    std::string why;
  };
  const One& one(const GemmShape& shape);
  /// What follows from products and bytes.
  void add_roofs(ArrayCost& cost) const;

  Geometry geometry_;
  MemoryTiming memory_;
  std::uint64_t max_tiles_;
  std::uint64_t followed_ = 0;  // tiles so far
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, One> known_;
};

}  // namespace gemm64
