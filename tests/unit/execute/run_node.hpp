// SPDX-License-Identifier: Apache-2.0
// One operator by itself, for tests.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "host/graph/onnx/operator.hpp"
#include "tests/unit/onnx_parser.hpp"

namespace gemm64 {

/// Runs a node such as "y = Split <axis = 1> (x)" on `inputs`, as a file of `opset` means it.
inline Tensors run_node(const std::string& text, const Tensors& inputs, std::int64_t opset = 13) {
  const onnx::NodeProto proto = parse_node(text);
  const OperatorInfo* info = find_operator(proto.domain(), proto.op_type());
  if (info == nullptr || info->function == nullptr) {
    throw std::runtime_error("no operator is called " + proto.op_type());
  }
  return compute(*info, {&proto, "the node", opset}, inputs);
}

inline Tensor floats(const Dims& dims, const std::vector<float>& values) {
  return Tensor::of<float>(dims, values);
}

inline Tensor ints(const std::vector<std::int64_t>& values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  return std::vector<T>(tensor.values<T>(), tensor.values<T>() + tensor.elements());
}

/// Whole numbers from -8 to 8, whose sums are exact.
inline Tensor random_floats(const Dims& dims, std::mt19937& random) {
  Tensor tensor(onnx::TensorProto::FLOAT, dims);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    tensor.mutable_values<float>()[i] = static_cast<float>(random() % 17) - 8;
  }
  return tensor;
}

}  // namespace gemm64
