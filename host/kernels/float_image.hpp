// SPDX-License-Identifier: Apache-2.0
// Convolutions of images of few channels, with the bits that ONNX Runtime 1.31 gives on x86-64 with
// AVX-512: a network's first layer, and a vision transformer's patches.
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

}  // namespace gemm64
