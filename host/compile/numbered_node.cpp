// SPDX-License-Identifier: Apache-2.0
#include "host/compile/numbered_node.hpp"

#include <utility>

#include "host/graph/onnx/operator.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

std::optional<Tensors> with_constants(const OnnxModel& model, int index, Tensor numbers) {
  const onnx::NodeProto& node = model.graph().node(index);
  Tensors inputs = {std::move(numbers)};
  for (int i = 1; i < node.input_size(); ++i) {
    const onnx::TensorProto* const constant = model.constant(node.input(i));
    if (!node.input(i).empty() && (constant == nullptr || !has_data(*constant))) {
      return std::nullopt;
    }
    inputs.push_back(constant == nullptr ? Tensor() : Tensor::from_proto(*constant));
  }
  return inputs;
}

std::optional<Tensor> compute_node(const OnnxModel& model, int index, const Tensors& inputs) {
  const onnx::NodeProto& node = model.graph().node(index);
  try {
    const NodeContext context{&node, node_label(node, index), model.opset()};
    return compute(*find_operator(node.domain(), node.op_type()), context, inputs)[0];
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

}  // namespace gemm64
