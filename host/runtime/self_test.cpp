// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/self_test.hpp"

#include <fmt/format.h>

#include <random>

#include "host/runtime/job_runner.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

// Rows that meet each tile, and tiles along K and along N.
constexpr std::uint64_t kRows = 32;
constexpr std::uint64_t kTiles = 8;

void fill(MatrixI8& matrix, std::mt19937& random) {
  for (Eigen::Index i = 0; i < matrix.size(); ++i) {
    matrix.data()[i] = static_cast<std::int8_t>(random() >> 24);
  }
}

}  // namespace

SelfTest self_test(Device& device, Driver& driver) {
  const std::uint64_t side = kTiles * driver.geometry().n;
  const GemmShape shape{kRows, side, side};
  std::mt19937 random(1);
  MatrixI8 a(static_cast<Eigen::Index>(shape.m), static_cast<Eigen::Index>(shape.k));
  MatrixI8 w(static_cast<Eigen::Index>(shape.n), static_cast<Eigen::Index>(shape.k));
  fill(a, random);
  fill(w, random);

  SelfTest test;
  JobRunner runner(device, driver, RunOptions());
  try {
    MatrixI32 sums;
    const LayerReport layer =
        runner.run(runner.job("self-test", shape), a, w, sums, ProgressShare());
    test.sums = shape.m * shape.n;
    test.mismatches = layer.mismatches;
    test.cycles = layer.counters[counter::kTotalClocks];
    if (!layer.faults.empty()) {
      test.error = fmt::format("the device found a fault of its own: {}", layer.faults[0].error);
    }
  } catch (const DeviceError& error) {
    test.error = error.what();
  }
  return test;
}

std::string in_words(const SelfTest& test) {
  if (test.passed()) {
    return fmt::format("self-test PASSED: {} sums equal the reference, in {} cycles",
                       grouped(test.sums), grouped(test.cycles));
  }
  if (!test.error.empty()) return fmt::format("self-test FAILED: {}", test.error);
  const Mismatches& wrong = test.mismatches;
  return fmt::format(
      "self-test FAILED: {} of {} sums are wrong; the first, at row {}, column {}, is {} instead "
      "of {}",
      grouped(wrong.count), grouped(test.sums), wrong.first_row, wrong.first_column, wrong.found,
      wrong.expected);
}

}  // namespace gemm64
