// SPDX-License-Identifier: Apache-2.0
// Products of float32 matrices with the bits that ONNX Runtime 1.31 gives on x86-64 with AVX-512,
// on one thread: C[M x N] = alpha A[M x K] B[K x N] + beta C.
//
// Each sum along K is one chain of fused operations in a block of K; blocks are added in order,
// each times alpha. The block is 256 long for weights, which ONNX Runtime packs before it runs;
// else 128, more where N is small. One row times a matrix that is no weight is not fused, and
// neither is a matrix times one column: four products at a time, or eight sums along K where the
// matrix is transposed. (MLAS: sgemm.cpp, SgemmKernelAvx512F.S, SgemmKernelM1Avx.S,
// SgemmKernelM1TransposeBAvx.S)
#pragma once

#include <cstdint>

namespace gemm64 {

/// A row-major matrix, or its transpose.
struct FloatFactor {
  const float* values;
  std::int64_t stride;  ///< between rows as they are stored
  bool transposed = false;

  const float* at(std::int64_t row, std::int64_t column) const {
    return values + (transposed ? column * stride + row : row * stride + column);
  }
};

struct FloatProduct {
  std::int64_t m, n, k;
  FloatFactor a, b;
  bool weights = false;  ///< b is a constant of the network, a matrix
  float alpha = 1;
  float beta = 0;          ///< 0: what C held does not count
  std::int64_t chain = 0;  ///< how many terms are fused; 0: as ONNX Runtime's products have them
};

/// C is dense. The host's threads share the columns.
void multiply(const FloatProduct& product, float* c);

}  // namespace gemm64
