// SPDX-License-Identifier: Apache-2.0
// Cycles, bytes and DRAM commands of the networks in tests/data, on arrays and memories of each
// kind, are those of predictions.csv. A change of the compiler or of the cycle model that means to
// alter them writes the file again:
//   build/gemm64 sweep tests/unit/sweep/predictions.json --csv - | cut -d, -f1,4,5,17,25-37 |
//     sed 's|tests/data/||' > tests/unit/sweep/predictions.csv
#include "host/device/registry.hpp"
#include "host/sweep/sweep_runner.hpp"
#include "host/util/input_file.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kPoints = 120;

std::string file(const char* ending) {
  return read_file(std::string(GEMM64_TEST_DATA "/../unit/sweep/predictions.") + ending, 1 << 20);
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char one : line) {
    if (one == ',') {
      cells.emplace_back();
    } else {
      cells.back() += one;
    }
  }
  return cells;
}

SweepRunner& runner() {
  static const DeviceRegistry devices({});
  static SweepRunner made = [] {
    std::string text = file("json");
    const std::string folder = "tests/data";
    for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;) {
      text.replace(at, folder.size(), GEMM64_TEST_DATA);
      at += std::strlen(GEMM64_TEST_DATA);
    }
    return SweepRunner(parse_sweep(text, "predictions.json"), devices);
  }();
  return made;
}

class Predictions : public testing::TestWithParam<std::size_t> {};

TEST_P(Predictions, AreThoseOfTheFile) {
  ASSERT_EQ(runner().sweep().size(), kPoints);
  std::istringstream lines(file("csv"));
  std::string heading, line;
  std::getline(lines, heading);
  for (std::size_t i = 0; i <= GetParam(); ++i) ASSERT_TRUE(std::getline(lines, line)) << i;
  SweepRow row;
  run_points(
      runner(), {GetParam()}, 1, std::vector<double>(kPoints, 1.0),
      [&row](std::size_t, SweepRow made) { row = std::move(made); }, nullptr);
  const std::vector<std::string> names = cells_of(heading), cells = cells_of(line);
  ASSERT_EQ(cells.size(), names.size());
  EXPECT_EQ(cells[0], std::to_string(GetParam()));
  for (std::size_t i = 2; i < names.size(); ++i) {
    const auto& value = row[names[i]];
    EXPECT_EQ(value.is_null() ? "" : value.dump(), cells[i])
        << names[i] << " of " << cells[1] << ", point " << cells[0];
  }
}

INSTANTIATE_TEST_SUITE_P(All, Predictions, testing::Range<std::size_t>(0, kPoints));

}  // namespace
}  // namespace gemm64
