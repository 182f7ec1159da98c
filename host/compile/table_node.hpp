// SPDX-License-Identifier: Apache-2.0
// Nodes that make one 8-bit value of another, value by value: a table of 256 bytes for the device.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/graph/onnx/host_nodes.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/kernels/quantization.hpp"

namespace gemm64 {

/// Who reads each value of a graph: indices of nodes in order, the graph's outputs as the number of
/// nodes.
using Readers = std::map<std::string, std::vector<int>>;
Readers readers_of(const OnnxModel& model);

/// Nodes that together are a function of one 8-bit tensor, value by value: QLinearSigmoid, or
/// DequantizeLinear, float32 functions and QuantizeLinear.
struct TableNodes {
  std::vector<int> nodes;           // in the graph's order; the last one gives the results
  Quantization result;              // the zero point as the results' type has it
  std::vector<std::uint8_t> table;  // at the byte of each value, the byte of its result
};

/// The largest such function of the 8-bit value `value` whose results are of its type; nothing else
/// of the graph reads the values between, nor, but where `shared`, the value itself. Nothing where
/// there is none. Computed by ONNX Runtime; zeros where the file lacks a constant.
std::optional<TableNodes> read_table(const HostNodes& nodes, const Readers& readers,
                                     const std::string& value, bool shared = false);

/// A QLinearConcat of only its input `part`: that, in the steps of the node's results.
onnx::NodeProto concat_of_part(const onnx::NodeProto& node, int part);

/// The table that brings input `part` of node `index`, a QLinearConcat, into the steps of its
/// results; empty where it has these, or the file lacks a scale.
std::vector<std::uint8_t> concat_table(const HostNodes& nodes, int index, int part);

}  // namespace gemm64
