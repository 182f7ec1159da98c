// SPDX-License-Identifier: Apache-2.0
// The order of a pass through a network: nodes of the host and programs of the device, each after
// all that it reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/compile/device_plan.hpp"

namespace gemm64 {

/// A node that runs by itself, a program, or nodes whose int32 sums the device gives in one
/// program.
struct PassItem {
  enum class Kind { kNode, kProgram, kSums };
  Kind kind = Kind::kNode;
  std::size_t index =
      0;  // of a node of the graph, of a program of the plan, or among those of sums
  std::vector<std::size_t> nodes;      // of the graph, of sums
  std::vector<std::string> last_uses;  // values that nothing reads any more
};

/// Every node that is in no program, and every program, in the plan's order. A node comes as early
/// as it can, in the graph's order: all that need no program stand first. Nodes that only give a
/// layer's results another shape stand after the program in which another layer reads them as
/// they lie.
///
/// `sums`: nodes whose int32 sums the device gives, with the tiles of their weights. Once the host
/// has nothing else to do, all of them whose operands are there are one program, or several where
/// they have many tiles: the start of a program costs little compared with these.
std::vector<PassItem> pass_order(const OnnxModel& model, const DevicePlan& plan,
                                 const std::map<std::size_t, std::uint64_t>& sums = {});

/// A line for each item: "host: Relu number 3", "program 1: conv1, conv2", "sums: q, k, v".
std::string to_string(const std::vector<PassItem>& order, const OnnxModel& model,
                      const DevicePlan& plan);

}  // namespace gemm64
