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

struct Case {
  std::size_t network = 0, batch = 0;  // their places in the lists of predictions.json
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << "network " << one.network << ", batch " << one.batch;
}

class Predictions : public testing::TestWithParam<Case> {};

TEST_P(Predictions, AreThoseOfTheFile) {
  const Sweep& sweep = runner().sweep();
  std::istringstream lines(file("csv"));
  std::string heading, line;
  std::getline(lines, heading);
  const std::vector<std::string> names = cells_of(heading);
  std::size_t compared = 0;
  for (std::size_t i = 0; std::getline(lines, line); ++i) {
    ASSERT_LT(i, sweep.size());
    const SweepPoint point = sweep.point(i);
    if (point.network != GetParam().network) continue;
    if (point.batch != sweep.batches[GetParam().batch]) continue;
    SweepRow row;
    run_points(
        runner(), {i}, 1, std::vector<double>(sweep.size(), 1.0),
        [&row](std::size_t, SweepRow made) { row = std::move(made); }, nullptr);
    const std::vector<std::string> cells = cells_of(line);
    ASSERT_EQ(cells.size(), names.size());
    EXPECT_EQ(cells[0], std::to_string(i));
    for (std::size_t j = 2; j < names.size(); ++j) {
      const auto& value = row[names[j]];
      EXPECT_EQ(value.is_null() ? "" : value.dump(), cells[j])
          << names[j] << " of " << cells[1] << ", point " << cells[0];
    }
    ++compared;
  }
  EXPECT_EQ(compared, sweep.designs.size());
}

std::vector<Case> cases() {
  constexpr std::size_t kNetworks = 10, kBatches = 2;
  std::vector<Case> all;
  for (std::size_t i = 0; i < kNetworks * kBatches; ++i)
    all.push_back({i / kBatches, i % kBatches});
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Predictions, testing::ValuesIn(cases()));

}  // namespace
}  // namespace gemm64
