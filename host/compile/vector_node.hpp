// SPDX-License-Identifier: Apache-2.0
// What the device's element-wise unit can do of a node on quantized tensors, only from the file.
#pragma once

#include <optional>
#include <string>

#include "host/device/command_types.hpp"
#include "host/device/geometry.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/quantization.hpp"

namespace gemm64 {

/// A node whose results are a function of one or two 8-bit tensors, value by value.
struct VectorNode {
  int a = 0, b = 3;          // its inputs that are tensors
  bool stretched = false;    // is b one value for each channel of a?
  bool by_columns = false;   // are those along the last axis of a, and not along axis 1?
  std::uint32_t images = 1;  // that have one, where it is stretched
  DataType type = onnx::TensorProto::UNDEFINED;  // of all three, INT8 or UINT8
  Quantization of_a, of_b, result;               // zero points as `type` has them
  /// Its settings where `a` is what a layer gives and `b` the second operand.
  StoreCommand settings;

  /// The settings where they are the other way round.
  StoreCommand swapped() const;
};

/// Scale and zero point of a tensor, from inputs `scale` and `scale + 1` of a node; nothing where
/// they are not one constant each. What the file lacks is 1 and 0.
std::optional<Quantization> constant_quantization(const OnnxModel& model,
                                                  const NodeContext& context, int scale,
                                                  DataType type);

/// Reads node `index` of the graph; nothing where it is none for the element-wise unit of a device,
/// and then `why` says why it is none though its operator is one: elsewhere it stays.
std::optional<VectorNode> read_vector_node(const OnnxModel& model, int index,
                                           const Geometry& geometry, std::string& why);

}  // namespace gemm64
