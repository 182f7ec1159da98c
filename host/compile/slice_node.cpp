// SPDX-License-Identifier: Apache-2.0
#include "host/compile/slice_node.hpp"

#include <algorithm>

#include "host/error.hpp"
#include "host/kernels/operators.hpp"
#include "host/onnx/operator.hpp"
#include "host/onnx/supported.hpp"
#include "host/proto/tensor_data.hpp"

namespace gemm64 {

std::optional<std::vector<std::uint32_t>> read_slice(const OnnxModel& model, int index) {
  const onnx::NodeProto& node = model.graph().node(index);
  if (operator_name(node) != "Slice" || node.input_size() == 0) return std::nullopt;
  const auto from = model.type(node.input(0)), to = model.type(node.output(0));
  if (!from || !to || from->dims.size() < 2 || to->dims.size() != from->dims.size()) {
    return std::nullopt;
  }
  for (std::size_t axis = 0; axis < from->dims.size(); ++axis) {
    if (axis != 1 && from->dims[axis] != to->dims[axis]) return std::nullopt;
  }
  // The host's kernel on the numbers of the channels says which they are; one value stands for
  // each.
  const std::int64_t channels = from->dims[1];
  std::vector<std::int64_t> dims = from->dims;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    // Of other axes all is taken; their sizes decide nothing but whether they are turned round.
    if (axis != 1) dims[axis] = std::min<std::int64_t>(dims[axis], 2);
  }
  Tensors inputs = {Tensor(onnx::TensorProto::INT64, dims)};
  const std::int64_t elements = inputs[0].elements();
  std::int64_t inner = 1;
  for (std::size_t axis = 2; axis < dims.size(); ++axis) inner *= dims[axis];
  std::int64_t* const numbers = inputs[0].mutable_values<std::int64_t>();
  for (std::int64_t i = 0; i < elements; ++i) numbers[i] = i;
  for (int i = 1; i < node.input_size(); ++i) {
    const onnx::TensorProto* const constant = model.constant(node.input(i));
    if (!node.input(i).empty() && (constant == nullptr || !has_data(*constant))) {
      return std::nullopt;
    }
    inputs.push_back(constant == nullptr ? Tensor() : Tensor::from_proto(*constant));
  }
  std::vector<std::uint32_t> result;
  try {
    const NodeContext context{&node, node_label(node, index), model.opset()};
    const Tensor found = compute(*find_operator(node.domain(), node.op_type()), context, inputs)[0];
    dims[1] = to->dims[1];
    if (found.dims() != dims || dims[1] == 0) return std::nullopt;
    const std::int64_t* value = found.values<std::int64_t>();
    for (std::int64_t i = 0; i < found.elements(); ++i, ++value) {
      const std::int64_t outer = i / (dims[1] * inner), channel = *value / inner % channels;
      if (*value != (outer * channels + channel) * inner + i % inner) return std::nullopt;
      if (outer != 0 || i % inner != 0) continue;
      result.push_back(static_cast<std::uint32_t>(channel));
    }
  } catch (const UsageError&) {  // where it runs, the host will tell of it
    return std::nullopt;
  }
  return result;
}

}  // namespace gemm64
