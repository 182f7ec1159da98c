// SPDX-License-Identifier: Apache-2.0
// The order of a pass through a network: nodes of the host and programs of the device, each behind
// all that it reads.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/compile/device_plan.hpp"

namespace gemm64 {

/// A node that runs by itself, or a program.
struct PassItem {
  bool is_program = false;
  std::size_t index = 0;               // of a node of the graph, or of a program of the plan
  std::vector<std::string> last_uses;  // values that nothing reads any more
};

/// Every node that is in no program, and every program, in the plan's order. A node comes as early
/// as it can, in the graph's order: all that need no program stand first. Nodes that only give a
/// layer's results another shape stand behind the program in which another layer reads them as
/// they lie.
std::vector<PassItem> pass_order(const OnnxModel& model, const DevicePlan& plan);

/// A line for each item: "host: Relu number 3", "program 1: conv1, conv2".
std::string to_string(const std::vector<PassItem>& order, const OnnxModel& model,
                      const DevicePlan& plan);

}  // namespace gemm64
