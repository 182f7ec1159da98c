// SPDX-License-Identifier: Apache-2.0
#include "host/compile/table_node.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "host/compile/vector_node.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

bool is_byte(int type) { return type == TensorProto::INT8 || type == TensorProto::UINT8; }

/// Operators whose results are, value by value, functions of their inputs.
bool is_value_by_value(const NodeProto& node) {
  static const std::set<std::string> kNames = {"Abs",
                                               "Add",
                                               "Celu",
                                               "Clip",
                                               "DequantizeLinear",
                                               "Div",
                                               "Elu",
                                               "Erf",
                                               "Exp",
                                               "Gelu",
                                               "HardSigmoid",
                                               "HardSwish",
                                               "LeakyRelu",
                                               "Max",
                                               "Min",
                                               "Mish",
                                               "Mul",
                                               "Neg",
                                               "Pow",
                                               "QuantizeLinear",
                                               "Reciprocal",
                                               "Relu",
                                               "Selu",
                                               "Sigmoid",
                                               "Softplus",
                                               "Softsign",
                                               "Sqrt",
                                               "Sub",
                                               "Tanh",
                                               "ThresholdedRelu",
                                               "com.microsoft.DequantizeLinear",
                                               "com.microsoft.Gelu",
                                               "com.microsoft.QLinearAdd",
                                               "com.microsoft.QLinearLeakyRelu",
                                               "com.microsoft.QLinearMul",
                                               "com.microsoft.QLinearSigmoid",
                                               "com.microsoft.QuantizeLinear",
                                               "com.microsoft.QuickGelu"};
  return kNames.count(operator_name(node)) != 0 && node.output_size() == 1;
}

/// Where the scale of a node's results stands among its inputs.
int result_scale(const NodeProto& node) {
  const std::string& type = node.op_type();
  if (type == "QuantizeLinear") return 1;
  return type == "QLinearAdd" || type == "QLinearMul" ? 6 : 3;
}

/// Has the file all constants of a node, not only their shapes?
bool has_all_data(const OnnxModel& model, const NodeProto& node) {
  return std::all_of(node.input().begin(), node.input().end(), [&](const std::string& name) {
    const TensorProto* const constant = model.constant(name);
    return constant == nullptr || has_data(*constant);
  });
}

/// What nodes make of all 256 bytes of a type: `result` of `value`, whose tensor has `rank` axes.
/// Throws UsageError if ONNX Runtime refuses the nodes.
std::vector<std::uint8_t> table_of(const HostNodes& nodes, const std::string& value,
                                   const TensorType& type, const std::string& result,
                                   const std::vector<NodeProto>& more = {}) {
  Dims dims(std::max<std::size_t>(type.dims.size(), 2), 1);
  dims.back() = 256;  // ONNX Runtime rounds runs of few values otherwise than long ones
  Tensor all(static_cast<DataType>(type.data_type), dims);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(all.mutable_raw());
  std::iota(bytes, bytes + 256, std::uint8_t{0});
  const Tensor found = nodes.kept_values({result}, {{value, all}}, more).at(result);
  if (found.bytes() != 256) throw UsageError("not one result for each value");
  const auto* const raw = reinterpret_cast<const std::uint8_t*>(found.raw());
  return {raw, raw + 256};
}

/// The function of one value, as far as it goes.
class Region {
 public:
  Region(const HostNodes& nodes, const Readers& readers, std::string value)
      : host_(nodes), model_(nodes.model()), readers_(readers), value_(std::move(value)) {
    const auto type = model_.type(value_);
    if (!type || !is_byte(type->data_type)) return;
    type_ = *type;
    grow();
  }

