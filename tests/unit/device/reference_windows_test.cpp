// SPDX-License-Identifier: Apache-2.0
// Convolutions on the reference device: values as a plain loop over the definition gives them.

#include "host/device/reference_device.hpp"
#include "host/driver/driver.hpp"
#include "tests/commands.hpp"
#include "tests/test.hpp"
#include "tests/unit/tiling/convolutions.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kDeviceBytes = std::uint64_t{64} << 20, kOperands = 1 << 20;

Geometry geometry_of(std::uint32_t n) {
  Geometry geometry;
  geometry.n = n;
  geometry.stage_rows = n < 4 ? n : 4;
  return geometry;
}

class ReferenceWindows : public testing::TestWithParam<std::uint32_t> {
 protected:
  const Geometry geometry = geometry_of(GetParam());
  ReferenceDevice device{geometry, kDeviceBytes};
  Driver driver{device};
};

TEST_P(ReferenceWindows, OfRandomConvolutionsAreExact) {
  const std::uint32_t seeds = geometry.n == 64 ? 8 : 60;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    std::mt19937 random(seed);
    const PlainConvolution c = random_convolution(random, geometry.n);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << describe(c));
    const WindowPlan plan = random_plan(random, c.window, geometry);
    const PlacedConvolution placed(c, geometry.n, kOperands);
    placed.write(device);
    std::vector<Command> program = window_program(plan, placed.operands());
    program.push_back(finish());
    driver.run_program(0, program, 1);
    placed.check(device);
    const Counters counters = driver.read_counters();
    EXPECT_EQ(counters[counter::kBytesActivations], plan.loaded_words() * geometry.n);
    EXPECT_EQ(counters[counter::kBytesResults], placed.result_bytes());
    if (testing::Test::HasFailure()) return;
  }
}

// The second one reads what the first one wrote, without a copy between.
TEST_P(ReferenceWindows, ReadResultsOfTheOneBefore) {
  std::mt19937 random(70);
  PlainConvolution first;
  first.channels = first.out_channels = geometry.n;
  first.window.height = first.window.width = first.window.out_height = first.window.out_width = 5;
  first.window.kernel_height = first.window.kernel_width = 3;
  first.window.pad_top = first.window.pad_left = 1;
  first.quantized = true;
  first.biases.assign(geometry.n, 100);
  first.scales.assign(geometry.n, 0.01F);
  fill(random, first.input, 25 * geometry.n);
  fill(random, first.weights, 9 * geometry.n * geometry.n);
  PlainConvolution second = first;
  second.zero = 7;
  for (std::uint32_t c = 0; c < geometry.n; ++c) {
    for (std::uint32_t y = 0; y < 5; ++y) {
      for (std::uint32_t x = 0; x < 5; ++x) {
        second.input[(c * 5 + y) * 5 + x] = static_cast<std::int8_t>(first.result(0, c, y, x));
      }
    }
  }
  const PlacedConvolution one(first, geometry.n, kOperands), other(second, geometry.n, one.end());
  one.write(device);
  other.write(device);
  const WindowPlan plan = plan_window(first.window, 4, geometry);
  std::vector<Command> program = window_program(plan, one.operands());
  program.push_back(fence());
  WindowOperands operands = other.operands();
  operands.activations = one.operands().results.address();
  for (const Command& command : window_program(plan, operands)) program.push_back(command);
  program.push_back(finish());
  driver.run_program(0, program, 1);
  one.check(device);
  other.check(device);
}

TEST_P(ReferenceWindows, ThatKeepPixelsNeverFinish) {
  std::mt19937 random(80);
  const PlainConvolution c = random_convolution(random, geometry.n);
  const PlacedConvolution placed(c, geometry.n, kOperands);
  placed.write(device);
  std::vector<Command> program =
      window_program(plan_window(c.window, 1, geometry), placed.operands());
  program.push_back(finish());
  const std::vector<Command> good = program;
  for (Command& command : program) {
    if (command.opcode == Opcode::kMatmul && command.freed_pixels != 0) {
      --command.freed_pixels;
      break;
    }
  }
  EXPECT_THROW(driver.run_program(0, program, 1), DeviceError);
  driver.run_program(0, good, 1);
  placed.check(device);
}

INSTANTIATE_TEST_SUITE_P(Arrays, ReferenceWindows, testing::Values(2, 4, 8, 64),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace gemm64
