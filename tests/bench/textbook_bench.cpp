// SPDX-License-Identifier: Apache-2.0
// The textbook array: one module per processing element, built with Verilator's default flags. Its
// sums are checked first, so that no speed is reported of an array that does not multiply.
#include <Vtextbook_array.h>
#include <benchmark/benchmark.h>
#include <verilated.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace gemm64::bench {
namespace {

constexpr unsigned kArray = 64;        // rows and columns
constexpr unsigned kStream = 4096;     // rows of activations, used again and again
constexpr unsigned kBatchCycles = 64;  // cycles of an iteration
constexpr unsigned kLatency = kArray;  // from a row to its sum of column 0; column c: c more

/// `rows` rows of kArray random bytes.
std::vector<std::int8_t> random_rows(unsigned rows, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::int8_t> values(std::size_t{rows} * kArray);
  for (std::int8_t& value : values) value = static_cast<std::int8_t>(random() & 0xffu);
  return values;
}

void cycle(Vtextbook_array& model) {
  model.clk_i = 0;
  model.eval();
  model.clk_i = 1;
  model.eval();
}

/// Simulates kBatchCycles cycles an iteration; items are cycles.
void run_textbook(benchmark::State& state) {
  VerilatedContext context;
  Vtextbook_array model(&context);
  const std::vector<std::int8_t> weights = random_rows(kArray, 1);  // weights[k * kArray + c]
  const std::vector<std::int8_t> stream = random_rows(kStream, 2);

  model.load_i = 1;
  for (unsigned i = 0; i < kArray;
       ++i) {  // weights move down a row per cycle: the last comes first
    std::memcpy(&model.weight_i, &weights[std::size_t{kArray - 1 - i} * kArray], kArray);
    cycle(model);
  }
  model.load_i = 0;
  for (unsigned t = 0; t < kLatency + 2 * kArray; ++t) {
    std::memcpy(&model.activation_i, &stream[std::size_t{t} * kArray], kArray);
    cycle(model);
    for (unsigned c = 0; c < kArray; ++c) {
      if (t + 1 < kLatency + c) continue;
      const unsigned row = t + 1 - kLatency - c;
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
      cycle(model);
      t = (t + 1) % kStream;
    }
    benchmark::DoNotOptimize(model.sum_o[0]);
  }
  state.SetItemsProcessed(state.iterations() * kBatchCycles);
}

BENCHMARK(run_textbook)->Name("array/textbook")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace gemm64::bench
