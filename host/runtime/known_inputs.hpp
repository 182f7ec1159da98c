// SPDX-License-Identifier: Apache-2.0
// Inputs whose values are known before a network runs, so that what depends only on them is
// settled.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// Is it NAME=NUMBER (or true, or false), which stands for each value of an input, and no file?
bool is_constant_input(const std::string& text);

/// The values of those of `texts`, as a person names inputs, that are so; of a model with an If,
/// Loop or Scan also one integer or bool in a .npy file. What they name is removed from `texts`.
/// Throws UsageError where a number does not fit its input.
std::map<std::string, onnx::TensorProto> take_known_inputs(const OnnxModel& model,
                                                           std::vector<std::string>& texts);

}  // namespace gemm64
