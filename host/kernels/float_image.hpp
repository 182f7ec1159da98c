// SPDX-License-Identifier: Apache-2.0
// Convolutions with the bits that ONNX Runtime 1.31 gives on x86-64 with AVX-512: of images of few
// channels (a network's first layer, a vision transformer's patches), and with weights that it does
// not know before it runs.
#pragma once

#include "host/kernels/operators.hpp"
#include "host/kernels/window.hpp"

namespace gemm64 {

/// Does ONNX Runtime read images of so many channels as they lie? More are regrouped by 16.
inline bool has_few_channels(const Dims& image, std::int64_t groups) {
  return groups == 1 && image.size() == 4 && image[1] < 16;
}

/// [N, C, H, W] by weights [M, C, kh, kw]: the taps of a channel are one chain of fused operations,
/// channels are added in order, the bias, [M] or absent, comes last. (MLAS: snchwc.cpp,
/// SconvKernelAvx512F.S)
Tensor convolve_image(const Tensor& x, const Tensor& weights, const Tensor& bias,
                      const SpatialWindow& window);

/// [N, C, spatial...] by weights [M, C / groups, kernel...], which are no constants for ONNX
/// Runtime, as those of a DequantizeLinear: for each group a product of the weights with a matrix
/// that has the values of a window in each column. The bias, [M] or absent, comes last. (MLAS:
/// convolve.cpp)
Tensor convolve_expanded(const Tensor& x, const Tensor& weights, const Tensor& bias,
                         const SpatialWindow& window, std::int64_t groups);

}  // namespace gemm64
