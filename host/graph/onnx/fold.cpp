// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/fold.hpp"

#include "host/ort/api.hpp"
#include "host/ort/run_node.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

std::optional<std::vector<onnx::TensorProto>> fold(const onnx::NodeProto& node, std::int64_t opset,
                                                   const std::vector<onnx::TensorProto>& inputs) {
  try {
    std::vector<Tensor> arguments;
    for (const onnx::TensorProto& input : inputs) {
      const bool given = input.data_type() != onnx::TensorProto::UNDEFINED;
      arguments.push_back(given ? Tensor::from_proto(input) : Tensor());
    }
    std::vector<onnx::TensorProto> outputs;
    for (const Tensor& result : ort::run_node(node, opset, arguments)) {
      outputs.push_back(result.present() ? result.to_proto() : onnx::TensorProto());
    }
    return outputs;
  } catch (const UsageError&) {
    return std::nullopt;
  } catch (const ort::Error&) {  // it refuses the node again when the network runs
    return std::nullopt;
  }
}

}  // namespace gemm64
