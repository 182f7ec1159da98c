// SPDX-License-Identifier: Apache-2.0
// Quantized networks for tests: nodes as text, their constants made for them.
#pragma once

#include "host/kernels/tensor.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {

/// A network of uint8 from x to y. Nodes are added in the order in which they run, each named for
/// its output.
class QuantizedText {
 public:
  /// `x`: its shape, "1,3,8,8".
  explicit QuantizedText(std::string x) : x_(std::move(x)), random_(1) {}

  /// A convolution of `channels` channels; `attributes` as "pads = [1,1,1,1]".
  QuantizedText& conv(const std::string& from, const std::string& to, std::int64_t channels,
                      std::int64_t filters, std::int64_t kernel, const std::string& attributes = "",
                      std::int64_t groups = 1) {
    weights("w_" + to, {filters, channels / groups, kernel, kernel});
    return node(to, fmt::format("QLinearConv <group = {}{}{}> ({}, s, z, w_{}, s, wz, s, z)",
                                groups, attributes.empty() ? "" : ", ", attributes, from, to));
  }
  QuantizedText& matmul(const std::string& from, const std::string& to, std::int64_t k,
                        std::int64_t n) {
    weights("w_" + to, {k, n});
    return node(to, fmt::format("QLinearMatMul ({}, s, z, w_{}, s, wz, s, z)", from, to));
  }
  QuantizedText& add(const std::string& a, const std::string& b, const std::string& to) {
    return node(to, fmt::format("com.microsoft.QLinearAdd ({}, s, z, {}, s, z, s, z)", a, b));
  }
  QuantizedText& weights(const std::string& name, const Dims& dims) {
    Tensor tensor(onnx::TensorProto::INT8, dims);
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
      tensor.mutable_values<std::int8_t>()[i] = static_cast<std::int8_t>(random_() % 255 - 127);
    }
    weights_.emplace_back(name, tensor);
    return *this;
  }
  QuantizedText& node(const std::string& to, const std::string& text) {
    nodes_ += fmt::format("{} = {}\n", to, text);
    names_.push_back(to);
    return *this;
  }

  /// `zero`: of the weights.
  OnnxModel model(std::int8_t zero = 0) {
    onnx::ModelProto proto =
        parse_model(fmt::format("(uint8[{}] x) => (uint8[1] y) {{{}}}", x_, nodes_));
    onnx::GraphProto& graph = *proto.mutable_graph();
    graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    int node = 0;
    for (const std::string& name : names_) graph.mutable_node(node++)->set_name(name);
    const auto constant = [&graph](const std::string& name, const Tensor& tensor) {
      *graph.add_initializer() = tensor.to_proto();
      graph.mutable_initializer(graph.initializer_size() - 1)->set_name(name);
    };
    constant("s", Tensor::of<float>({}, {0.0078125F}));
    constant("coarse", Tensor::of<float>({}, {0.0125F}));
    constant("ones", Tensor::of<float>({8}, {1, 1, 1, 1, 1, 1, 1, 1}));
    onnx::TensorProto& nothing = *graph.add_initializer();
    nothing.set_name("nothing");
    nothing.set_data_type(onnx::TensorProto::FLOAT);
    nothing.add_dims(0);
    constant("doubled", Tensor::of<float>({4}, {1, 1, 2, 2}));
    constant("sizes", Tensor::of<std::int64_t>({4}, {1, 8, 12, 18}));
    for (const auto& [name, value] : {std::pair{"first_one", 0},
                                      {"axis_one", 1},
                                      {"third", 3},
                                      {"ninth", 9},
                                      {"end", 1000},
                                      {"back", -1},
                                      {"before", -1000}}) {
      constant(name, Tensor::of<std::int64_t>({1}, {value}));
    }
    constant("order", Tensor::of<std::int64_t>({8}, {0, 4, 1, 5, 2, 6, 3, 7}));
    constant("twice", Tensor::of<std::int64_t>({8}, {2, 2, 0, 7, 2, 0, 5, 5}));
    constant("z", Tensor::of<std::uint8_t>({}, {131}));
    constant("bias", Tensor::of<std::uint8_t>({8}, {0, 9, 55, 131, 140, 200, 254, 255}));
    constant("rows", Tensor::of<std::uint8_t>({8, 1}, {0, 9, 55, 131, 140, 200, 254, 255}));
    constant("middle", Tensor::of<std::uint8_t>({}, {128}));
    constant("wz", Tensor::of<std::int8_t>({}, {zero}));
    for (const auto& [name, tensor] : weights_) constant(name, tensor);
    return OnnxModel::from_proto(std::move(proto), "test.onnx");
  }

 private:
  std::string x_, nodes_;
  std::mt19937 random_;
  std::vector<std::string> names_;
  std::vector<std::pair<std::string, Tensor>> weights_;
};

