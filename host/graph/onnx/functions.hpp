// SPDX-License-Identifier: Apache-2.0
// Functions that a model brings along, put where they are called.
#pragma once

#include <string>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Replaces each node that calls a function of the model by the function's nodes, those that
/// functions call included, and removes the functions. Before:
///
///     y = local.Twice(x)          with Twice(a) => (b) {b = Add(a, a)}
///
/// After: y = Add(x, x). Values inside get names that nothing else has, nodes the caller's name in
/// front. Throws UsageError, which names `file` and the function, where one calls itself, is called
/// with more values than it has, is for another opset than the file, or makes more than 200,000
/// nodes.
void inline_functions(onnx::ModelProto& model, const std::string& file);

}  // namespace gemm64
