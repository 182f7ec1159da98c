// SPDX-License-Identifier: Apache-2.0
// Operands of a convolution as the accelerator reads them.
#pragma once

#include <cstdint>
#include <vector>

#include "host/numerics/matrix.hpp"
#include "host/tiling/window_cut.hpp"

namespace gemm64 {

/// W[out channels x (channels of a group, tap rows, tap columns)] as tiles in the order of a block:
/// [pass][plane][tap row][tap column]. A tile holds its columns (output channels) one after the
/// other, n channels of the input each; what belongs to another group, or to no channel, is zero.
std::vector<std::uint8_t> pack_window_weights(const WindowCut& cut, const MatrixI8& weights);

/// A[pixels x channels] as planes of n channels, each with all its pixels.
std::vector<std::uint8_t> pack_pixels(const MatrixI8& activations, std::uint32_t n);

}  // namespace gemm64
