// SPDX-License-Identifier: Apache-2.0
// The accelerator's array only, a new tile of weights every 64 cycles, as when it is never idle.
#include "tests/bench/array_bench.hpp"

#include <Vgemm64_array.h>
#include <verilated.h>

namespace gemm64::bench {
namespace {

class StageArray {
 public:
  static constexpr bool kLoadsAhead = false;
  static constexpr unsigned kStageRows = 4;  // the module's default
  static constexpr unsigned kLatency = 1 + kArray / kStageRows;

  StageArray() : model_(&context_), columns_(kArray * kArray) {
    model_.rst_ni = 1;
    model_.weight_valid_i = model_.activation_valid_i = 1;
  }

  Vgemm64_array& model() { return model_; }

  void load(const std::vector<std::int8_t>& weights, unsigned column) {
    if (!transposed_) transpose(weights);
    model_.weight_column_i = static_cast<std::uint8_t>(column);
    std::memcpy(&model_.weight_i, &columns_[std::size_t{column} * kArray], kArray);
  }

 private:
  void transpose(const std::vector<std::int8_t>& weights) {
    for (unsigned c = 0; c < kArray; ++c) {
      for (unsigned k = 0; k < kArray; ++k) columns_[c * kArray + k] = weights[k * kArray + c];
    }
    transposed_ = true;
  }

  VerilatedContext context_;
  Vgemm64_array model_;
  std::vector<std::int8_t> columns_;
  bool transposed_ = false;
};

BENCHMARK_TEMPLATE(run_array, StageArray)->Name("array/gemm64")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace gemm64::bench
