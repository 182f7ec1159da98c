// SPDX-License-Identifier: Apache-2.0
// A network as ONNX has it, and its bytes. Written without protobuf: the program's own description
// of the format is in host/graph/proto/onnx.proto, and two of one process would be at odds.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gemm64::torchscript {

using Dims = std::vector<std::int64_t>;

struct Attribute {
  std::string name;
  std::variant<std::int64_t, float, std::string, Dims> value;
};

struct GraphNode {
  std::string op_type, name;
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> attributes;
};

struct GraphInitializer {
  std::string name;
  at::Tensor values;
};

struct GraphValue {
  std::string name;
  at::ScalarType type;
  Dims dims;
};

struct OnnxGraph {
  std::vector<GraphNode> nodes;
  std::vector<GraphInitializer> initializers;
  std::vector<GraphValue> inputs, outputs;
};

/// The opset in whose terms nodes are to be written.
inline constexpr std::int64_t kOpset = 17;

/// ONNX's number for a type of elements. Throws Refusal if it has none.
int onnx_type(at::ScalarType type);

/// Hands the file's bytes to `write`, from front to end. Without weights, initializers of more than
/// some hundred bytes lack their contents, unless they are integers. Throws Refusal if the file
/// would be larger than what protobuf reads.
void write_onnx(const OnnxGraph& graph, bool with_weights,
                const std::function<void(std::string_view)>& write);

}  // namespace gemm64::torchscript
