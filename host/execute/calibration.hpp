// SPDX-License-Identifier: Apache-2.0
// The range of each float value of a network, from inputs that stand for those to come.
#pragma once

#include <functional>
#include <string>

#include "host/execute/executor.hpp"
#include "host/execute/head.hpp"
#include "host/graph/onnx/ranges.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

/// Told a value's name, and those of its numbers that count.
using ValueObserver =
    std::function<void(const std::string& name, const float* values, std::int64_t count)>;

/// Runs the network on all inputs, and tells each value of float32 that a node reads from outside
/// or makes: never a constant, nor an image that only fills a pass up.
void observe_values(const Executor& executor, const NetworkInputs& inputs,
                    const ValueObserver& observe);

/// Runs the network on the inputs; the least and the greatest number of each value of float32,
/// constants among them. Throws UsageError if an input has NaNs, which have no place in a range.
Ranges calibrate(const Executor& executor, const NetworkInputs& inputs);

/// Returns the error of a network that was calibrated on the inputs; it names infinite values of
/// theirs, which may be the cause: only some networks, such as those with masks, can have them.
UsageError with_infinities(const UsageError& error, const NetworkInputs& inputs);

}  // namespace gemm64
