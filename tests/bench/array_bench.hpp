// SPDX-License-Identifier: Apache-2.0
// What the benchmarks of single arrays share: a stream of activations, and the check that the array
// multiplies, so that no speed is told of an array that does not.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace gemm64::bench {

constexpr unsigned kArray = 64;        // rows and columns
constexpr unsigned kStream = 4096;     // rows of activations, used again and again
constexpr unsigned kBatchCycles = 64;  // cycles of an iteration

/// `rows` rows of kArray random bytes.
inline std::vector<std::int8_t> random_rows(unsigned rows, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::int8_t> values(std::size_t{rows} * kArray);
  for (std::int8_t& value : values) value = static_cast<std::int8_t>(random() & 0xffu);
  return values;
}

/// One cycle of a Verilated model.
template <class Model>
void clock(Model& model) {
  model.clk_i = 0;
  model.eval();
  model.clk_i = 1;
  model.eval();
}

/// Simulates kBatchClocks cycles an iteration; items are cycles. An Array has
/// - model(): the Verilated model;
/// - kLatency: cycles from a row of activations to its sum of column 0 (column c: c more);
/// - load(weights, i): brings in, in the coming clock, the i-th part of kArray of a tile;
/// - kLoadsAhead: whether a tile comes before its first row of activations, or with it;
/// - no_load(): ends loading, where it comes before.
template <class Array>
void run_array(benchmark::State& state) {
  Array array;
  auto& model = array.model();
  const std::vector<std::int8_t> weights = random_rows(kArray, 1);  // weights[k * kArray + c]
  const std::vector<std::int8_t> stream = random_rows(kStream, 2);

  if constexpr (Array::kLoadsAhead) {
    for (unsigned i = 0; i < kArray; ++i) {
      array.load(weights, i);
      clock(model);
    }
    array.no_load();
  }
  for (unsigned t = 0; t < Array::kLatency + 2 * kArray; ++t) {
    std::memcpy(&model.activation_i, &stream[std::size_t{t} * kArray], kArray);
    if constexpr (!Array::kLoadsAhead) array.load(weights, t % kArray);
    clock(model);
    for (unsigned c = 0; c < kArray; ++c) {
      if (t + 1 < Array::kLatency + c) continue;
      const unsigned row = t + 1 - Array::kLatency - c;
      std::int32_t sum = 0;
      for (unsigned k = 0; k < kArray; ++k) {
        sum += stream[std::size_t{row} * kArray + k] * weights[std::size_t{k} * kArray + c];
      }
      if (static_cast<std::int32_t>(model.sum_o[c]) != sum) {
        state.SkipWithError("the array's sums are wrong");
        return;
      }
    }
  }

  unsigned t = 0;
  for (auto _ : state) {
    for (unsigned i = 0; i < kBatchCycles; ++i) {
      std::memcpy(&model.activation_i, &stream[std::size_t{t} * kArray], kArray);
      if constexpr (!Array::kLoadsAhead) array.load(weights, i);
      clock(model);
      t = (t + 1) % kStream;
    }
    benchmark::DoNotOptimize(model.sum_o[0]);
  }
  state.SetItemsProcessed(state.iterations() * kBatchCycles);
}

}  // namespace gemm64::bench
