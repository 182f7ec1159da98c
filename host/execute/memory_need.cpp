// SPDX-License-Identifier: Apache-2.0
#include "host/execute/memory_need.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>

namespace gemm64 {
namespace {

constexpr double kCopies = 2;

double bytes_of(const OnnxModel& model, const std::string& value) {
  const std::optional<TensorType> type = model.type(value);
  return type && !model.is_constant(value) ? static_cast<double>(type->bytes()) : 0;
}

}  // namespace

double memory_need(const OnnxModel& model, std::int64_t passes, bool inputs_held) {
  const onnx::GraphProto& graph = model.graph();
  std::map<std::string, int> last_use;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& name : graph.node(i).input()) last_use[name] = i;
    for (const std::string& name : graph.node(i).output()) last_use.emplace(name, i);
  }
  double outside = 0;  // of the passes that are not under way
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
    most = std::max(most, live);
    for (auto* const names : {&node.input(), &node.output()}) {
      for (const std::string& name : *names) {
        const auto use = last_use.find(name);
        if (use == last_use.end() || use->second != i) continue;
        live -= bytes_of(model, name);
        last_use.erase(use);  // a node may read a value twice
      }
    }
  }
  return kCopies * (most + outside * static_cast<double>(std::max<std::int64_t>(passes - 1, 0)));
}

double machine_memory() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace gemm64
