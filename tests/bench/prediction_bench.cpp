// SPDX-License-Identifier: Apache-2.0
// Predictions of whole networks, each product or convolution by itself, and layer after layer with
// snapshots between. Items are predicted cycles.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host/cycles/cycle_model.hpp"
#include "host/tiling/job.hpp"
#include "host/tiling/window_plan.hpp"
#include "tests/unit/tiling/window_program.hpp"

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
    shapes.push_back({rows, in, out});  // next to the first block
    for (std::uint64_t block = 0; block < stage.blocks; ++block, in = out) {
      shapes.push_back({rows, in, stage.channels});
      shapes.push_back({rows, 9 * stage.channels, stage.channels});
      shapes.push_back({rows, stage.channels, out});
    }
  }
  shapes.push_back({1, 2048, 1000});
  return shapes;
}

using Program = std::vector<Command>;

std::vector<Program> products(const std::vector<GemmShape>& shapes) {
  std::vector<Program> programs;
  for (const GemmShape& shape : shapes) {
    programs.push_back(make_job("", shape, Accumulate::kDevice, Geometry{}).program);
  }
  return programs;
}

/// A convolution over square maps.
Window convolution(std::uint32_t size, std::uint32_t channels, std::uint32_t out_channels,
                   std::uint32_t kernel = 1, std::uint32_t stride = 1) {
  Window w;
  w.height = w.width = size;
  w.out_height = w.out_width = (size + stride - 1) / stride;
  w.kernel_height = w.kernel_width = kernel;
  w.stride_height = w.stride_width = stride;
  w.pad_top = w.pad_left = (kernel - 1) / 2;
  w.planes = w.group_planes = (channels + 63) / 64;
  w.group_passes = (out_channels + 63) / 64;
  return w;
}

/// ResNet-50's layers as they run: rows of the first one are packed by the host.
std::vector<Window> resnet50_windows() {
  struct Stage {
    std::uint32_t size, channels, blocks;
  };
  std::vector<Window> windows{convolution(112, 3 * 7 * 7, 64)};
  std::uint32_t in = 64, size = 56;
  for (const Stage& stage :
       {Stage{56, 64, 3}, Stage{28, 128, 4}, Stage{14, 256, 6}, Stage{7, 512, 3}}) {
    const std::uint32_t out = 4 * stage.channels, stride = size / stage.size;
    windows.push_back(convolution(size, in, out, 1, stride));  // next to the first block
    for (std::uint32_t block = 0; block < stage.blocks; ++block, in = out, size = stage.size) {
      windows.push_back(convolution(size, in, stage.channels));
      windows.push_back(convolution(size, stage.channels, stage.channels, 3, size / stage.size));
      windows.push_back(convolution(stage.size, stage.channels, out));
    }
  }
  windows.push_back(convolution(1, 2048, 1000));
  return windows;
}

/// In as few blocks as fit the device.
WindowPlan plan(const Window& window) {
  const Geometry geometry;
  for (std::uint32_t most = geometry.accumulator_rows;; --most) {
    try {
      return plan_window(window, balanced_rows(window.out_pixels(), most), geometry);
    } catch (const UsageError&) {
      if (most == 1) throw;
    }
  }
}

Program commands(const Window& window) {
  WindowOperands operands;
  operands.results.format = ResultFormat(ResultCode::kInt8).number();
  operands.results.low = 0x80;
  operands.results.high = 0x7f;
  return window_program(plan(window), operands);
}

Command ending(Opcode opcode, std::uint32_t flags = 0) {
  Command command;
  command.opcode = opcode;
  command.flags = flags;
  return command;
}

std::vector<Program> convolutions(const std::vector<Window>& windows) {
  std::vector<Program> programs;
  for (const Window& window : windows) {
    programs.push_back(commands(window));
    programs.back().push_back(ending(Opcode::kFinish));
  }
  return programs;
}

/// One program, with a snapshot after each layer.
std::vector<Program> chain(const std::vector<Window>& windows) {
  Program program;
  for (const Window& window : windows) {
    const Program layer = commands(window);
    program.insert(program.end(), layer.begin(), layer.end());
    program.push_back(ending(Opcode::kFence, flag::kSnapshot));
  }
  program.push_back(ending(Opcode::kFinish));
  return {program};
}

void predict(benchmark::State& state, const std::vector<Program>& programs,
             const MemoryTiming& memory) {
  const Geometry geometry;
  std::uint64_t cycles = 0;
  for (auto _ : state) {
    for (const Program& program : programs) {
      cycles += predict_counters(program, geometry, memory)[counter::kTotalClocks];
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(cycles));
  state.counters["clocks"] = static_cast<double>(cycles) / static_cast<double>(state.iterations());
  std::size_t count = 0;
  for (const Program& program : programs) count += program.size();
  state.counters["commands"] = static_cast<double>(count);
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
    std::vector<Program> programs;
  };
  struct Memory {
    const char* name;
    MemoryTiming timing;
  };
  const Memory memories[] = {{"independent", memory(MemorySharing::kIndependent, 0)},
                             {"24_bytes", memory(MemorySharing::kIndependent, 24)},
                             {"shared", memory(MemorySharing::kShared, 0)},
                             {"exclusive", memory(MemorySharing::kExclusive, 0)}};
  for (const Network& network :
       {Network{"alexnet", products(alexnet())}, Network{"resnet50", products(resnet50())},
        Network{"resnet50_windows", convolutions(resnet50_windows())},
        Network{"resnet50_snapshots", chain(resnet50_windows())}}) {
    for (const Memory& memory : memories) {
      const std::string name = std::string("prediction/") + network.name + "/" + memory.name;
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
        predict(state, network.programs, memory.timing);
      })->Unit(benchmark::kMicrosecond);
    }
  }
}

const bool registered = (register_all(), true);

}  // namespace
}  // namespace gemm64::bench
