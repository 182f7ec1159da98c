// SPDX-License-Identifier: Apache-2.0
// The ranges that a float network's values take.
#pragma once

#include "host/execute/executor.hpp"
#include "host/execute/head.hpp"
#include "host/onnx/ranges.hpp"

namespace gemm64 {

/// Runs the network in float32 on the inputs, a few images at a time where it can, and returns the
/// least and the greatest number of each value of float32, constants among them.
Ranges calibrate(const Executor& executor, const NetworkInputs& inputs);

}  // namespace gemm64
