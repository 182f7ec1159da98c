// SPDX-License-Identifier: Apache-2.0
// Floats to the bit: the host's kernels give what ONNX Runtime 1.31 gives on x86-64 with AVX-512,
// by stored hashes. tests/onnxruntime/float_bits.py writes them, and compares them with ONNX
// Runtime where it can.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host/kernels/float_functions.hpp"
#include "tests/unit/execute/run_node.hpp"

namespace gemm64 {
namespace {

struct Case {
  const char* node;
  std::int64_t opset;
  bool constant;
  double scale;
  std::vector<Dims> sizes;
  std::uint64_t hash;
};

const Case kCases[] = {
#include "tests/unit/kernels/float_bits.inc"
};

/// 32 bits for value `i` of input `number`, the same as float_bits.py draws.
std::uint32_t mixed_bits(std::int64_t i, std::uint32_t number) {
  std::uint32_t mixed = static_cast<std::uint32_t>(i) + number * 0x9E3779B9U;
  mixed = (mixed ^ (mixed >> 16U)) * 0x85EBCA6BU;
  mixed = (mixed ^ (mixed >> 13U)) * 0xC2B2AE35U;
  return mixed ^ (mixed >> 16U);
}

Tensor bytes(const Dims& dims, std::uint32_t number) {
  Tensor result(onnx::TensorProto::UINT8, dims);
  for (std::int64_t i = 0; i < result.elements(); ++i) {
    result.mutable_values<std::uint8_t>()[i] =
        static_cast<std::uint8_t>(mixed_bits(i, number) >> 24U);
  }
  return result;
}

/// Floats from -scale to scale.
Tensor values(const Dims& dims, std::uint32_t number, double scale) {
  Tensor result(onnx::TensorProto::FLOAT, dims);
  for (std::int64_t i = 0; i < result.elements(); ++i) {
    const auto units = static_cast<std::int32_t>(mixed_bits(i, number) >> 8U) - (1 << 23);
    result.mutable_values<float>()[i] =
        static_cast<float>(units) * static_cast<float>(scale / (1 << 23));
  }
  return result;
}

/// 64 bits of FNV-1a.
std::uint64_t hash(const Tensor& tensor) {
  std::uint64_t result = 0xCBF29CE484222325U;
  const auto* bytes = reinterpret_cast<const unsigned char*>(tensor.raw());
  const auto size = static_cast<std::size_t>(tensor.elements()) * tensor.element_size();
  for (std::size_t i = 0; i < size; ++i) result = (result ^ bytes[i]) * 0x100000001B3U;
  return result;
}

TEST(FloatBits, AreThoseOfOnnxRuntime) {
  for (const Case& each : kCases) {
    const onnx::NodeProto proto = parse_node(each.node);
    Tensors inputs;
    for (const Dims& dims : each.sizes) {
      const auto number = static_cast<std::uint32_t>(inputs.size() + 1);
      const std::string& name = proto.input(static_cast<int>(inputs.size()));
      const bool packed = proto.op_type() == "MatMulNBits" && (name == "b" || name == "z");
      inputs.push_back(name.empty() ? Tensor()
                       : packed     ? bytes(dims, number)
                                    : values(dims, number, each.scale));
    }
    const OperatorInfo* info = find_operator(proto.domain(), proto.op_type());
    ASSERT_NE(info, nullptr) << each.node;
    const NodeContext node{&proto, "the node", each.opset, nullptr, each.constant, each.constant};
    EXPECT_EQ(hash(compute(*info, node, inputs)[0]), each.hash)
        << each.node << (each.constant ? ", weights constant, of " : " of ")
        << dims_text(each.sizes[0]);
  }
}

TEST(FloatBits, FunctionsKeepTheirValuesAtTheEnds) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  using namespace float_functions;
  EXPECT_EQ(float_functions::exp(-infinity), 0);
  EXPECT_EQ(float_functions::exp(infinity), infinity);
  EXPECT_EQ(float_functions::exp(0.0F), 1);
  EXPECT_EQ(float_functions::tanh(infinity), float_functions::tanh(9.0F));
  EXPECT_EQ(float_functions::erf(-infinity), -1);
  EXPECT_EQ(logistic(-infinity), 0);
  EXPECT_TRUE(std::isnan(float_functions::exp(nan)));
  EXPECT_TRUE(std::isnan(float_functions::tanh(nan)));
  EXPECT_TRUE(std::isnan(float_functions::erf(nan)));
  EXPECT_TRUE(std::isnan(logistic(nan)));
}

}  // namespace
}  // namespace gemm64
