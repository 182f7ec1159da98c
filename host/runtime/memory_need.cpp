// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/memory_need.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "host/graph/onnx/supported.hpp"

namespace gemm64 {
namespace {

constexpr double kCopies = 2;

double bytes_of(const OnnxModel& model, const std::string& value) {
  const std::optional<TensorType> type = model.type(value);
  return type && !model.is_constant(value) ? static_cast<double>(type->bytes()) : 0;
}

/// Of an operator with 8-bit results: its sums, then the device's results and what they are
/// compared with, int32 each, of the few layers of a program.
double bytes_to_compare(const OnnxModel& model, const onnx::NodeProto& node) {
  constexpr double kBytes = 12;
  if (operator_name(node).find("QLinearConv") != 0) return 0;
  const std::optional<TensorType> type = model.type(node.output(0));
  return type ? kBytes * static_cast<double>(type->elements()) : 0;
}

}  // namespace

double memory_need(const OnnxModel& model, std::int64_t passes, bool inputs_held) {
  const onnx::GraphProto& graph = model.graph();
  std::map<std::string, int> last_use;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& name : graph.node(i).input()) last_use[name] = i;
    for (const std::string& name : graph.node(i).output()) last_use.emplace(name, i);
  }
  double outside = 0;  // of the passes that do not run
  for (const auto& output : graph.output()) {
    last_use[output.name()] = graph.node_size();
    outside += bytes_of(model, output.name());
  }
  double live = 0;
  for (const std::string& input : model.inputs()) {
    live += bytes_of(model, input);
    if (inputs_held) outside += bytes_of(model, input);
  }
  double most = live;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    for (const std::string& name : node.output()) live += bytes_of(model, name);
    most = std::max(most, live + bytes_to_compare(model, node));
    // A node may read a value twice.
    std::set<std::string> names(node.input().begin(), node.input().end());
    names.insert(node.output().begin(), node.output().end());
    for (const std::string& name : names) {
      if (last_use.at(name) == i) live -= bytes_of(model, name);
    }
  }
  return kCopies * (most + outside * static_cast<double>(std::max<std::int64_t>(passes - 1, 0)));
}

double machine_memory() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace gemm64
