// SPDX-License-Identifier: Apache-2.0
// A model with its Linear layers as blocks.
#pragma once

#include "host/graph/onnx/model.hpp"
#include "host/graph/passes/rewrite_plan.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Replaces each layer of the plan, which was made of this model, where it stands. Weights stay
/// where they are and are not copied; names that the model has keep their meaning. Inputs and
/// outputs take the sizes that the model was imported with; those that the file leaves open stay
/// open unless a layer is cut along M.
///
/// Before: y = MatMul(x, w) with 128 rows of w. After: x and w split after 64, y = Sum(MatMul(x1,
/// w1), MatMul(x2, w2)).
onnx::ModelProto rewrite(OnnxModel model, const RewritePlan& plan);

}  // namespace gemm64
