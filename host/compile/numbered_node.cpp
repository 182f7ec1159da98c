// SPDX-License-Identifier: Apache-2.0
#include "host/compile/numbered_node.hpp"

#include <fmt/format.h>

#include "host/graph/proto/tensor_data.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

std::optional<Tensor> compute_numbers(const HostNodes& nodes, int index,
                                      const std::map<int, Tensor>& numbers) {
  const OnnxModel& model = nodes.model();
  onnx::NodeProto node = model.graph().node(index);
  HostNodes::Values given;
  for (int i = 0; i < node.input_size(); ++i) {
    const auto number = numbers.find(i);
    const onnx::TensorProto* const constant = model.constant(node.input(i));
    if (number != numbers.end()) {
      node.set_input(i, fmt::format("numbers {}", i));
      given[node.input(i)] = number->second;
    } else if (!node.input(i).empty() && (constant == nullptr || !has_data(*constant))) {
      return std::nullopt;
    }
  }
  for (std::string& output : *node.mutable_output()) output += " of numbers";
  try {
    return nodes.kept_values({node.output(0)}, given, {node}).at(node.output(0));
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

}  // namespace gemm64
