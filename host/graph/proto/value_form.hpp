// SPDX-License-Identifier: Apache-2.0
// Types of values that are not tensors: sequences of tensors, and optional values.
#pragma once

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

struct ValueForm {
  bool is_sequence = false;
  onnx::TypeProto::Tensor tensor;  // the value's own, or of a sequence's elements
};

/// The form of a value, or of an optional one that is there.
ValueForm value_form(const onnx::TypeProto& type);

}  // namespace gemm64
