// SPDX-License-Identifier: Apache-2.0
// What a layer of a program reads and writes, resolved from the network, so that a run needs no
// graph.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "host/compile/device_layer.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/kernels/tensor.hpp"

namespace gemm64 {

/// Tensors by the names that the network has for them.
using NamedBuffers = std::unordered_map<std::string, Tensor>;

struct LayerBuffers {
  TensorType input;
  TensorType weights;     // if the network computes them
  TensorType operand;     // the second one of its results, if they have one
  MatrixI8 operand_rows;  // that, as the job reads it, if it is a constant of the file
  std::string result_name;
  TensorType result;  // of the whole value, of which the layer may write a part
  LayerWeights constants;
  NamedBuffers known;  // inputs and operands of its nodes that are constant, or computed from such
};

/// The buffers of each layer of a program of the model's plan. What nodes compute from constants
/// only is computed here. Throws UsageError if operands do not fit.
std::vector<LayerBuffers> layer_buffers(const OnnxModel& model, const DeviceProgram& program);

}  // namespace gemm64
