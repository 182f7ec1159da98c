// SPDX-License-Identifier: Apache-2.0
// Types, shapes and constants of a graph's values by ONNX Runtime.
#pragma once

#include <map>
#include <string>

#include "host/graph/onnx/shapes.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// The file's types of values, by name; sizes may be open.
using DeclaredValues = std::map<std::string, onnx::ValueInfoProto>;

/// Adds to `facts`, which has the types of the model's inputs and constants, those of all values
/// that follow from them, and the values of small ones. Weights need no data. ONNX Runtime is not
/// asked about operators that it does not know; their outputs are as declared. Throws UsageError,
/// naming `file` and the node, if it refuses the model.
void infer_values(const onnx::ModelProto& model, const DeclaredValues& declared,
                  const std::string& file, ValueFacts& facts);

}  // namespace gemm64
