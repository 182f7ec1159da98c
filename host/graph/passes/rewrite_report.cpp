// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/rewrite_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

std::string count(std::int64_t value) { return grouped(static_cast<std::uint64_t>(value)); }

std::string sizes(std::int64_t m, std::int64_t k, std::int64_t n) {
  return fmt::format("{}x{}x{}", m, k, n);
}

std::string padded(const LinearSite& layer) {
  if (layer.m.padding() == 0 && layer.k.padding() == 0 && layer.n.padding() == 0) return "-";
  return sizes(layer.m.padded(), layer.k.padded(), layer.n.padded());
}

/// What stays as it is, by operator and reason in the graph's order.
std::string skipped_text(const RewritePlan& plan) {
  constexpr std::size_t kMaxNames = 4;  // of nodes with the same reason
  struct Group {
    const SkippedNode* first = nullptr;
    std::vector<std::string> names;
  };
  std::vector<Group> groups;
  for (const SkippedNode& node : plan.skipped) {
    const auto same = [&node](const Group& group) {
      return group.first->op_type == node.op_type && group.first->reason == node.reason;
    };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) group = groups.insert(groups.end(), {&node, {}});
    group->names.push_back(node.name);
  }
  std::string text = groups.empty() ? "" : "\nleft unchanged:\n";
  for (Group& group : groups) {
    const std::size_t nodes = group.names.size();
    const char* more = nodes > kMaxNames ? ", ..." : "";
    group.names.resize(std::min(nodes, kMaxNames));
    text += fmt::format("  {} {} ({}{}): {}\n", nodes, group.first->op_type,
                        fmt::join(group.names, ", "), more, group.first->reason);
  }
  if (!plan.open_inputs.empty()) {
    text += fmt::format("The file leaves sizes open; give them with --input-shape {}.\n",
                        fmt::join(plan.open_inputs, " --input-shape "));
  }
  return text;
}

}  // namespace

std::string rewrite_table(const RewritePlan& plan, std::size_t width) {
  std::string text;
  if (plan.layers.empty()) {
    text = "no layer was rewritten\n";
  } else {
    Table table;
    table.add_column("layer", Align::kLeft);
    table.add_column("operator", Align::kLeft);
    table.add_column("MxKxN");
    table.add_column("padded to");
    table.add_column("blocks");
    table.add_column("MatMul\nnodes");
    for (const LinearSite& layer : plan.layers) {
      table.add_row({layer.name, layer.op_type, sizes(layer.m.size, layer.k.size, layer.n.size),
                     padded(layer), sizes(layer.m.blocks(), layer.k.blocks(), layer.n.blocks()),
                     count(layer.matmuls())});
    }
    table.add_rule();
    table.add_row({counted(plan.layers.size(), "layer"), "", "", "", "", count(plan.matmuls())});
    text = table.render(width);
  }
  return text + skipped_text(plan);
}

nlohmann::ordered_json to_json(const RewritePlan& plan, const std::string& model,
                               std::uint64_t bytes) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const LinearSite& layer : plan.layers) {
    layers.push_back({{"name", layer.name},
                      {"operator", layer.op_type},
                      {"m", layer.m.size},
                      {"k", layer.k.size},
                      {"n", layer.n.size},
                      {"padded", {layer.m.padded(), layer.k.padded(), layer.n.padded()}},
                      {"blocks", {layer.m.blocks(), layer.k.blocks(), layer.n.blocks()}},
                      {"matmuls", layer.matmuls()}});
  }
  nlohmann::ordered_json skipped = nlohmann::ordered_json::array();
  for (const SkippedNode& node : plan.skipped) {
    skipped.push_back({{"name", node.name}, {"operator", node.op_type}, {"reason", node.reason}});
  }
  return {{"model", model},
          {"block", plan.block},
          {"layers", layers},
          {"skipped", skipped},
          {"total", {{"layers", plan.layers.size()}, {"matmuls", plan.matmuls()}}},
          {"bytes", bytes}};
}

}  // namespace gemm64
