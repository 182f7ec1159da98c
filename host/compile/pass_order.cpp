// SPDX-License-Identifier: Apache-2.0
#include "host/compile/pass_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <unordered_set>

#include "host/graph/onnx/supported.hpp"

namespace gemm64 {
namespace {

/// Of a program of sums that has more than one node.
constexpr std::uint64_t kMostTilesOfSums = 16'384;

class Order {
 public:
  Order(const OnnxModel& model, const DevicePlan& plan,
        const std::map<std::size_t, std::uint64_t>& sums);

  std::vector<PassItem> take() {
    free_values();
    return std::move(items_);
  }

 private:
  const onnx::NodeProto& node(std::size_t index) const {
    return model_.graph().node(static_cast<int>(index));
  }
  void add(PassItem item);
  bool is_ready(std::size_t index) const;
  void add_nodes();
  bool add_sums();
  void add_all();
  bool is_ready(const DeviceProgram& program) const;
  std::vector<std::size_t> nodes_of(const PassItem& item) const;
  void free_values();

  const OnnxModel& model_;
  const DevicePlan& plan_;
  const std::map<std::size_t, std::uint64_t>& sums_;
  std::size_t programs_of_sums_ = 0;
  std::vector<std::size_t> left_;            // nodes in no program that are not in the order yet
  std::unordered_set<std::string> missing_;  // values that come of what is not in the order yet
  std::vector<PassItem> items_;
};

Order::Order(const OnnxModel& model, const DevicePlan& plan,
             const std::map<std::size_t, std::uint64_t>& sums)
    : model_(model), plan_(plan), sums_(sums) {
  std::set<int> in_programs;
  for (const DeviceProgram& program : plan.programs) {
    for (const DeviceLayer& layer : program.layers) {
      for (const int node : layer.nodes()) in_programs.insert(node);
    }
  }
  for (int i = 0; i < model.graph().node_size(); ++i) {
    const onnx::NodeProto& proto = model.graph().node(i);
    for (const std::string& name : proto.output()) {
      if (!name.empty()) missing_.insert(name);
    }
    if (in_programs.count(i) == 0) left_.push_back(static_cast<std::size_t>(i));
  }
  add_all();
  for (std::size_t i = 0; i < plan.programs.size(); ++i) {
    if (!is_ready(plan.programs[i])) {
      throw std::logic_error(fmt::format("program {} reads a result of a later one", i + 1));
    }
    add({PassItem::Kind::kProgram, i, {}, {}});
    add_all();
  }
}

std::vector<std::size_t> Order::nodes_of(const PassItem& item) const {
  if (item.kind == PassItem::Kind::kSums) return item.nodes;
  if (item.kind == PassItem::Kind::kNode) return {item.index};
  std::vector<std::size_t> nodes;
  for (const DeviceLayer& layer : plan_.programs[item.index].layers) {
    for (const int node : layer.nodes()) nodes.push_back(static_cast<std::size_t>(node));
  }
  return nodes;
}

void Order::add(PassItem item) {
  items_.push_back(std::move(item));
  for (const std::size_t i : nodes_of(items_.back())) {
    for (const std::string& name : node(i).output()) missing_.erase(name);
  }
}

bool Order::is_ready(std::size_t index) const {
  const auto& inputs = node(index).input();
  return std::none_of(inputs.begin(), inputs.end(),
                      [this](const std::string& name) { return missing_.count(name) != 0; });
}

/// Adds all nodes whose inputs are there, but those of sums. Of nodes in the graph's order, one
/// walk finds all.
void Order::add_nodes() {
  std::vector<std::size_t> left;
  for (const std::size_t i : left_) {
    if (sums_.count(i) == 0 && is_ready(i)) {
      add({PassItem::Kind::kNode, i, {}, {}});
    } else {
      left.push_back(i);
    }
  }
  left_ = std::move(left);
}

/// Adds all nodes of sums whose inputs are there.
bool Order::add_sums() {
  std::vector<std::size_t> left;
  std::vector<PassItem> programs;
  std::uint64_t tiles = 0;
  for (const std::size_t i : left_) {
    const auto own = sums_.find(i);
    if (own == sums_.end() || !is_ready(i)) {
      left.push_back(i);
      continue;
    }
    if (programs.empty() || own->second > kMostTilesOfSums - std::min(tiles, kMostTilesOfSums)) {
      programs.push_back({PassItem::Kind::kSums, programs_of_sums_++, {}, {}});
      tiles = 0;
    }
    tiles += own->second;
    programs.back().nodes.push_back(i);
  }
  left_ = std::move(left);
  for (PassItem& program : programs) add(std::move(program));
  return !programs.empty();
}

/// Adds all that needs no program of the plan which is not there yet.
void Order::add_all() {
  do {
    add_nodes();
  } while (add_sums());
}

bool Order::is_ready(const DeviceProgram& program) const {
  for (const DeviceLayer& layer : program.layers) {
    if (!layer.source && missing_.count(layer.input_value) != 0) return false;
    if (!layer.operand && missing_.count(layer.second) != 0) return false;
    if (missing_.count(layer.weights_value) != 0) return false;
  }
  return true;
}

void Order::free_values() {
  std::unordered_set<std::string> seen;
  for (const onnx::ValueInfoProto& output : model_.graph().output()) seen.insert(output.name());
  for (auto item = items_.rbegin(); item != items_.rend(); ++item) {
    // Outputs that nothing reads are seen here for the first time as well.
    for (const std::size_t i : nodes_of(*item)) {
      for (const auto* names : {&node(i).input(), &node(i).output()}) {
        for (const std::string& name : *names) {
          if (!name.empty() && seen.insert(name).second) item->last_uses.push_back(name);
        }
      }
    }
  }
}

}  // namespace

std::vector<PassItem> pass_order(const OnnxModel& model, const DevicePlan& plan,
                                 const std::map<std::size_t, std::uint64_t>& sums) {
  return Order(model, plan, sums).take();
}

std::string to_string(const std::vector<PassItem>& order, const OnnxModel& model,
                      const DevicePlan& plan) {
  const auto label = [&model](int node) { return node_label(model.graph().node(node), node); };
  std::string text;
  for (const PassItem& item : order) {
    if (item.kind == PassItem::Kind::kNode) {
      text += fmt::format("host: {}\n", label(static_cast<int>(item.index)));
      continue;
    }
    if (item.kind == PassItem::Kind::kSums) {
      std::string nodes;
      for (const std::size_t node : item.nodes) {
        nodes += (nodes.empty() ? "" : ", ") + label(static_cast<int>(node));
      }
      text += fmt::format("sums: {}\n", nodes);
      continue;
    }
    std::string layers;
    for (const DeviceLayer& layer : plan.programs[item.index].layers) {
      layers += layers.empty() ? "" : ", ";
      for (const int node : layer.nodes())
        layers += (node == layer.node ? "" : " + ") + label(node);
    }
    text += fmt::format("program {}: {}\n", item.index + 1, layers);
  }
  return text;
}

}  // namespace gemm64
