// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/fold.hpp"

#include "host/graph/onnx/operator.hpp"

namespace gemm64 {

std::optional<std::vector<onnx::TensorProto>> fold(const onnx::NodeProto& node, std::int64_t opset,
                                                   const std::vector<onnx::TensorProto>& inputs) {
  const OperatorInfo* info = find_operator(node.domain(), node.op_type());
  if (info == nullptr || info->function == nullptr || opset < info->since) return std::nullopt;
  try {
    Tensors arguments;
    for (const onnx::TensorProto& input : inputs) {
      const bool given = input.data_type() != onnx::TensorProto::UNDEFINED;
      arguments.push_back(given ? Tensor::from_proto(input) : Tensor());
    }
    std::vector<onnx::TensorProto> outputs;
    for (const Tensor& result : compute(*info, {&node, "", opset}, arguments)) {
      outputs.push_back(result.to_proto());
    }
    return outputs;
  } catch (const UsageError&) {
    return std::nullopt;  // who runs the network is told
  }
}

}  // namespace gemm64
