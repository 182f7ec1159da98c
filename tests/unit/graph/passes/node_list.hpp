// SPDX-License-Identifier: Apache-2.0
// A graph's nodes as a line of text, for tests of rewrites.
#pragma once

#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {

/// "Relu(x) Add(y, z)": operators in their order, with their inputs.
inline std::string node_list(const OnnxModel& model) {
  std::string text;
  for (const onnx::NodeProto& node : model.graph().node()) {
    text += (text.empty() ? "" : " ") + node.op_type() + "(";
    for (int i = 0; i < node.input_size(); ++i) text += (i == 0 ? "" : ", ") + node.input(i);
    text += ")";
  }
  return text;
}

}  // namespace gemm64
