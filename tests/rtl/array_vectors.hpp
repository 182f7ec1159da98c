// SPDX-License-Identifier: Apache-2.0
// Stimulus of the systolic array, cycle by cycle, with the sums that must come out. The same
// vectors go through Verilator (array_test.cpp) and through Icarus Verilog (tests/rtl/icarus).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace gemm64::rtl_test {

enum class Operands { kRandom, kLowest, kHighest, kAlternating };

/// Tiles that follow each other: each has min_rows to max_rows rows, then up to max_gap idle
/// cycles. With early_weights they come as soon as at random between the earliest and the latest
/// clock.
struct ArrayPlan {
  Operands operands = Operands::kRandom;
  unsigned tiles = 8;
  unsigned min_rows = 1;
  unsigned max_rows = 12;
  unsigned max_gap = 0;
  bool early_weights = false;
  std::uint32_t seed = 1;
};

/// Inputs of one cycle, and what sum_o shows in it; only columns that are `checked` mean anything.
struct ArrayClock {
  bool weight_valid = false;
  unsigned weight_column = 0;
  std::vector<std::int8_t> weight;  // n: row k of the column
  bool activation_valid = false;
  std::vector<std::int8_t> activation;  // n: element k of the row
  std::vector<std::int32_t> sum;        // n columns
  std::vector<bool> checked;            // n columns
};

/// The cycles of `plan` for an array of n x n whose columns are due `latency` + column cycles after
/// a row went in. What means nothing (idle inputs) is noise.
inline std::vector<ArrayClock> array_cycles(unsigned n, unsigned latency, const ArrayPlan& plan) {
  std::mt19937 random(plan.seed);
  const auto any_byte = [&random] { return static_cast<std::int8_t>(random()); };
  const auto pick = [&random](unsigned low, unsigned high) {
    return low + static_cast<unsigned>(random() % (high - low + 1));
  };
  const auto operand = [&](unsigned index) -> std::int8_t {
    switch (plan.operands) {
      case Operands::kLowest:
        return -128;
      case Operands::kHighest:
        return 127;
      case Operands::kAlternating:
        return index % 2 == 0 ? -128 : 127;
      case Operands::kRandom:
        break;
    }
    return any_byte();
  };

  std::vector<ArrayClock> cycles;
  const auto at = [&](std::size_t clock) -> ArrayClock& {
    while (cycles.size() <= clock) {
      ArrayClock idle;
      idle.weight_column = pick(0, n - 1);
      for (unsigned k = 0; k < n; ++k) idle.weight.push_back(any_byte());
      for (unsigned k = 0; k < n; ++k) idle.activation.push_back(any_byte());
      idle.sum.resize(n);
      idle.checked.resize(n);
      cycles.push_back(idle);
    }
    return cycles[clock];
  };

  std::size_t weights_free = 1;  // first cycle in which column 0 may be written
  std::size_t rows_free = 1;     // first cycle in which a row may enter
  for (unsigned tile = 0; tile < plan.tiles; ++tile) {
    const unsigned rows = pick(plan.min_rows, plan.max_rows);
    const std::size_t start = std::max(rows_free, weights_free) + pick(0, plan.max_gap);
    // Column c may change as soon as the last row before has passed it, c cycles after that row's
    // entry.
    const std::size_t earliest = std::max(rows_free, weights_free);
    const std::size_t first_column =
        plan.early_weights ? earliest + random() % (start - earliest + 1) : start;
    std::vector<std::vector<std::int8_t>> weights(n, std::vector<std::int8_t>(n));
    for (unsigned c = 0; c < n; ++c) {
      for (unsigned k = 0; k < n; ++k) weights[c][k] = operand(c + k + tile);
      ArrayClock& clock = at(first_column + c);
      clock.weight_valid = true;
      clock.weight_column = c;
      clock.weight = weights[c];
    }
    for (unsigned r = 0; r < rows; ++r) {
      std::vector<std::int8_t> row(n);
      for (unsigned k = 0; k < n; ++k) row[k] = operand(k + r);
      at(start + r).activation = row;
      at(start + r).activation_valid = true;
      for (unsigned c = 0; c < n; ++c) {
        std::int32_t sum = 0;
        for (unsigned k = 0; k < n; ++k) sum += row[k] * weights[c][k];
        ArrayClock& due = at(start + r + latency + c);
        due.sum[c] = sum;
        due.checked[c] = true;
      }
    }
    rows_free = start + rows;
    weights_free = first_column + n;
  }
  return cycles;
}

/// The largest sums of either sign, and some between, without a cycle between rows.
inline std::vector<ArrayPlan> extreme_plans(unsigned n) {
  std::vector<ArrayPlan> plans;
  for (const Operands operands :
       {Operands::kLowest, Operands::kHighest, Operands::kAlternating, Operands::kRandom}) {
    plans.push_back({operands, 2, n, n, 0, false, 1});
  }
  return plans;
}

/// The plans that every array goes through, in either simulator.
inline std::vector<ArrayPlan> array_plans(unsigned n) {
  std::vector<ArrayPlan> plans;
  for (const Operands operands :
       {Operands::kLowest, Operands::kHighest, Operands::kAlternating, Operands::kRandom}) {
    plans.push_back({operands, 6, n, n, 0, false, 1});  // not a cycle without a row
  }
  plans.push_back({Operands::kRandom, 8, 1, 1, 0, false, 2});          // weights bound the pace
  plans.push_back({Operands::kRandom, 8, 2 * n, 3 * n, 0, false, 3});  // rows bound the pace
  plans.push_back({Operands::kRandom, 8, 1, 2 * n, 3, false, 4});      // idle gaps
  plans.push_back({Operands::kRandom, 8, 1, 2 * n, 2 * n, true, 5});  // weights ahead of their rows
  return plans;
}

}  // namespace gemm64::rtl_test
