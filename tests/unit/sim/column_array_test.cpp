// SPDX-License-Identifier: Apache-2.0
#include "sim/models/column_array.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace gemm64::column_array {
namespace {

using Sums = std::array<std::uint32_t, kColumns>;

/// The array's registers, stage by stage, as gemm64_stage.v has them, in 64-bit integers: shares
/// nothing with the step.
class Registers {
 public:
  /// One edge. entering: of each stage; column: of the weights that each stage gets, or -1.
  void edge(const std::vector<std::uint32_t>& entering, const std::vector<int>& column,
            const std::vector<std::uint32_t>& weights) {
    for (std::size_t g = kStages; g-- > 0;) {  // from the last, which reads the sums above
      for (std::size_t c = 0; c < kColumns; ++c) {
        std::int64_t sum = g == 0 ? 0 : sums_[g - 1][c];
        for (unsigned r = 0; r < kRows; ++r) {
          sum += byte(activations_[g][c], r) * byte(weights_[g][c], r);
        }
        sums_[g][c] = static_cast<std::uint32_t>(sum);
      }
      for (std::size_t c = kColumns - 1; c > 0; --c) activations_[g][c] = activations_[g][c - 1];
      activations_[g][0] = entering[g];
      if (column[g] >= 0) weights_[g][static_cast<std::size_t>(column[g])] = weights[g];
    }
  }

  const Sums& sums() const { return sums_[kStages - 1]; }

 private:
  static std::int64_t byte(std::uint32_t word, unsigned r) {
    const std::int64_t value = word >> (8 * r) & 0xff;
    return value < 128 ? value : value - 256;
  }

  std::array<Sums, kStages> sums_{}, activations_{}, weights_{};
};

/// Both through the same edges.
class Twins {
 public:
  void edge(const std::vector<std::uint32_t>& entering, const std::vector<int>& column,
            const std::vector<std::uint32_t>& weights) {
    Sums found{};
    step(*array_, found.data());
    for (unsigned g = 0; g < kStages; ++g) {
      const std::uint32_t word = entering[g];
      enter(*array_, g, static_cast<std::uint8_t>(word), static_cast<std::uint8_t>(word >> 8),
            static_cast<std::uint8_t>(word >> 16), static_cast<std::uint8_t>(word >> 24));
      if (column[g] >= 0) load(*array_, g, static_cast<unsigned>(column[g]), weights[g]);
    }
    registers_.edge(entering, column, weights);
    ASSERT_EQ(found, registers_.sums()) << "cycle " << array_->cycle;
  }

 private:
  std::unique_ptr<Array> array_ = std::make_unique<Array>();
  Registers registers_;
};

constexpr std::array<std::uint8_t, 5> kExtremes = {0x80, 0xff, 0x00, 0x01, 0x7f};

TEST(ColumnArray, StepEqualsStagesForAllExtremes) {
  Twins twins;
  for (const std::uint8_t weight : kExtremes) {
    for (const std::uint8_t activation : kExtremes) {
      const std::vector<std::uint32_t> entering(kStages, activation * 0x01010101u);
      const std::vector<std::uint32_t> weights(kStages, weight * 0x01010101u);
      for (int c = 0; c < static_cast<int>(kColumns + kStages); ++c) {
        const std::vector<int> column(kStages, c < static_cast<int>(kColumns) ? c : -1);
        ASSERT_NO_FATAL_FAILURE(twins.edge(entering, column, weights));
      }
    }
  }
}

/// Each stage gets what it gets, and when, on its own; extremes are frequent.
TEST(ColumnArray, StepEqualsStagesForRandomEdges) {
  std::mt19937 random(1);
  const auto byte = [&] {
    const auto draw = static_cast<std::uint32_t>(random());
    return draw % 2 == 0 ? kExtremes[draw / 2 % kExtremes.size()] : draw >> 24;
  };
  const auto word = [&] { return byte() | byte() << 8 | byte() << 16 | byte() << 24; };
  Twins twins;
  for (int cycle = 0; cycle < 2000; ++cycle) {
    std::vector<std::uint32_t> entering(kStages), weights(kStages);
    std::vector<int> column(kStages);
    for (std::size_t g = 0; g < kStages; ++g) {
      entering[g] = word();
      weights[g] = word();
      column[g] = random() % 4 == 0 ? -1 : static_cast<int>(random() % kColumns);
    }
    ASSERT_NO_FATAL_FAILURE(twins.edge(entering, column, weights));
  }
}

TEST(ColumnArray, AllVariantsComputeTheSameSums) {
  std::vector<decltype(&add)> variants = {add};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) variants.push_back(add_avx2);
  if (has_vnni()) variants.push_back(add_vnni);
#endif
  std::mt19937 random(1);
  const auto array = std::make_unique<Array>();
  for (auto& stage : array->entered) {
    for (auto& value : stage) value = static_cast<std::uint32_t>(random());
  }
  for (auto& stage : array->weights) {
    for (auto& value : stage) value = static_cast<std::uint32_t>(random());
  }
  array->weights[3][5] = array->entered[3][100 + kStages - 3 + 5] = 0x80808080u;
  Sums expected{};
  add_plain(expected.data(), &array->entered[0][100], array->weights[0]);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    Sums found{};
    variants[i](found.data(), &array->entered[0][100], array->weights[0]);
    EXPECT_EQ(found, expected) << "variant " << i;
  }
}

}  // namespace
}  // namespace gemm64::column_array
