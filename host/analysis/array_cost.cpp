// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/array_cost.hpp"

#include <algorithm>
#include <cmath>

#include "host/cycles/cycle_model.hpp"
#include "host/graph/onnx/checked.hpp"
#include "host/tiling/program.hpp"
#include "host/util/divide.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

// Beyond it published formulas would overflow; no network is near.
constexpr std::uint64_t kMaxMacs = std::uint64_t{1} << 56;

}  // namespace

std::string ArrayCost::bound() const {
  const std::uint64_t highest = roof_cycles();
  if (macs_cycles == highest) return "MACs";
  if (shared_memory) return "memory";
  if (weights_cycles == highest) return "weights";
  return activations_cycles == highest ? "activations" : "results";
}

std::uint64_t ArrayCost::roof_cycles() const {
  const std::uint64_t ports = shared_memory
                                  ? weights_cycles + activations_cycles + results_cycles
                                  : std::max({weights_cycles, activations_cycles, results_cycles});
  return std::max(macs_cycles, ports);
}

const ArrayModel::One& ArrayModel::one(const GemmShape& shape) {
  One& entry = known_[{shape.m, shape.k, shape.n}];
  if (entry.tiles != 0 || !entry.why.empty()) return entry;
  if (times(times(shape.m, shape.k), shape.n) > kMaxMacs) {
    entry.why = "the product is too large for the accelerator";
    return entry;
  }
  Plan plan;
  try {
    plan = make_plan(shape, Accumulate::kDevice, geometry_);
  } catch (const UsageError& error) {
    entry.why = error.what();
    return entry;
  }
  entry.tiles = times(plan.tiles(), plan.row_blocks());
  entry.published = published_cycles(shape, geometry_.n);
  entry.bytes = predict_traffic(plan);
  if (follow(entry.tiles)) {
    const Counters counters =
        predict_counters(make_program(plan, make_layout(plan)), geometry_, memory_);
    entry.cycles = counters[counter::kTotalClocks];
  }
  return entry;
}

std::optional<ArrayCost> ArrayModel::cost(const Products& products, std::string& why) {
  const GemmShape shape{products.shape.m, products.shape.k, products.shape.n};
  const One& single = one(shape);
  if (!single.why.empty()) {
    why = single.why;
    return std::nullopt;
  }
  const std::uint64_t count = products.count;
  const std::uint64_t n = geometry_.n;
  ArrayCost cost;
  cost.products = products;
  cost.tiles = times(single.tiles, count);
  const auto padded = static_cast<double>(divide_up(shape.k, n) * n) *
                      static_cast<double>(divide_up(shape.n, n) * n);
  cost.padding_waste = 1 - static_cast<double>(shape.k) * static_cast<double>(shape.n) / padded;
  cost.published = {times(single.published.scale_sim_os, count),
                    times(single.published.scale_sim_ws, count),
                    times(single.published.single_buffered, count),
                    times(single.published.double_buffered, count)};
  cost.bytes = {times(single.bytes.weights, count), times(single.bytes.activations, count),
                times(single.bytes.results, count), times(single.bytes.commands, count)};
  if (single.cycles) cost.cycles = times(*single.cycles, count);
  add_roofs(cost);
  return cost;
}

void ArrayModel::add_roofs(ArrayCost& cost) const {
  const std::uint64_t n = geometry_.n;
  // Bytes that memory moves in a cycle: at a port; of a DRAM channel, at all.
  const bool dram = memory_.sharing == MemorySharing::kDram;
  const double moved = dram ? memory_.dram.peak_bytes_per_cycle() : static_cast<double>(n);
  const auto cycles = [dram, moved, n](std::uint64_t bytes) {
    return dram ? static_cast<std::uint64_t>(std::ceil(static_cast<double>(bytes) / moved))
                : divide_up(bytes, n);
  };
  const ProductSizes& shape = cost.products.shape;
  const std::uint64_t macs = times(times(times(shape.m, shape.k), shape.n), cost.products.count);
  cost.macs_cycles = divide_up(macs, geometry_.macs_per_clock());
  cost.weights_cycles = cycles(cost.bytes.weights);
  cost.activations_cycles =
      cycles(plus(plus(cost.bytes.activations, cost.bytes.commands), cost.bytes.parameters));
  cost.results_cycles = cycles(cost.bytes.results);
  cost.shared_memory = memory_.sharing != MemorySharing::kIndependent;
  ArrayCost of_ports = cost;
  of_ports.macs_cycles = 0;
  const std::uint64_t port = of_ports.roof_cycles();
  cost.intensity = static_cast<double>(macs) / (static_cast<double>(port) * moved);
  if (cost.cycles) {
    cost.utilization = static_cast<double>(macs) / static_cast<double>(geometry_.macs_per_clock()) /
                       static_cast<double>(*cost.cycles);
  }
}

ArrayCost ArrayModel::cost(const Products& products, std::uint64_t tiles,
                           std::uint64_t weight_bytes, const Counters& counters,
                           std::uint32_t strips) {
  const PublishedCycles published =
      published_cycles({products.shape.m, products.shape.k, products.shape.n}, geometry_.n);
  const std::uint64_t count = products.count;
  ArrayCost cost;
  cost.products = products;
  cost.tiles = tiles;
  const std::uint64_t useful =
      times(times(products.shape.k, products.shape.n), times(count, strips));
  cost.padding_waste = 1 - static_cast<double>(useful) / static_cast<double>(weight_bytes);
  cost.cycles = counters[counter::kTotalClocks];
  cost.published = {times(published.scale_sim_os, count), times(published.scale_sim_ws, count),
                    times(published.single_buffered, count),
                    times(published.double_buffered, count)};
  cost.bytes.weights = counters[counter::kBytesWeights];
  cost.bytes.activations = counters[counter::kBytesActivations];
  cost.bytes.results = counters[counter::kBytesResults];
  cost.bytes.commands = counters[counter::kBytesCommands];
  cost.bytes.parameters = counters[counter::kBytesParameters];
  add_roofs(cost);
  return cost;
}

void ArrayModel::add(ArrayCost& cost, const ArrayCost& more) const {
  cost.tiles += more.tiles;
  *cost.cycles += *more.cycles;
  cost.bytes.weights += more.bytes.weights;
  cost.bytes.activations += more.bytes.activations;
  cost.bytes.results += more.bytes.results;
  cost.bytes.commands += more.bytes.commands;
  cost.bytes.parameters += more.bytes.parameters;
  add_roofs(cost);
}

}  // namespace gemm64