/// Branches, a projection parallel to a bottleneck, a depthwise layer, a packed first one, and a
/// Linear layer that reads a map.
inline OnnxModel quantized_branches(int images = 2) {
  const char* const pad = "pads = [1,1,1,1]";
  QuantizedText text(fmt::format("{},3,9,9", images));
  text.conv("x", "first", 3, 12, 3, "strides = [2,2], pads = [1,1,1,1]")
      .conv("first", "a", 12, 10, 1)
      .conv("a", "b", 10, 10, 3, pad)
      .conv("b", "c", 10, 20, 1)
      .conv("first", "side", 12, 20, 1)
      .add("c", "side", "sum")
      .node("pooled", "Transpose <perm = [0,1,3,2]> (sum)")
      .conv("pooled", "deep", 20, 20, 3, "dilations = [2,2], pads = [2,1,2,3]", 20)
      .conv("pooled", "pooled1", 20, 20, 1)
      .conv("deep", "deep1", 20, 20, 2, "", 2)
      .node("flat", "Flatten (deep1)")
      .matmul("flat", "y", 320, 7);
  return text.model();
}

/// Depthwise layers and pools between convolutions, to the last Linear layer: all the device's.
inline OnnxModel quantized_lanes() {
  QuantizedText text("2,3,9,9");
  text.conv("x", "first", 3, 20, 3, "pads = [1,1,1,1]")
      .node("pool", "MaxPool <kernel_shape = [2,3], pads = [0,1,0,1]> (first)")
      .conv("pool", "deep", 20, 20, 3, "pads = [1,1,1,1]", 20)
      .conv("deep", "thin", 20, 20, 1)
      .add("thin", "pool", "sum")
      .conv("sum", "wide", 20, 20, 5, "strides = [2,1], pads = [2,2,2,2]", 20)
      .conv("wide", "last", 20, 24, 1)
      .conv("last", "small", 24, 24, 3, "strides = [1,2]", 24)
      .node("mean", "com.microsoft.QLinearGlobalAveragePool (small, s, z, s, z)")
      .node("flat", "Flatten (mean)")
      .matmul("flat", "y", 24, 7);
  return text.model();
}

/// All that results pass on their way to memory: tables, operands of a value for each channel,
/// copies of what several read, a concatenation of uneven parts in other steps, an enlarged map;
/// one program.
inline OnnxModel quantized_ways(int images = 1) {
  QuantizedText text(fmt::format("{},3,9,9", images));
  text.conv("x", "first", 3, 12, 3, "pads = [1,1,1,1]")
      .node("curve", "com.microsoft.QLinearSigmoid (first, s, z, s, z)")
      .conv("curve", "thin", 12, 10, 1)
      .node("bend", "com.microsoft.QLinearLeakyRelu <alpha = 0.3> (thin, s, z, s, z)")
      .conv("bend", "half", 10, 12, 3, "strides = [2,2], pads = [1,1,1,1]")
      .node("mean", "com.microsoft.QLinearGlobalAveragePool (half, s, z, s, z)")
      .conv("mean", "squeezed", 12, 12, 1)
      .node("gate", "com.microsoft.QLinearSigmoid (squeezed, s, z, s, z)")
      .node("gated", "com.microsoft.QLinearMul (half, s, z, gate, s, z, s, z)")
      .conv("gated", "five", 12, 5, 1)
      .conv("gated", "seven", 12, 7, 3, "pads = [1,1,1,1]")
      .node("all",
            "com.microsoft.QLinearConcat <axis = 1> (coarse, z, five, s, z, seven, s, z, gated, s, "
            "z)")
      .node("large",
            "Resize <mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", "
            "nearest_mode = \"floor\"> (all, , doubled)")
      .conv("large", "deep", 24, 24, 3, "pads = [1,1,1,1]", 24)
      .add("deep", "large", "sum")
      .conv("sum", "y", 24, 9, 1);
  return text.model();
}

