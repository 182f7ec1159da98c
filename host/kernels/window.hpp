// SPDX-License-Identifier: Apache-2.0
// How the window of a convolution or pooling moves over its input.
#pragma once

#include "host/kernels/operators.hpp"

namespace gemm64 {

/// By spatial axis. `begin` and `end` are the padding before and after the input.
struct SpatialWindow {
  Dims kernel, strides, dilations, begin, end, output;

  /// Is the kernel as large as the map of an input of `dims` [N, C, spatial...], without padding?
  bool is_whole_map(const Dims& dims) const;
};

/// The window of a node over an input of `dims` [N, C, spatial...], from its attributes (strides,
/// dilations, pads, auto_pad, ceil_mode). With ceil_mode no window starts in the padding at the
/// end, as in PyTorch and ONNX Runtime. Throws UsageError where attributes do not fit.
SpatialWindow make_window(const NodeContext& node, const Dims& dims, const Dims& kernel);

/// The attribute kernel_shape. Throws UsageError where it is missing or not of `axes` sizes.
Dims kernel_shape(const NodeContext& node, std::size_t axes);

}  // namespace gemm64
