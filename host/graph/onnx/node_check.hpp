// SPDX-License-Identifier: Apache-2.0
// Holds each node against its operator's definition.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Versions by domain; ONNX's own domain is "".
using Opsets = std::map<std::string, std::int64_t>;

/// Checks a model's nodes, those of subgraphs included: operators that exist in their opset, with
/// as many inputs and outputs and such attributes as those have; in subgraphs also names. The outer
/// graph's names have been checked before. Throws UsageError, which names `file` and the node.
void check_nodes(const onnx::ModelProto& model, const Opsets& opsets, const std::string& file);

}  // namespace gemm64
