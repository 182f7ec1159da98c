// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/operators.hpp"

#include <fmt/format.h>

namespace gemm64 {
UsageError failure(const NodeContext& node, const std::string& what) {
  return UsageError(fmt::format("{}: {}", node.label, what));
}

const Tensor& optional_input(const Tensors& inputs, std::size_t index) {
  static const Tensor absent;
  return index < inputs.size() ? inputs[index] : absent;
}

const Tensor& input(const NodeContext& node, const Tensors& inputs, std::size_t index) {
  const Tensor& tensor = optional_input(inputs, index);
  if (!tensor.present()) {
    throw failure(node, fmt::format("it has no input number {}, which it needs", index + 1));
  }
  return tensor;
}

}  // namespace gemm64
