// SPDX-License-Identifier: Apache-2.0

#include "tests/rtl/array_vectors.hpp"
#include "tests/rtl/icarus/icarus.hpp"
#include "tests/test.hpp"

namespace gemm64::icarus_test {
namespace {

struct Shape {
  unsigned n, stage_rows;
};

class ArrayInIcarus : public testing::TestWithParam<Shape> {};

TEST_P(ArrayInIcarus, ReturnsTheSumsOfVerilator) {
  const auto [n, stage_rows] = GetParam();
  std::vector<std::string> stimulus, expected;
  unsigned compared = 0;
  const bool small = n <= 8;  // the others are slow, and go only through the extremes
  for (const rtl_test::ArrayPlan& plan :
       small ? rtl_test::array_plans(n) : rtl_test::extreme_plans(n)) {
    for (const rtl_test::ArrayClock& clock : rtl_test::array_cycles(n, 1 + n / stage_rows, plan)) {
      std::vector<std::uint8_t> bytes(2 * n + 2);
      std::memcpy(bytes.data(), clock.activation.data(), n);
      std::memcpy(bytes.data() + n, clock.weight.data(), n);
      bytes[2 * n] = static_cast<std::uint8_t>(clock.weight_column);
      bytes[2 * n + 1] =
          static_cast<std::uint8_t>(clock.weight_valid | clock.activation_valid << 1);
      stimulus.push_back(hex_word(bytes.data(), bytes.size()));
      std::string checked;
      for (unsigned c = n; c-- > 0;) checked += clock.checked[c] ? '1' : '0';
      for (unsigned c = 0; c < n; ++c) compared += clock.checked[c];
      std::vector<std::uint8_t> sums(4 * n);
      std::memcpy(sums.data(), clock.sum.data(), 4 * n);
      expected.push_back(checked + hex_word(sums.data(), sums.size()));
    }
  }
  const std::string stimulus_file = work_file("stimulus.hex"),
                    expected_file = work_file("expected.hex");
  write_lines(stimulus_file, stimulus);
  write_lines(expected_file, expected);
  const std::string output = run_bench("array_tb", {{"N", n}, {"STAGE_ROWS", stage_rows}},
                                       {{"stimulus", stimulus_file},
                                        {"expected", expected_file},
                                        {"cycles", std::to_string(stimulus.size())}});
  EXPECT_GT(compared, 0u);
  EXPECT_EQ(output, "compared " + std::to_string(compared) + " differences 0\n");
}

INSTANTIATE_TEST_SUITE_P(Shapes, ArrayInIcarus,
                         testing::Values(Shape{2, 1}, Shape{2, 2}, Shape{4, 1}, Shape{4, 2},
                                         Shape{4, 4}, Shape{8, 1}, Shape{8, 2}, Shape{8, 4},
                                         Shape{8, 8}, Shape{16, 4}, Shape{32, 4}, Shape{64, 4}),
                         [](const auto& shape) {
                           return "N" + std::to_string(shape.param.n) + "StageRows" +
                                  std::to_string(shape.param.stage_rows);
                         });

}  // namespace
}  // namespace gemm64::icarus_test
