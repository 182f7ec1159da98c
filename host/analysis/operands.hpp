// SPDX-License-Identifier: Apache-2.0
// What each input of a node is to the network.
#pragma once

#include <map>
#include <set>
#include <string>

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

enum class Operand {
  kActivation,  // made by another node, or an input of the graph
  kWeight,      // trained, and multiplied or looked up
  kBias,        // trained, and added
  kStatistic,   // measured in training: the mean and variance of BatchNormalization
  kSetting      // shapes, axes, bounds and the like: no data of the network
};

/// What input `i` of `node` is. What is computed only from constants is a constant.
Operand operand(const OnnxModel& model, const onnx::NodeProto& node, int i);

/// Is the node computed before the network runs, since it makes only constants?
bool is_folded(const OnnxModel& model, const onnx::NodeProto& node);

/// Follows constants back through the nodes that make them (transposed, dequantized, ...) to the
/// tensors that were trained.
class Origins {
 public:
  explicit Origins(const OnnxModel& model);

  /// The tensors that `value` is made of: itself where nothing makes it from data.
  std::set<std::string> of(const std::string& value) const;

 private:
  const OnnxModel& model_;
  std::map<std::string, const onnx::NodeProto*> producers_;  // of values from constants
};

}  // namespace gemm64
