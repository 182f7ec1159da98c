// SPDX-License-Identifier: Apache-2.0
// Float nodes as ONNX Runtime joins them at its default level before it runs them, where the joined
// kernel rounds otherwise: every bit of a float32 depends on it.
#pragma once

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// The model after all of the rewrites called join_*, in ONNX Runtime's order: functions written as
/// primitives, biases of products, sums before normalizations, turned and scaled products.
OnnxModel fuse_nodes(OnnxModel model, const ImportOptions& import = {});

}  // namespace gemm64
