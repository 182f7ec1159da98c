// SPDX-License-Identifier: Apache-2.0
// What the host cannot run of a network.
#pragma once

#include <string>

#include "host/onnx/model.hpp"

namespace gemm64 {

/// Why `run` refuses a network, in one line: the operators that the host does not compute, each
/// with the number of its nodes and the first of them. Empty where it runs them all.
std::string why_not_run(const OnnxModel& model);

/// An operator's name, with its domain where that is not ONNX's own.
std::string operator_name(const onnx::NodeProto& node);

}  // namespace gemm64
