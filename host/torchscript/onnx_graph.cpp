// SPDX-License-Identifier: Apache-2.0
#include "host/torchscript/onnx_graph.hpp"

#include <ATen/ATen.h>

#include <cstring>

#include "host/torchscript/refusal.hpp"

namespace gemm64::torchscript {
namespace {

constexpr std::uint64_t kMostBytes = 0x7fffffff;
/// Bounds and the like, which are needed even where weights are not; so are all integers.
constexpr std::size_t kSmallTensor = 1024;
constexpr std::int64_t kIrVersion = 8;

/// A protobuf message in the making.
class Message {
 public:
  Message& number(int field, std::int64_t value) {
    tag(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& real(int field, float value) {
    tag(field, 5);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
    return *this;
  }
  Message& text(int field, std::string_view value) {
    length(field, value.size());
    bytes_.append(value);
    return *this;
  }
  Message& message(int field, const Message& value) { return text(field, value.bytes_); }
  /// The head of a field whose bytes follow.
  Message& length(int field, std::uint64_t size) {
    tag(field, 2);
    varint(size);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void tag(int field, int wire) { varint(static_cast<std::uint64_t>(field) << 3 | wire); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

struct AttributeValue {
  Message& message;
  void operator()(std::int64_t value) const { message.number(3, value).number(20, 2); }
  void operator()(float value) const { message.real(2, value).number(20, 1); }
  void operator()(const std::string& value) const { message.text(4, value).number(20, 3); }
  void operator()(const Dims& values) const {
    for (const std::int64_t value : values) message.number(8, value);
    message.number(20, 7);
  }
};

Message node_message(const GraphNode& node) {
  Message message;
  for (const std::string& input : node.inputs) message.text(1, input);
  for (const std::string& output : node.outputs) message.text(2, output);
  message.text(3, node.name).text(4, node.op_type);
  for (const Attribute& attribute : node.attributes) {
    Message inner;
    inner.text(1, attribute.name);
    std::visit(AttributeValue{inner}, attribute.value);
    message.message(5, inner);
  }
  return message;
}

Message value_message(const GraphValue& value) {
  Message shape;
  for (const std::int64_t dim : value.dims) shape.message(1, Message().number(1, dim));
  Message tensor;
  tensor.number(1, onnx_type(value.type)).message(2, shape);
  return Message().text(1, value.name).message(2, Message().message(1, tensor));
}

/// All of an initializer but its contents.
Message initializer_head(const GraphInitializer& tensor) {
  Message message;
  for (const std::int64_t dim : tensor.values.sizes()) message.number(1, dim);
  message.number(2, onnx_type(tensor.values.scalar_type())).text(8, tensor.name);
  return message;
}

}  // namespace

int onnx_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return 1;
    case at::kByte:
      return 2;
    case at::kChar:
      return 3;
    case at::kShort:
      return 5;
    case at::kInt:
      return 6;
    case at::kLong:
      return 7;
    case at::kBool:
      return 9;
    case at::kHalf:
      return 10;
    case at::kDouble:
      return 11;
    case at::kBFloat16:
      return 16;
    default:
      throw Refusal(std::string("ONNX has no tensors of type ") + at::toString(type));
  }
}

void write_onnx(const OnnxGraph& graph, bool with_weights,
                const std::function<void(std::string_view)>& write) {
  Message rest;
  for (const GraphNode& node : graph.nodes) rest.message(1, node_message(node));
  rest.text(2, "torchscript");
  for (const GraphValue& value : graph.inputs) rest.message(11, value_message(value));
  for (const GraphValue& value : graph.outputs) rest.message(12, value_message(value));

  // The sizes of what is written first count what is written last, so all heads are made before.
  struct Piece {
    std::string head;
    at::Tensor values;  // undefined where they are left out
  };
  std::vector<Piece> pieces;
  std::uint64_t graph_bytes = rest.bytes().size();
  for (const GraphInitializer& tensor : graph.initializers) {
    Message inner = initializer_head(tensor);
    const std::uint64_t size = tensor.values.nbytes();
    const bool whole =
        with_weights || size <= kSmallTensor || tensor.values.scalar_type() == at::kLong;
    if (whole) inner.length(9, size);
    const std::uint64_t inner_bytes = inner.bytes().size() + (whole ? size : 0);
    Message outer;
    outer.length(5, inner_bytes);
    pieces.push_back(
        {outer.bytes() + inner.bytes(), whole ? tensor.values.contiguous() : at::Tensor()});
    graph_bytes += outer.bytes().size() + inner_bytes;
  }
  if (graph_bytes > kMostBytes - 1024) {
    throw Refusal("its weights take more than 2 GiB, more than an ONNX file holds");
  }
  Message file;
  file.number(1, kIrVersion).text(2, "gemm64");
  file.message(8, Message().number(2, kOpset));
  file.length(7, graph_bytes);
  write(file.bytes());
  for (const Piece& piece : pieces) {
    write(piece.head);
    if (piece.values.defined()) {
      write({static_cast<const char*>(piece.values.data_ptr()), piece.values.nbytes()});
    }
  }
  write(rest.bytes());
}

}  // namespace gemm64::torchscript
