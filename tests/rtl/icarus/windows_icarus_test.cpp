// SPDX-License-Identifier: Apache-2.0
// A convolution gives in Icarus Verilog what it gives in Verilator, whose values tests/system
// checks.
#include "host/tiling/window_plan.hpp"
#include "tests/rtl/icarus/run_image.hpp"
#include "tests/unit/tiling/window_program.hpp"

namespace gemm64::icarus_test {
namespace {

constexpr unsigned kN = 4;

/// Two images of 6x5 with two planes, 3x2 taps two columns apart, every second column, int8
/// results; blocks of 7 pixels in a scratchpad that goes around.
class WindowImage : public ProgramImage {
 public:
  WindowImage() : ProgramImage(0x5000, 1) {
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
    set_scales(operands.parameters, kN);
    std::vector<Command> commands = window_program(plan, operands);
    result_bytes_ = w.out_pixels() * kN;
    finish(std::move(commands));
  }
};

TEST(WindowsInIcarus, EqualVerilator) {
  const WindowImage image;
  for (const unsigned latency : {1u, 100u}) {
    SCOPED_TRACE("latency " + std::to_string(latency));
    const Outcome icarus = run_in_icarus(kN, image, latency, 0);
    const Outcome verilator = run_in_verilator(kN, image, latency);
    EXPECT_EQ(icarus.results, verilator.results);
    EXPECT_NE(icarus.results, image.before()) << "nothing was written";
    EXPECT_EQ(icarus.snapshot, verilator.snapshot);
    EXPECT_EQ(icarus.counters, verilator.counters);
    EXPECT_EQ(run_in_icarus(kN, image, latency, 60).results, icarus.results)
        << "every channel stalls";
  }
}

}  // namespace
}  // namespace gemm64::icarus_test