  std::optional<TableNodes> largest(bool shared) const {
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      const auto type = model_.type(proto(*node).output(0));
      if (!type || type->data_type != type_.data_type) continue;
      std::set<int> part = {*node};
      for (auto before = nodes_.rbegin(); before != nodes_.rend(); ++before) {
        if (part.count(*before) != 0) add_inputs(*before, part);
      }
      if (!is_closed(part, *node) || (!shared && !stays(part, value_))) continue;
      if (auto made = table(part, *node)) return made;
    }
    return std::nullopt;
  }

 private:
  const NodeProto& proto(int node) const { return model_.graph().node(node); }

  /// A constant of one element, which is known before anything runs.
  bool is_single(const std::string& name) const {
    const auto type = model_.type(name);
    return model_.constant(name) != nullptr && type && type->elements() == 1;
  }

  /// Adds all nodes whose inputs are the value, constants, or of nodes before.
  void grow() {
    std::set<int> next;
    const auto add_readers = [&](const std::string& name) {
      const auto found = readers_.find(name);
      if (found == readers_.end()) return;
      for (const int node : found->second) {
        if (node < model_.graph().node_size()) next.insert(node);
      }
    };
    makers_[value_] = -1;
    add_readers(value_);
    while (!next.empty()) {
      const int node = *next.begin();
      next.erase(next.begin());
      if (!belongs(node)) continue;
      nodes_.push_back(node);
      makers_[proto(node).output(0)] = node;
      add_readers(proto(node).output(0));
    }
  }

  bool belongs(int node) const {
    if (!is_value_by_value(proto(node))) return false;
    const auto type = model_.type(proto(node).output(0));
    if (!type || type->dims != type_.dims) return false;
    return std::all_of(proto(node).input().begin(), proto(node).input().end(),
                       [this](const std::string& name) {
                         return name.empty() || makers_.count(name) != 0 || is_single(name);
                       });
  }

  void add_inputs(int node, std::set<int>& part) const {
    for (const std::string& name : proto(node).input()) {
      const auto maker = makers_.find(name);
      if (maker != makers_.end() && maker->second >= 0) part.insert(maker->second);
    }
  }

  /// Does nothing but a part's nodes read a value?
  bool stays(const std::set<int>& part, const std::string& name) const {
    const std::vector<int>& all = readers_.at(name);
    return std::all_of(all.begin(), all.end(),
                       [&part](int reader) { return part.count(reader) != 0; });
  }

  /// Does nothing else read what the nodes of a part but the last one give?
  bool is_closed(const std::set<int>& part, int last) const {
    return std::all_of(part.begin(), part.end(), [&](int node) {
      return node == last || stays(part, proto(node).output(0));
    });
  }

  std::optional<TableNodes> table(const std::set<int>& part, int last) const {
    TableNodes made;
    made.nodes.assign(part.begin(), part.end());
    const NodeProto& node = proto(last);
    const NodeContext context{&node, node_label(node, last), model_.opset()};
    const auto result = constant_quantization(model_, context, result_scale(node),
                                              static_cast<DataType>(type_.data_type));
    if (!result) return std::nullopt;
    made.result = *result;
    made.table.resize(256);
    for (const int index : part) {
      if (!has_all_data(model_, proto(index))) return made;
    }
    try {
      made.table = table_of(host_, value_, type_, node.output(0));
    } catch (const UsageError&) {  // where it runs, the host will tell of it
      return std::nullopt;
    }
    return made;
  }

  const HostNodes& host_;
  const OnnxModel& model_;
  const Readers& readers_;
  const std::string value_;
  TensorType type_{};
  std::vector<int> nodes_;             // in the graph's order
  std::map<std::string, int> makers_;  // of each value; -1: it is the one that is given
};

}  // namespace

Readers readers_of(const OnnxModel& model) {
  Readers readers;
  const onnx::GraphProto& graph = model.graph();
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& name : graph.node(i).input()) {
      if (!name.empty()) readers[name].push_back(i);
    }
  }
  for (const onnx::ValueInfoProto& output : graph.output()) {
    readers[output.name()].push_back(graph.node_size());
  }
  return readers;
}

std::optional<TableNodes> read_table(const HostNodes& nodes, const Readers& readers,
                                     const std::string& value, bool shared) {
  if (readers.count(value) == 0) return std::nullopt;
  return Region(nodes, readers, value).largest(shared);
}

onnx::NodeProto concat_of_part(const onnx::NodeProto& node, int part) {
  NodeProto part_node = node;
  part_node.clear_input();
  for (const int input : {0, 1, part, part + 1, part + 2}) part_node.add_input(node.input(input));
  return part_node;
}

std::vector<std::uint8_t> concat_table(const HostNodes& nodes, int index, int part) {
  const OnnxModel& model = nodes.model();
  const NodeProto& node = model.graph().node(index);
  NodeProto part_node = concat_of_part(node, part);
  if (!has_all_data(model, part_node)) return {};
  *part_node.mutable_output(0) += " of one input";
  const std::vector<std::uint8_t> table = table_of(
      nodes, node.input(part), *model.type(node.input(part)), part_node.output(0), {part_node});
  std::vector<std::uint8_t> same(table.size());
  std::iota(same.begin(), same.end(), std::uint8_t{0});
  return table == same ? std::vector<std::uint8_t>() : table;
}

}  // namespace gemm64
