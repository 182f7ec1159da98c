// SPDX-License-Identifier: Apache-2.0
#include "sim/models/column_products.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace gemm64::column_products {
namespace {

using Sums = std::array<std::uint32_t, kColumns>;

struct Operands {
  Sums sums{};
  std::array<std::uint8_t, kRows * kRowStep> activations{};
  std::array<std::uint32_t, kColumns> weights{};
};

/// The definition, in 64-bit integers: shares nothing with the variants.
Sums expected(const Operands& operands) {
  Sums found{};
  for (int c = 0; c < kColumns; ++c) {
    std::int64_t sum = operands.sums[static_cast<std::size_t>(c)];
    for (int r = 0; r < kRows; ++r) {
      const auto at = static_cast<std::size_t>(r * kRowStep + c);
      const auto byte = (operands.weights[static_cast<std::size_t>(c)] >> (8 * r)) & 0xff;
      const std::int64_t weight = byte < 128 ? byte : static_cast<std::int64_t>(byte) - 256;
      const std::int64_t activation = operands.activations[at] < 128
                                          ? operands.activations[at]
                                          : operands.activations[at] - 256;
      sum += activation * weight;
    }
    found[static_cast<std::size_t>(c)] = static_cast<std::uint32_t>(sum);
  }
  return found;
}

/// The variants that this processor has.
std::vector<decltype(&add)> variants() {
  std::vector<decltype(&add)> found = {add, add_plain};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) found.push_back(add_avx2);
  if (has_vnni()) found.push_back(add_vnni);
#endif
  return found;
}

void expect_equal(const Operands& operands) {
  const Sums right = expected(operands);
  const auto all = variants();
  for (std::size_t i = 0; i < all.size(); ++i) {
    Sums found{};
    all[i](found.data(), operands.sums.data(), operands.activations.data(),
           operands.weights.data());
    EXPECT_EQ(found, right) << "variant " << i;
  }
}

/// step() computes the same, and its rows have moved on by then.
void expect_step(const Operands& operands) {
  constexpr Entering kEntering = {{11, 22, 33, 44}};
  Sums found{};
  auto activations = operands.activations;
  step(found.data(), operands.sums.data(), activations.data(), operands.weights.data(), kEntering);
  EXPECT_EQ(found, expected(operands));
  for (std::size_t r = 0; r < kRows; ++r) {
    EXPECT_EQ(activations[r * kRowStep], kEntering.row[r]);
    for (std::size_t c = 1; c < kRowStep; ++c) {
      EXPECT_EQ(activations[r * kRowStep + c], operands.activations[r * kRowStep + c - 1]);
    }
  }
}

TEST(ColumnProducts, ExactForAllExtremes) {
  constexpr std::array<std::uint8_t, 5> kExtremes = {0x80, 0xff, 0x00, 0x01, 0x7f};
  for (const std::uint8_t activation : kExtremes) {
    for (const std::uint8_t weight : kExtremes) {
      for (const std::uint32_t sum : {0u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
        Operands operands;
        operands.sums.fill(sum);
        operands.activations.fill(activation);
        operands.weights.fill(weight * 0x01010101u);
        expect_equal(operands);
      }
    }
  }
}

TEST(ColumnProducts, EachByteReachesItsColumnOnly) {
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      Operands operands;
      for (std::size_t i = 0; i < kColumns; ++i) operands.weights[i] = 0x04030201u;
      operands.activations[static_cast<std::size_t>(r * kRowStep + c)] = 1;
      expect_equal(operands);
    }
  }
}

TEST(ColumnProducts, ExactForRandomOperands) {
  std::mt19937 random(1);
  for (int draw = 0; draw < 1000; ++draw) {
    Operands operands;
    for (auto& value : operands.sums) value = static_cast<std::uint32_t>(random());
    for (auto& value : operands.activations) value = static_cast<std::uint8_t>(random());
    for (auto& value : operands.weights) value = static_cast<std::uint32_t>(random());
    expect_equal(operands);
    expect_step(operands);
  }
}

TEST(ColumnProducts, FirstStageAddsToNothing) {
  Operands operands;
  operands.activations.fill(0x7f);
  operands.weights.fill(0x80ff017fu);
  const Sums right = expected(operands);
  for (const auto variant : variants()) {
    Sums found{};
    variant(found.data(), nullptr, operands.activations.data(), operands.weights.data());
    EXPECT_EQ(found, right);
  }
}

}  // namespace
}  // namespace gemm64::column_products
