// SPDX-License-Identifier: Apache-2.0
// Small tensors, for tests.
#pragma once

#include "host/kernels/tensor.hpp"
#include "tests/test.hpp"

namespace gemm64 {

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
