// SPDX-License-Identifier: Apache-2.0
// Tensors whose elements are objects: texts, and the tensors of an ONNX sequence.
#pragma once

#include <string>
#include <vector>

#include "host/kernels/tensor.hpp"

namespace gemm64 {

template <>
struct BitsType<std::string> {
  static constexpr DataType kType = onnx::TensorProto::STRING;
};

/// An ONNX sequence is a vector of tensors. No file has this number as an element type.
inline constexpr auto kSequence = static_cast<DataType>(1 << 16);
template <>
struct BitsType<Tensor> {
  static constexpr DataType kType = kSequence;
};

inline bool is_sequence(const Tensor& tensor) { return tensor.type() == kSequence; }
/// Are the elements objects, so that their bytes must not be copied?
inline bool has_objects(DataType type) {
  return type == onnx::TensorProto::STRING || type == kSequence;
}

inline Tensor make_sequence(const std::vector<Tensor>& items) {
  return Tensor::of<Tensor>({static_cast<std::int64_t>(items.size())}, items);
}

/// Calls `action` with a null pointer to the objects' type. Requires has_objects(type).
template <class Action>
void visit_objects(DataType type, const Action& action) {
  if (type == kSequence) {
    action(static_cast<const Tensor*>(nullptr));
  } else {
    action(static_cast<const std::string*>(nullptr));
  }
}

}  // namespace gemm64
