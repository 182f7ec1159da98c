// SPDX-License-Identifier: Apache-2.0
#include "sim/models/column_array.hpp"

#include "tests/test.hpp"

namespace gemm64::column_array {
namespace {

using Sums = std::array<std::uint32_t, kColumns>;

/// What enters the array with an edge.
struct Edge {
  std::array<std::uint32_t, kStages> row{}, weights{};
  int column = -1;  // of the weights, or -1
  bool running = true;
};

/// The array's registers, stage by stage, as gemm64_skew.v and gemm64_stage.v have them, in 64-bit
/// integers: shares nothing with the step.
class Registers {
 public:
  void edge(const Edge& e) {
    for (std::size_t g = kStages; g-- > 0;) {  // from the last, which reads what is above
      for (std::size_t c = 0; c < kColumns; ++c) {
        std::int64_t sum = g == 0 ? 0 : sums_[g - 1][c];
        for (unsigned r = 0; r < kRows; ++r) {
          sum += byte(activations_[g][c], r) * byte(weights_[g][c], r);
        }
        sums_[g][c] = static_cast<std::uint32_t>(sum);
      }
      for (std::size_t c = kColumns - 1; c > 0; --c) activations_[g][c] = activations_[g][c - 1];
      activations_[g][0] = g == 0 ? e.row[0] : rows_[g - 1][g];
      const int column = g == 0 ? e.column : column_[g - 1];
      if (column >= 0) {
        weights_[g][static_cast<std::size_t>(column)] = g == 0 ? e.weights[0] : loads_[g - 1][g];
      }
    }
    for (std::size_t g = kStages - 1; g > 0; --g) {
      rows_[g] = rows_[g - 1];
      loads_[g] = loads_[g - 1];
      column_[g] = e.running ? column_[g - 1] : -1;
    }
    rows_[0] = e.row;
    loads_[0] = e.weights;
    column_[0] = e.running ? e.column : -1;
  }

  const Sums& sums() const { return sums_[kStages - 1]; }

 private:
  static std::int64_t byte(std::uint32_t word, unsigned r) {
    const std::int64_t value = word >> (8 * r) & 0xff;
    return value < 128 ? value : value - 256;
  }

  static std::array<int, kStages> none() {
    std::array<int, kStages> columns;
    columns.fill(-1);
    return columns;
  }

  std::array<Sums, kStages> sums_{}, activations_{}, weights_{};
  // Before stage 1 + g: whole words, and the column of the weights or -1.
  std::array<std::array<std::uint32_t, kStages>, kStages> rows_{}, loads_{};
  std::array<int, kStages> column_ = none();
};

/// Both through the same edges.
class Twins {
 public:
  void edge(const Edge& e) {
    Sums found{};
    enter_first(*array_, e.row[0]);
    step(*array_, found.data());
    std::uint32_t others[kStages - 1];
    std::copy(e.row.begin() + 1, e.row.end(), others);
    enter(*array_, others);
    if (e.column >= 0) {
      Words weights;
      std::copy(e.weights.begin(), e.weights.end(), weights);
      load(*array_, static_cast<unsigned>(e.column), weights);
    }
    if (!e.running) column_array::reset(*array_);
    registers_.edge(e);
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
      Edge e;
      e.row.fill(activation * 0x01010101u);
      e.weights.fill(weight * 0x01010101u);
      for (int c = 0; c < static_cast<int>(kColumns + kStages); ++c) {
        e.column = c < static_cast<int>(kColumns) ? c : -1;
        ASSERT_NO_FATAL_FAILURE(twins.edge(e));
      }
    }
  }
}

/// Extremes are frequent, and weights in flight meet resets.
TEST(ColumnArray, StepEqualsStagesForRandomEdges) {
  std::mt19937 random(1);
  const auto byte = [&] {
    const auto draw = static_cast<std::uint32_t>(random());
    return draw % 2 == 0 ? kExtremes[draw / 2 % kExtremes.size()] : draw >> 24;
  };
  const auto word = [&] { return byte() | byte() << 8 | byte() << 16 | byte() << 24; };
  Twins twins;
  for (int cycle = 0; cycle < 3000; ++cycle) {
    Edge e;
    for (std::size_t g = 0; g < kStages; ++g) {
      e.row[g] = word();
      e.weights[g] = word();
    }
    if (random() % 4 != 0) e.column = static_cast<int>(random() % kColumns);
    e.running = random() % 16 != 0;
    ASSERT_NO_FATAL_FAILURE(twins.edge(e));
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
  for (auto& value : array->excess) value = static_cast<std::uint32_t>(random());
  array->weights[3][5] = array->entered[3][100 + kStages + 5] = 0x80808080u;
  Sums expected{};
  add_plain(expected.data(), &array->entered[0][100], array->weights[0], array->excess);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    Sums found{};
    variants[i](found.data(), &array->entered[0][100], array->weights[0], array->excess);
    EXPECT_EQ(found, expected) << "variant " << i;
  }
}

}  // namespace
}  // namespace gemm64::column_array
