// SPDX-License-Identifier: Apache-2.0
// What each input of a node is to the network.
#pragma once

#include "host/onnx/model.hpp"

namespace gemm64 {

enum class Operand {
  kActivation,  // made by another node, or an input of the graph
  kWeight,      // trained, and multiplied or looked up
  kBias,        // trained, and added
  kStatistic,   // measured in training: the mean and variance of BatchNormalization
  kSetting      // shapes, axes, bounds and the like: no data of the network
};

/// What input `i` of `node` is. Constants that reach the node through Identity are still constants.
Operand operand(const OnnxModel& model, const onnx::NodeProto& node, int i);

/// Does the operator hand on its input's memory under another name or shape? (Reshape, Flatten,
/// Squeeze, Unsqueeze, Identity; and Constant, which makes nothing while the network runs.)
bool is_view(const onnx::NodeProto& node);

}  // namespace gemm64