/// Concatenations whose parts lie in another order than the file has them, one of another's; what
/// reads them: pools, convolutions, and a Linear layer. One program.
inline OnnxModel quantized_parts(int images = 2) {
  const char* const pad = "pads = [1,1,1,1]";
  QuantizedText text(fmt::format("{},3,9,9", images));
  text.conv("x", "first", 3, 12, 3, pad)
      .conv("first", "a", 12, 5, 1)
      .conv("first", "b", 12, 8, 3, pad)
      .conv("first", "c", 12, 3, 1)
      .node("abc", "com.microsoft.QLinearConcat <axis = 1> (s, z, a, s, z, b, s, z, c, s, z)")
      .node("pooled", "MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (abc)")
      .conv("abc", "d", 16, 6, 1)
      .conv("abc", "e", 16, 8, 3, pad)
      .node("all",
            "com.microsoft.QLinearConcat <axis = 1> (coarse, z, d, s, z, pooled, s, z, e, s, z)")
      .node("mean", "com.microsoft.QLinearGlobalAveragePool (all, coarse, z, s, z)")
      .node("flat", "Flatten (mean)")
      .matmul("flat", "y", 30, 7);
  return text.model();
}

/// Slices of channels, as YOLO's C2f has them, one of a Slice, one that is turned round; what reads
/// them: convolutions, an addition, a depthwise layer, a pool, and concatenations. One program.
inline OnnxModel quantized_slices(int images = 2) {
  const char* const pad = "pads = [1,1,1,1]";
  QuantizedText text(fmt::format("{},3,9,9", images));
  text.conv("x", "first", 3, 22, 3, pad)
      .node("a", "Slice (first, first_one, ninth, axis_one)")
      .node("b", "Slice (first, ninth, end, axis_one)")
      .conv("b", "c", 13, 13, 3, pad)
      .add("b", "c", "d")
      .node("e", "Slice (b, first_one, third, axis_one)")
      .conv("e", "f", 3, 3, 3, pad, 3)
      .node("g", "MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (a)")
      .node("h", "Slice (first, end, first_one, axis_one, back)")
      .conv("h", "i", 21, 4, 1)
      .node("all",
            "com.microsoft.QLinearConcat <axis = 1> (coarse, z, a, s, z, b, s, z, d, s, z, f, s, "
            "z, g, s, z, i, s, z)")
      .node("mean", "com.microsoft.QLinearGlobalAveragePool (all, coarse, z, s, z)")
      .node("flat", "Flatten (mean)")
      .matmul("flat", "y", 51, 7);
  return text.model();
}

/// Channels that are taken twice, for a convolution, a depthwise one and a Linear layer.
inline OnnxModel quantized_repeats(int images = 2) {
  QuantizedText text(fmt::format("{},3,9,9", images));
  text.conv("x", "a", 3, 8, 3)
      .node("more", "Gather <axis = 1> (a, twice)")
      .conv("more", "b", 8, 8, 1)
      .conv("more", "c", 8, 8, 3, "pads = [1,1,1,1]", 8)
      .add("b", "c", "d")
      .node("mean", "com.microsoft.QLinearGlobalAveragePool (d, s, z, s, z)")
      .node("flat", "Flatten (mean)")
      .matmul("flat", "e", 8, 8)
      .node("f", "Gather <axis = 1> (e, twice)")
      .matmul("f", "y", 8, 5);
  return text.model();
}

/// Doubled maps that are parts of a concatenation and share tiles, of more blocks than an engine's
/// queue has places.
inline OnnxModel quantized_doubled() {
  QuantizedText text("3,3,10,12");
  text.conv("x", "a", 3, 5, 1)
      .conv("x", "b", 3, 11, 1)
      .node("c", "Resize <mode = \"nearest\"> (a, nothing, doubled)")
      .node("d", "Resize <mode = \"nearest\"> (b, nothing, doubled)")
      .node("e", "com.microsoft.QLinearConcat <axis = 1> (s, z, c, s, z, d, s, z)")
      .conv("e", "f", 16, 8, 1)
      .conv("f", "g", 8, 8, 1)
      .add("f", "g", "y");
  return text.model();
}

/// A large map of few channels, which the layers compute in strips.
inline OnnxModel quantized_strips() {
  QuantizedText text("1,1,64,64");
  text.conv("x", "a", 1, 4, 3, "pads = [1,1,1,1], strides = [2,2]")
      .conv("a", "b", 4, 4, 3, "pads = [1,1,1,1]", 4)
      .conv("b", "c", 4, 12, 1)
      .conv("c", "d", 12, 12, 3, "pads = [1,1,1,1], strides = [2,2]", 12)
      .conv("d", "e", 12, 6, 1)
      .conv("e", "y", 6, 8, 1);
  return text.model();
}

/// Random bytes for it.
inline Tensor quantized_input(const Dims& dims = {2, 3, 9, 9}) {
  std::mt19937 random(4);
  Tensor tensor(onnx::TensorProto::UINT8, dims);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    tensor.mutable_values<std::uint8_t>()[i] = static_cast<std::uint8_t>(random());
  }
  return tensor;
}

}  // namespace gemm64
