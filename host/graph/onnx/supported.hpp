// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime cannot run of a network.
#pragma once

#include <string>

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// Why `run` refuses a network, in one line: the operators that ONNX Runtime has no kernel for and
/// Loops without an end, each with the number of its nodes and the first of them. Empty if it runs.
std::string why_not_run(const OnnxModel& model);

/// Throws UsageError, which says so, where `run` refuses the network.
void require_supported(const OnnxModel& model);

/// An operator's name, with its domain where that is not ONNX's own.
std::string operator_name(const onnx::NodeProto& node);

/// Does a node hand on its input's memory under another name or shape, or is it a Constant, which
/// makes nothing while the network runs?
bool is_view(const onnx::NodeProto& node);

/// Has the graph an If, Loop or Scan, and nothing that cannot run? Their branches and turns may
/// follow once shapes and inputs are known.
bool waits_for_inputs(const OnnxModel& model);

}  // namespace gemm64
