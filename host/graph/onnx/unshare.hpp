// SPDX-License-Identifier: Apache-2.0
// Constants that several nodes read, as one for each.
#pragma once

#include <vector>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Copies each int8 initializer of the graph and of its nodes' bodies that several inputs of that
/// graph's nodes read, so that each reads its own. ONNX Runtime's option
/// "session.x64quantprecision" makes a uint8 constant of each with a name that follows from the
/// int8 one's, and rejects the second constant of a name. `weights` are the initializers whose
/// data the graph only refers to; copies have the data.
void unshare_int8(onnx::GraphProto& graph, const std::vector<const onnx::TensorProto*>& weights);

}  // namespace gemm64
