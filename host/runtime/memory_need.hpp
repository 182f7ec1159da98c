// SPDX-License-Identifier: Apache-2.0
// How much memory a network's values need, before any is taken.
#pragma once

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// Bytes that inputs, outputs and what nodes hand on to each other take where most of them are
/// there at once; each is counted twice, since quantized networks have two values and checks have
/// copies. Constants are none, nor is what has no shape before the network runs. Of `passes`
/// through the network, the outputs are collected, and the inputs are there all the time where
/// `inputs_held`.
double memory_need(const OnnxModel& model, std::int64_t passes = 1, bool inputs_held = true);

/// Bytes of this machine's memory.
double machine_memory();

}  // namespace gemm64
