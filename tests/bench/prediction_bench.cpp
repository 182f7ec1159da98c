// SPDX-License-Identifier: Apache-2.0
// Predictions of whole networks, each product by itself. Items are predicted clocks.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host/cycles/cycle_model.hpp"
#include "host/job/job.hpp"

namespace gemm64::bench {
namespace {

/// AlexNet's Linear layers at batch 1.
std::vector<GemmShape> alexnet() { return {{1, 9216, 4096}, {1, 4096, 4096}, {1, 4096, 1000}}; }

/// ResNet-50's 53 convolutions, a row for each pixel, and its Linear layer.
std::vector<GemmShape> resnet50() {
  struct Stage {
    std::uint64_t size, channels, blocks;
  };
  std::vector<GemmShape> shapes{{112 * 112, 3 * 7 * 7, 64}};
  std::uint64_t in = 64;
  for (const Stage& stage :
       {Stage{56, 64, 3}, Stage{28, 128, 4}, Stage{14, 256, 6}, Stage{7, 512, 3}}) {
    const std::uint64_t rows = stage.size * stage.size, out = 4 * stage.channels;
    shapes.push_back({rows, in, out});  // beside the first block
    for (std::uint64_t block = 0; block < stage.blocks; ++block, in = out) {
      shapes.push_back({rows, in, stage.channels});
      shapes.push_back({rows, 9 * stage.channels, stage.channels});
      shapes.push_back({rows, stage.channels, out});
    }
  }
  shapes.push_back({1, 2048, 1000});
  return shapes;
}

void predict(benchmark::State& state, const std::vector<GemmShape>& shapes,
             const MemoryTiming& memory) {
  const Geometry geometry;
  std::vector<Job> jobs;
  for (const GemmShape& shape : shapes) {
    jobs.push_back(make_job("", shape, Accumulate::kDevice, geometry));
  }
  std::uint64_t clocks = 0;
  for (auto _ : state) {
    for (const Job& job : jobs) {
      clocks += predict_counters(job.program, geometry, memory)[counter::kTotalClocks];
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(clocks));
  state.counters["clocks"] = static_cast<double>(clocks) / static_cast<double>(state.iterations());
}

MemoryTiming memory(MemorySharing sharing, std::uint32_t bytes_per_cycle) {
  MemoryTiming timing;
  timing.sharing = sharing;
  timing.bytes_per_cycle = bytes_per_cycle;
  return timing;
}

void register_all() {
  struct Network {
    const char* name;
    std::vector<GemmShape> shapes;
  };
  struct Memory {
    const char* name;
    MemoryTiming timing;
  };
  const Memory memories[] = {{"independent", memory(MemorySharing::kIndependent, 0)},
                             {"24_bytes", memory(MemorySharing::kIndependent, 24)},
                             {"shared", memory(MemorySharing::kShared, 0)},
                             {"exclusive", memory(MemorySharing::kExclusive, 0)}};
  for (const Network& network : {Network{"alexnet", alexnet()}, Network{"resnet50", resnet50()}}) {
    for (const Memory& memory : memories) {
      const std::string name = std::string("prediction/") + network.name + "/" + memory.name;
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
        predict(state, network.shapes, memory.timing);
      })->Unit(benchmark::kMicrosecond);
    }
  }
}

const bool registered = (register_all(), true);

}  // namespace
}  // namespace gemm64::bench
