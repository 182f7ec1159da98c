// SPDX-License-Identifier: Apache-2.0
// The whole accelerator and its driver: memory ports, commands, stores, and the host's part.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <random>

#include "host/driver/driver.hpp"
#include "host/numerics/matrix.hpp"
#include "host/numerics/reference.hpp"
#include "host/tiling/job.hpp"
#include "host/tiling/packing.hpp"
#include "sim/models/rtl_device.hpp"
#include "tests/random_matrix.hpp"

namespace gemm64::bench {
namespace {

/// One product of a batch with a Linear layer an iteration, checked once. Items are cycles.
/// `debug`: on the model with debug access, unused.
void run_system(benchmark::State& state, bool debug) {
  const GemmShape shape{static_cast<std::uint64_t>(state.range(0)), 1024, 1024};
  RtlOptions options;
  options.memory_bytes = std::uint64_t{64} << 20;
  options.debug = debug;
  const std::unique_ptr<RtlDevice> device = make_rtl_device(options);
  Driver driver(*device);
  std::mt19937 random(1);
  const MatrixI8 activations = random_matrix(random, shape.m, shape.k);
  const MatrixI8 weights = random_matrix(random, shape.n, shape.k);
  const Job job = make_job("linear", shape, Accumulate::kDevice, driver.geometry());
  const SharedBytes packed = pack_weights(job, weights);
  if (driver.run(job, packed, activations).sums != reference_gemm(activations, weights)) {
    state.SkipWithError("the accelerator's product is wrong");
    return;
  }

  const std::uint64_t before = device->cycles();
  for (auto _ : state) {
    benchmark::DoNotOptimize(driver.run(job, packed, activations));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(device->cycles() - before));
}

BENCHMARK_CAPTURE(run_system, fast, false)
    ->Name("system/linear_1024x1024/batch")
    ->Arg(64)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(run_system, debug, true)
    ->Name("system/debug/linear_1024x1024/batch")
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gemm64::bench
