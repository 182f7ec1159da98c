// SPDX-License-Identifier: Apache-2.0
// Attributes of nodes as text, and the range of each over all nodes of a kind.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/analysis/analysis.hpp"

namespace gemm64 {

/// Name and value of each attribute of a node, in the file's order: "3x3" for lists of numbers.
/// Includes constant bounds that newer opsets pass to Clip as inputs.
std::vector<std::pair<std::string, std::string>> attribute_texts(const OnnxModel& model,
                                                                 const onnx::NodeProto& node);

/// Adds a node to the ranges of its kind.
void add_attributes(const OnnxModel& model, const onnx::NodeProto& node, OperatorKind& kind);

/// The attributes on one line, without those that have their operator's default.
std::string short_attributes(const LayerAnalysis& layer);

}  // namespace gemm64
