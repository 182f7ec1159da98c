// SPDX-License-Identifier: Apache-2.0
// Products of rows in 8-bit steps with weights of 4 bits in blocks, with the bits that ONNX Runtime
// 1.31 gives a MatMulNBits of accuracy_level 4 on x86-64 with AVX-512 and VNNI.
//
// A block of 16 to 256 values has a step in its row, and a step and a zero point in its column.
// Integers are multiplied and added exactly, four or eight products at a time; these parts, times
// both steps, are added by fused operations in 16 sums, one for each lane of a register, and the
// lanes at the end. What zero points take away is a second sum: of each block, the row's integers
// times its step, times the column's step and zero point. (MLAS: qnbitgemm.cpp,
// sqnbitgemm_kernel_avx512vnni.cpp, sqnbitgemm_kernel_avx512_int8_blklen*.h)
#pragma once

#include <cstdint>
#include <vector>

namespace gemm64 {

/// Blocks of rows: whole ones, with zeros behind a row's end.
struct BlockRows {
  std::int64_t count;               ///< of rows
  std::vector<std::int8_t> values;  ///< [count x blocks x size]
  std::vector<float> steps;         ///< [count x blocks]
};

/// A column's blocks.
struct BlockColumn {
  std::vector<std::uint8_t> values;  ///< [blocks x size], 0 to 15
  std::vector<float> steps;          ///< [blocks]
  std::vector<std::uint8_t> zeros;   ///< [blocks]
};

/// The rows times column `number` of `columns`; to[row x columns]. `size`, of a block, is a power
/// of two from 16 to 256; `bias` is added where it is not nullptr.
void multiply_blocks(const BlockRows& rows, const BlockColumn& column, std::int64_t size,
                     std::int64_t number, std::int64_t columns, const float* bias, float* to);

}  // namespace gemm64
