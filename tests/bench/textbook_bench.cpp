// SPDX-License-Identifier: Apache-2.0
// The textbook array: one module a processing element, built with Verilator's default flags.
#include <Vtextbook_array.h>
#include <verilated.h>

#include "tests/bench/array_bench.hpp"

namespace gemm64::bench {
namespace {

class TextbookArray {
 public:
  static constexpr bool kLoadsAhead = true;
  static constexpr unsigned kLatency = kArray;

  TextbookArray() : model_(&context_) { model_.load_i = 1; }

  Vtextbook_array& model() { return model_; }

  /// Weights move down a row per cycle, so the last row comes first.
  void load(const std::vector<std::int8_t>& weights, unsigned i) {
    std::memcpy(&model_.weight_i, &weights[std::size_t{kArray - 1 - i} * kArray], kArray);
  }
  void no_load() { model_.load_i = 0; }

 private:
  VerilatedContext context_;
  Vtextbook_array model_;
};

BENCHMARK_TEMPLATE(run_array, TextbookArray)->Name("array/textbook")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace gemm64::bench
