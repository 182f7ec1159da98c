// SPDX-License-Identifier: Apache-2.0
// The float32 network's values beside those of a network with quantized layers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/execute/executor.hpp"

namespace gemm64 {

/// The float32 values that differ from those that the device's layers led to.
class ExactValues {
 public:
  /// `arguments` of a node with the float32 network's values; nothing where they are the same.
  std::optional<Tensors> arguments(const Step& step, const Tensors& arguments) const {
    Tensors exact = arguments;
    bool differ = false;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const auto found = values_.find(step.context.node->input(static_cast<int>(i)));
      if (found == values_.end()) continue;
      exact[i] = found->second;
      differ = true;
    }
    if (!differ) return std::nullopt;
    return exact;
  }

  void store(const Step& step, const Tensors& outputs) {
    const onnx::NodeProto& node = *step.context.node;
    for (int i = 0; i < node.output_size(); ++i) {
      if (!node.output(i).empty()) {
        values_[node.output(i)] = outputs.at(static_cast<std::size_t>(i));
      }
    }
  }

  void store(const std::string& name, const Tensor& value) { values_[name] = value; }

  void forget(const std::vector<std::string>& names) {
    for (const std::string& name : names) values_.erase(name);
  }

  const Tensor* find(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  Values values_;
};

}  // namespace gemm64
