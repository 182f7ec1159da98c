// SPDX-License-Identifier: Apache-2.0
// What a run of a network leaves, and outputs to compare it with.
#pragma once

#include <string>

#include "host/runtime/named_tensors.hpp"
#include "host/runtime/run_report.hpp"

namespace gemm64 {

struct NetworkRun {
  RunReport report;
  NamedTensors outputs;
  Tensor first;  // the first output; absent where there is none
  Tensor exact;  // the same by float32; absent where nothing else was computed
  /// Why one device ran all, though there were to be several; empty where it did not.
  std::string why_one_job;
};

/// Compares the network's outputs, value by value.
void compare_outputs(const NamedTensors& expected, const NamedTensors& found, OutputCheck& check);

}  // namespace gemm64
