// SPDX-License-Identifier: Apache-2.0
#include "host/compile/slice_node.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "host/compile/numbered_node.hpp"
#include "host/graph/onnx/supported.hpp"

namespace gemm64 {

std::optional<std::vector<std::uint32_t>> read_slice(const HostNodes& nodes, int index) {
  const OnnxModel& model = nodes.model();
  const onnx::NodeProto& node = model.graph().node(index);
  const std::string name = operator_name(node);
  if ((name != "Slice" && name != "Gather") || node.input_size() == 0) return std::nullopt;
  const auto from = model.type(node.input(0)), to = model.type(node.output(0));
  if (!from || !to || from->dims.size() < 2 || to->dims.size() != from->dims.size()) {
    return std::nullopt;
  }
  for (std::size_t axis = 0; axis < from->dims.size(); ++axis) {
    if (axis != 1 && from->dims[axis] != to->dims[axis]) return std::nullopt;
  }
  // ONNX Runtime's results of the numbers of the channels say which they are; one value stands for
  // each.
  const std::int64_t channels = from->dims[1];
  std::vector<std::int64_t> dims = from->dims;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    // Of other axes all is taken; their sizes decide nothing but whether they are turned round.
    if (axis != 1) dims[axis] = std::min<std::int64_t>(dims[axis], 2);
  }
  Tensor numbers(onnx::TensorProto::INT64, dims);
  std::iota(numbers.mutable_values<std::int64_t>(),
            numbers.mutable_values<std::int64_t>() + numbers.elements(), std::int64_t{0});
  std::int64_t inner = 1;
  for (std::size_t axis = 2; axis < dims.size(); ++axis) inner *= dims[axis];
  const auto found = compute_numbers(nodes, index, {{0, std::move(numbers)}});
  dims[1] = to->dims[1];
  if (!found || found->dims() != dims || dims[1] == 0) return std::nullopt;
  std::vector<std::uint32_t> result;
  const std::int64_t* value = found->values<std::int64_t>();
  for (std::int64_t i = 0; i < found->elements(); ++i, ++value) {
    const std::int64_t outer = i / (dims[1] * inner), channel = *value / inner % channels;
    if (*value != (outer * channels + channel) * inner + i % inner) return std::nullopt;
    if (outer != 0 || i % inner != 0) continue;
    result.push_back(static_cast<std::uint32_t>(channel));
  }
  return result;
}

}  // namespace gemm64
