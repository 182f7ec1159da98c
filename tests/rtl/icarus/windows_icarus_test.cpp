// SPDX-License-Identifier: Apache-2.0
// A convolution gives in Icarus Verilog what it gives in Verilator, whose values tests/system
// checks.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "host/tiling/window_plan.hpp"
#include "tests/rtl/icarus/run_image.hpp"
#include "tests/unit/tiling/window_program.hpp"

namespace gemm64::icarus_test {
namespace {

constexpr unsigned kN = 4;

/// Two images of 6x5 with two planes, 3x2 taps two columns apart, every second column, int8
/// results; blocks of 7 pixels in a scratchpad that goes around.
class WindowImage {
 public:
  WindowImage() {
    std::mt19937 random(1);
    for (std::uint8_t& byte : memory) byte = static_cast<std::uint8_t>(random());
    Window w;
    w.images = 2;
    w.height = w.out_height = 6;
    w.width = 5;
    w.out_width = 3;
    w.kernel_height = 3;
    w.kernel_width = w.stride_width = w.dilation_width = 2;
    w.pad_top = w.pad_left = 1;
    w.planes = w.group_planes = 2;
    Geometry geometry;
    geometry.n = kN;
    geometry.scratchpad_words = 70;
    const WindowPlan plan = plan_window(w, 7, geometry);
    WindowOperands operands;
    operands.weights = 0x2000;
    operands.activations = 0x3000;
    operands.parameters = 0x4000;
    operands.zero = -5;
    operands.results.set_address(first());
    operands.results.format = static_cast<std::uint32_t>(ResultCode::kInt8);
    operands.results.low = 0x80;
    operands.results.high = 0x7f;
    for (unsigned i = 4 * kN; i < 8 * kN; i += 4) {  // scales of about 2^-8
      memory[operands.parameters + i + 2] = 0x80;
      memory[operands.parameters + i + 3] = 0x3b;
    }
    std::vector<Command> commands = window_program(plan, operands);
    result_bytes_ = w.out_pixels() * kN;
    Command fence{Opcode::kFence, flag::kSnapshot};
    fence.set_address(snapshot());
    commands.push_back(fence);
    commands.push_back({Opcode::kFinish});
    commands_ = static_cast<std::uint32_t>(commands.size());
    for (std::size_t i = 0; i < commands.size(); ++i)
      commands[i].encode(&memory[i * kCommandBytes]);
  }

  std::vector<std::array<std::uint32_t, 2>> script() const {
    return {{reg::kControl, 3},
            {reg::kRingBaseLow, 0},
            {reg::kRingMask, 63},
            {reg::kRingTail, commands_}};
  }
  std::uint64_t first() const { return 0x5000; }
  std::uint64_t snapshot() const { return first() + result_bytes_; }
  std::uint64_t end() const { return snapshot() + kSnapshotBytes; }

  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(kMemoryBytes);

 private:
  std::uint64_t result_bytes_ = 0;
  std::uint32_t commands_ = 0;
};

TEST(WindowsInIcarus, GiveTheResultsAndTheCountersThatVerilatorGives) {
  const WindowImage image;
  for (const unsigned latency : {1u, 100u}) {
    SCOPED_TRACE("latency " + std::to_string(latency));
    const Outcome icarus = run_in_icarus(kN, image, latency, 0);
    const Outcome verilator = run_in_verilator(kN, image, latency);
    EXPECT_EQ(icarus.results, verilator.results);
    EXPECT_NE(icarus.results,
              std::vector<std::uint8_t>(image.memory.begin() + 0x5000,
                                        image.memory.begin() + static_cast<long>(image.snapshot())))
        << "nothing was written";
    EXPECT_EQ(icarus.snapshot, verilator.snapshot);
    EXPECT_EQ(icarus.counters, verilator.counters);
    EXPECT_EQ(run_in_icarus(kN, image, latency, 60).results, icarus.results)
        << "every channel stalls";
  }
}

}  // namespace
}  // namespace gemm64::icarus_test
