// SPDX-License-Identifier: Apache-2.0
// A float network as a standard QDQ file.
#pragma once

#include <map>
#include <string>

#include "host/onnx/model.hpp"
#include "host/onnx/onnx.pb.h"
#include "host/onnx/ranges.hpp"

namespace gemm64 {

struct QuantizedModel {
  onnx::ModelProto proto;
  std::map<std::string, int> quantized, left;  // nodes by operator
};

/// Has the model operators on quantized values already?
bool is_quantized(const OnnxModel& model);

/// Puts QuantizeLinear and DequantizeLinear around the operators that ONNX Runtime then computes on
/// integers: activations in uint8 by `ranges`, weights in int8 with a scale for each output
/// channel, biases in int32. What has no range stays in float. Throws UsageError where the model is
/// quantized already, is of an opset below 13, or a range is not finite.
QuantizedModel quantize_model(const OnnxModel& model, const Ranges& ranges);

}  // namespace gemm64
