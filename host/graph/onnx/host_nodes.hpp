// SPDX-License-Identifier: Apache-2.0
// Nodes of a network in sessions of ONNX Runtime.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/graph/onnx/model.hpp"
#include "host/kernels/tensor.hpp"
#include "host/ort/library.hpp"

namespace gemm64 {

/// Computes values of a network from others, by ONNX Runtime's CPU provider. A session for each
/// kind of request is made once. Any thread may call it.
class HostNodes {
 public:
  using Values = std::unordered_map<std::string, Tensor>;

  /// The model outlives this.
  explicit HostNodes(const OnnxModel& model) : model_(model) {}

  const OnnxModel& model() const { return model_; }

  /// Returns the values `wanted`. Of the nodes that they depend on, those run whose results are
  /// neither constants nor `given`. Throws UsageError if a value is missing, or ONNX Runtime
  /// refuses a node.
  std::map<std::string, Tensor> values(const std::vector<std::string>& wanted,
                                       const Values& given) const;
  /// The same with nodes in addition to the network's.
  std::map<std::string, Tensor> values(const std::vector<std::string>& wanted, const Values& given,
                                       const std::vector<onnx::NodeProto>& more) const;
  /// The same of few values, which are kept for all networks that have such nodes. No session is
  /// kept.
  std::map<std::string, Tensor> kept_values(const std::vector<std::string>& wanted,
                                            const Values& given,
                                            const std::vector<onnx::NodeProto>& more = {}) const;

 private:
  struct Maker {
    const onnx::NodeProto* node = nullptr;
    int index = 0;
  };
  using Makers = std::unordered_map<std::string, Maker>;
  struct Part;
  class PartModel;
  std::shared_ptr<const Part> part(const std::vector<std::string>& wanted, const Values& given,
                                   const std::vector<onnx::NodeProto>& more) const;
  const Makers& makers() const;

  const OnnxModel& model_;
  mutable std::mutex mutex_;
  mutable std::once_flag once_;
  mutable Makers makers_;  // of each value
  mutable std::map<std::string, std::shared_ptr<const Part>> parts_;
};

}  // namespace gemm64
