// SPDX-License-Identifier: Apache-2.0
// Exact products of 8-bit integers on any processor: differences from a zero point fit 16 bits, and
// sums of their products 32.
#pragma once

#include <cstdint>
#include <vector>

namespace gemm64 {

/// Rows of numbers from -255 to 255, each followed by zeros up to a multiple of 32, a register of
/// AVX-512.
class IntegerRows {
 public:
  IntegerRows(std::int64_t rows, std::int64_t length)
      : rows_(rows),
        stride_((length + kMultiple - 1) / kMultiple * kMultiple),
        values_(static_cast<std::size_t>(rows * stride_)) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t stride() const { return stride_; }
  std::int16_t* row(std::int64_t row) { return values_.data() + row * stride_; }
  const std::int16_t* row(std::int64_t row) const { return values_.data() + row * stride_; }

 private:
  static constexpr std::int64_t kMultiple = 32;

  std::int64_t rows_, stride_;
  std::vector<std::int16_t> values_;
};

/// to[i * step + j] = the sum of a.row(i)[k] * b.row(j)[k], for j below `b_rows`. Rows are of the
/// same length. Sums beyond 32 bits wrap.
void multiply_rows(const IntegerRows& a, const IntegerRows& b, std::int64_t b_rows,
                   std::int32_t* to, std::int64_t step);

}  // namespace gemm64
