// SPDX-License-Identifier: Apache-2.0
// A float network as a standard QDQ file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/graph/onnx/model.hpp"
#include "host/graph/onnx/ranges.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Which nodes are quantized, of those that can be. A node goes by its name, or by its first output
/// where it has none.
struct QuantizeChoice {
  std::vector<std::string> operators;  // only of these; empty: of all
  std::vector<std::string> nodes;      // only these; empty: all
  std::vector<std::string> excluded;   // not these

  /// Ranges that scales come from, where they are others than the extremes.
  Ranges ranges;
};

struct QuantizedModel {
  onnx::ModelProto proto;
  std::map<std::string, int> quantized, left;                  // nodes by operator
  std::map<std::string, std::map<std::string, int>> why_left;  // nodes by operator and reason
  int dropouts = 0;              // that were in training mode and are left out
  int inputs_made_constant = 0;  // graph inputs that were initializers, too
};

/// Operators that can be quantized.
const std::vector<std::string>& quantizable_operators();

/// Has the model operators on quantized values already?
bool is_quantized(const OnnxModel& model);

/// Puts QuantizeLinear and DequantizeLinear around the operators that ONNX Runtime then computes on
/// integers: activations in uint8 by `ranges` (the extremes of each value), constant weights of
/// products in int8 with a scale for each output channel, biases in int32. What has no range stays
/// in float, and so do masks (find_masks) and what adds one. A model of opset 9 to 12 becomes one
/// of opset 13. Dropouts are left out, of training mode too, since what is written is for
/// inference. Throws UsageError if nothing is quantized, the model is quantized already or older,
/// the choice names what the model has not, or a range is not finite.
///
/// Before: y = Conv(x, w). After: y = DQ(Q(Conv(DQ(Q(x)), DQ(v)))), v the weights in int8.
QuantizedModel quantize_model(const OnnxModel& model, const Ranges& ranges,
                              const QuantizeChoice& choice = {});

}  // namespace gemm64
