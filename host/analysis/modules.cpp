// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/modules.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "host/graph/onnx/checked.hpp"

namespace gemm64 {
namespace {

// Deeper than any network's modules are nested.
constexpr std::size_t kDeepest = 64;
constexpr std::size_t kLongestName = 4096;

/// The modules around a node, outermost first, without the node itself.
using Path = std::vector<std::string>;

std::optional<Path> path_of(const std::string& name) {
  if (name.empty() || name[0] != '/' || name.size() > kLongestName) return std::nullopt;
  Path path;
  for (std::size_t begin = 1, end = 0; (end = name.find('/', begin)) != std::string::npos;
       begin = end + 1) {
    path.push_back(name.substr(begin, end - begin));
    if (path.size() > kDeepest) return std::nullopt;
  }
  return path;
}

/// How many modules two nodes are both in.
int common(const Path& a, const Path& b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t depth = 0;
  while (depth < most && a[depth] == b[depth]) ++depth;
  return static_cast<int>(depth);
}

}  // namespace

std::optional<ModuleActivations> module_activations(const OnnxModel& model) {
  const onnx::GraphProto& graph = model.graph();
  std::map<std::string, const Path*> producers;
  std::vector<Path> paths;
  paths.reserve(static_cast<std::size_t>(graph.node_size()));
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.op_type() == "Constant") {
      paths.emplace_back();
      continue;
    }
    std::optional<Path> path = path_of(node.name());
    if (!path) return std::nullopt;
    paths.push_back(std::move(*path));
    for (const std::string& output : node.output()) producers[output] = &paths.back();
  }

  // For each value the depth of the innermost module that holds all its readers too: it leaves the
  // modules deeper than that. What the graph gives out leaves even the whole model.
  std::map<std::string, int> kept;
  const auto read = [&](const std::string& value, int depth) {
    const auto entry = kept.emplace(value, depth);
    entry.first->second = std::min(entry.first->second, depth);
  };
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& input : graph.node(i).input()) {
      const auto producer = producers.find(input);
      if (producer == producers.end()) continue;
      read(input, common(*producer->second, paths[static_cast<std::size_t>(i)]));
    }
  }
  for (const onnx::ValueInfoProto& output : graph.output()) {
    if (producers.count(output.name()) != 0) read(output.name(), -1);
  }

  std::map<Path, std::uint64_t> bytes;
  std::set<Path> containers{{}};
  for (const auto& entry : producers) {
    const Path& path = *entry.second;
    for (std::size_t depth = 0; depth <= path.size(); ++depth) {
      const Path module(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth));
      bytes[module];
      if (depth < path.size()) containers.insert(module);
    }
  }
  for (const auto& [value, depth] : kept) {
    const std::optional<TensorType> type = model.type(value);
    if (!type || model.is_constant(value)) continue;
    const Path& path = *producers.at(value);
    for (std::size_t d = static_cast<std::size_t>(depth + 1); d <= path.size(); ++d) {
      std::uint64_t& sum = bytes[Path(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(d))];
      sum = plus(sum, static_cast<std::uint64_t>(type->bytes()));
    }
  }
  ModuleActivations modules;
  for (const auto& [path, sum] : bytes) {
    const bool container = containers.count(path) != 0;
    std::uint64_t& total = container ? modules.container_bytes : modules.leaf_bytes;
    total = plus(total, sum);
    ++(container ? modules.containers : modules.leaves);
  }
  if (modules.leaves == 0) return std::nullopt;
  return modules;
}

}  // namespace gemm64
