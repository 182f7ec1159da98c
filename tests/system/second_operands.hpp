// SPDX-License-Identifier: Apache-2.0
// Results that take a second operand, and their expected values.
#pragma once

#include "host/util/float_bits.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {

/// Results of 8 bits that are added to, or multiplied with, int8 in memory.
inline Output vector_output(std::mt19937& random) {
  const auto at_most = [&random](float most) {
    return most * static_cast<float>(draw(random, 1, 1 << 20)) / static_cast<float>(1 << 20);
  };
  Output output = random_output(random);
  StoreCommand store;
  store.function_min = static_cast<std::uint32_t>(output.format.least()) & 0xff;
  store.function_max = static_cast<std::uint32_t>(output.format.largest()) & 0xff;
  store.offset = bits_of(std::ldexp(static_cast<float>(static_cast<int>(random())), -24));
  if (draw(random, 0, 2) != 0) {
    store.add = 1;
    store.swap = draw(random, 0, 1);
    store.result_scale = bits_of(0.0625F + at_most(2));
    store.operand_scale = bits_of(0.0625F + at_most(2));
  } else {
    store.multiply = 1;
    store.operand_scale = bits_of(0.001F + at_most(0.02F));
    store.result_zero = draw(random, 0, 255);
    store.operand_zero = draw(random, 0, 255);
  }
  // Operands in memory are int8.
  if (!output.format.is_signed()) store.operand_moved = store.result_moved = 1;
  output.vector = store;
  return output;
}

/// ONNX Runtime's QLinearAdd and QLinearMul of results and int8 operands, as int8.
inline MatrixI32 expected_vector(const Output& output, const MatrixI32& results,
                                 const MatrixI8& operands) {
  const StoreCommand& store = *output.vector;
  const int moved = output.format.is_signed() ? 0 : 128;
  const auto byte = [&](std::uint32_t bits) { return output.format.value(bits); };
  const float scale = from_bits(store.operand_scale), offset = from_bits(store.offset);
  MatrixI32 expected = results;
  for (Eigen::Index i = 0; i < expected.size(); ++i) {
    int a = results.data()[i], b = operands.data()[i] + moved;
    float sum;
    if (store.add != 0) {
      if (store.swap != 0) std::swap(a, b);
      sum = std::fma(static_cast<float>(a), from_bits(store.result_scale),
                     std::fma(static_cast<float>(b), scale, offset));
    } else {
      const auto product =
          static_cast<float>((a - byte(store.result_zero)) * (b - byte(store.operand_zero)));
      const volatile float scaled = product * scale;
      sum = scaled + offset;
    }
    const auto whole = static_cast<int>(std::lrint(sum));
    expected.data()[i] =
        std::clamp(whole, byte(store.function_min), byte(store.function_max)) - moved;
  }
  return expected;
}

}  // namespace gemm64::system_test
