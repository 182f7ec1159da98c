// SPDX-License-Identifier: Apache-2.0
#include "host/compile/pass_order.hpp"

#include <fmt/format.h>

#include <set>
#include <stdexcept>
#include <unordered_set>

#include "host/onnx/supported.hpp"

namespace gemm64 {
namespace {

class Order {
 public:
  Order(const OnnxModel& model, const DevicePlan& plan);

  std::vector<PassItem> take() {
    free_values();
    return std::move(items_);
  }

 private:
  const onnx::NodeProto& node(std::size_t index) const {
    return model_.graph().node(static_cast<int>(index));
  }
  void add(bool is_program, std::size_t index);
  void add_nodes();
  bool is_ready(const DeviceProgram& program) const;
  std::vector<std::size_t> nodes_of(const PassItem& item) const;
  void free_values();

  const OnnxModel& model_;
  const DevicePlan& plan_;
  std::vector<std::size_t> left_;            // nodes in no program that are not in the order yet
  std::unordered_set<std::string> missing_;  // values that come of what is not in the order yet
  std::vector<PassItem> items_;
};

Order::Order(const OnnxModel& model, const DevicePlan& plan) : model_(model), plan_(plan) {
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
  add_nodes();
  for (std::size_t i = 0; i < plan.programs.size(); ++i) {
    if (!is_ready(plan.programs[i])) {
      throw std::logic_error(fmt::format("program {} reads what comes behind it", i + 1));
    }
    add(true, i);
    add_nodes();
  }
}

std::vector<std::size_t> Order::nodes_of(const PassItem& item) const {
  if (!item.is_program) return {item.index};
  std::vector<std::size_t> nodes;
  for (const DeviceLayer& layer : plan_.programs[item.index].layers) {
    for (const int node : layer.nodes()) nodes.push_back(static_cast<std::size_t>(node));
  }
  return nodes;
}

void Order::add(bool is_program, std::size_t index) {
  items_.push_back({is_program, index, {}});
  for (const std::size_t i : nodes_of(items_.back())) {
    for (const std::string& name : node(i).output()) missing_.erase(name);
  }
}

/// Adds all nodes whose inputs are there. Of nodes in the graph's order, one walk finds all.
void Order::add_nodes() {
  std::vector<std::size_t> left;
  for (const std::size_t i : left_) {
    bool ready = true;
    for (const std::string& name : node(i).input()) ready = ready && missing_.count(name) == 0;
    if (ready) {
      add(false, i);
    } else {
      left.push_back(i);
    }
  }
  left_ = std::move(left);
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

std::vector<PassItem> pass_order(const OnnxModel& model, const DevicePlan& plan) {
  return Order(model, plan).take();
}

std::string to_string(const std::vector<PassItem>& order, const OnnxModel& model,
                      const DevicePlan& plan) {
  const auto label = [&model](int node) { return node_label(model.graph().node(node), node); };
  std::string text;
  for (const PassItem& item : order) {
    if (!item.is_program) {
      text += fmt::format("host: {}\n", label(static_cast<int>(item.index)));
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
