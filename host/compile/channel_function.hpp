// SPDX-License-Identifier: Apache-2.0
// Float functions of 8-bit values that are others for each channel, such as a BatchNormalization
// between a DequantizeLinear and a QuantizeLinear, as the requantizer computes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/compile/channel_order.hpp"
#include "host/compile/table_node.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/kernels/quantization.hpp"

namespace gemm64 {

/// What makes a value of a channel its result: clamp(rint(float32(value * weight + bias) * scale) +
/// zero), the value as int8.
struct ChannelFactors {
  std::vector<std::int8_t> weight;
  std::vector<std::int32_t> bias;
  std::vector<float> scale;
};

/// The factors where the channels are stored.
ChannelFactors in_order(const ChannelFactors& factors, const ChannelOrder& order);

/// Nodes that together are such a function.
struct ChannelFunction {
  std::vector<int> nodes;  // in the graph's order; the last one gives the results
  DataType type = onnx::TensorProto::UNDEFINED;  // of the results
  Quantization result;                           // the zero point as that type has it
  ChannelFactors factors;
};

/// The function that begins with node `index`, a DequantizeLinear, if that is one and nothing else
/// of the graph reads a value between its nodes. Its factors give, for each of the 256 values in
/// each channel, the byte that ONNX Runtime computes; nothing where there are none that do, and
/// then `why` says so. Zeros where the file lacks a constant.
std::optional<ChannelFunction> read_channel_function(const HostNodes& nodes, const Readers& readers,
                                                     int index, std::string& why);

}  // namespace gemm64
