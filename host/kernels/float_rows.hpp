// SPDX-License-Identifier: Apache-2.0
// Rows of float32 by their statistics, with the bits that ONNX Runtime 1.31 gives on x86-64 with
// AVX-512: which values share a partial sum, and which products are fused, is part of each
// contract.
#pragma once

#include <cstdint>

namespace gemm64 {

/// What a row was normalized by.
struct RowStatistics {
  float mean;
  float inverse;  ///< 1 / sqrt(variance + epsilon)
};

/// (x - mean) / deviation * scale + bias; the bias may be null. `to` may be `from`.
/// From 8 values on, the mean is summed in double in 4 parts and the variance in float in 8 (MLAS's
/// layernorm_kernel_avx2.cpp); fewer are taken in order.
RowStatistics layer_normalize(const float* from, float* to, std::int64_t length, const float* scale,
                              const float* bias, float epsilon);

/// x / root of the mean square * scale. From 16 values on, the squares are summed in 8 parts; fewer
/// are taken in order. Its mean is 0.
RowStatistics rms_normalize(const float* from, float* to, std::int64_t length, const float* scale,
                            float epsilon);

/// The same value after value, layer normalization by Welford's method: what ONNX Runtime takes for
/// sums with what a layer skipped (skip_layer_norm.cc) and for short rows (layer_norm_impl.cc).
RowStatistics layer_normalize_in_order(const float* from, float* to, std::int64_t length,
                                       const float* scale, const float* bias, float epsilon);
RowStatistics rms_normalize_in_order(const float* from, float* to, std::int64_t length,
                                     const float* scale, float epsilon);

/// e^(x - largest) divided by their sum, of 16 parts (compute.cpp). `to` may be `from`.
void softmax(const float* from, float* to, std::int64_t length);
/// Its logarithm.
void log_softmax(const float* from, float* to, std::int64_t length);

/// Their sum as Eigen takes it for registers of 4: two sums of 4 parts each from the first value
/// that lies at a multiple of 4 on, then what stands before and behind, in order. `place` is the
/// row's place in its tensor, which itself begins at a multiple.
float sum(const float* from, std::int64_t length, std::int64_t place);

}  // namespace gemm64
