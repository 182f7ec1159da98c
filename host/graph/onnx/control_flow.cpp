// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/control_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "host/graph/onnx/model.hpp"
#include "host/graph/onnx/renaming.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/graph/proto/value_form.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

constexpr std::int64_t kMaxNodes = 100'000;
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
constexpr std::int64_t kMostTurns = std::int64_t{1} << 40;  // which take days

/// Why a node stays.
struct Kept {
  std::string why;
};

const GraphProto& subgraph(const NodeProto& node, const char* name) {
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == name && attribute.has_g()) return attribute.g();
  }
  throw Kept{fmt::format("without a {}", name)};
}

/// The one value of a constant of integers or bool.
std::optional<std::int64_t> number_of(const TensorProto& tensor) {
  const auto values = integer_values(tensor, 1);
  if (!values || values->size() != 1) return std::nullopt;
  return values->front();
}

const TensorProto* value_of(const NodeProto& node) {
  if (node.op_type() != "Constant" || node.output_size() != 1) return nullptr;
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "value" && attribute.has_t()) return &attribute.t();
  }
  return nullptr;
}

void set_integers(AttributeProto& attribute, const char* name, std::int64_t value, bool list) {
  attribute.set_name(name);
  attribute.set_type(list ? AttributeProto::INTS : AttributeProto::INT);
  if (list) {
    attribute.add_ints(value);
  } else {
    attribute.set_i(value);
  }
}

/// A Loop or Scan whose turns are known.
struct Turns {
  std::int64_t count = 0;
  const GraphProto* body = nullptr;
  int first_state = 0;  // of the node's inputs, and of the body's after `leading` others
  int states = 0;
  int leading = 0;          // inputs of the body before its states: a Loop's number and condition
  int leading_outputs = 0;  // outputs of the body before its states
};

class Unfolder {
 public:
  Unfolder(onnx::ModelProto& model, const ValueFacts& facts, const std::set<std::string>& fixed,
           std::int64_t opset, KeptControlFlow& kept)
      : graph_(*model.mutable_graph()),
        facts_(facts),
        fixed_(fixed),
        opset_(opset),
        kept_(kept),
        fresh_(graph_) {}

  Unfolded run();

 private:
  void unfold(const NodeProto& node);
  void take_branch(const NodeProto& node);
  void unroll_loop(const NodeProto& node);
  void unroll_scan(const NodeProto& node);
  void unroll(const NodeProto& node, const Turns& turns);
  void check_size(const NodeProto& node, const GraphProto& body, std::int64_t turns) const;
  bool stays_true(const GraphProto& body);
  Names constants(const GraphProto& body, const std::string& label);
  void add_nodes(const GraphProto& body, const std::string& label, Names& names);
  void join(const std::vector<std::string>& parts, std::int64_t axis, const std::string& label,
            const std::string& to);

  std::optional<std::int64_t> known(const std::string& value) {
    const auto found = facts_.integers.find(value);
    if (found == facts_.integers.end() || found->second.size() != 1) return std::nullopt;
    done_.by_shapes = done_.by_shapes || fixed_.count(value) == 0;
    return found->second.front();
  }

  NodeProto& add(const std::string& op, const std::vector<std::string>& inputs,
                 const std::string& output) {
    NodeProto& node = nodes_.emplace_back();
    node.set_op_type(op);
    node.set_name(output);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
    return node;
  }

  std::string constant(const std::string& like, int type, std::int64_t value, bool list = false) {
    TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(fresh_.make(like));
    tensor.set_data_type(type);
    if (list) tensor.add_dims(1);
    if (type == TensorProto::INT64) {
      tensor.add_int64_data(value);
    } else {
      tensor.add_int32_data(static_cast<std::int32_t>(value));
    }
    return tensor.name();
  }

  GraphProto& graph_;
  const ValueFacts& facts_;
  const std::set<std::string>& fixed_;
  std::int64_t opset_;
  KeptControlFlow& kept_;
  FreshNames fresh_;
  std::vector<NodeProto> nodes_;
  std::size_t bytes_ = 0;  // of nodes that were added
  Unfolded done_;
};

std::string label_of(const NodeProto& node) {
  return node.name().empty() ? node.op_type() : node.name();
}

/// Before opset 14, Identity copies no sequence.
void check_values(const GraphProto& body) {
  for (const onnx::ValueInfoProto& output : body.output()) {
    if (value_form(output.type()).is_sequence) throw Kept{"of sequences"};
  }
}

/// Refuses what makes the graph too large.
void Unfolder::check_size(const NodeProto& node, const GraphProto& body, std::int64_t turns) const {
  const std::int64_t each = std::max(body.node_size(), 1);
  std::size_t bytes = 0;
  for (const NodeProto& inner : body.node()) {
    if (value_of(inner) == nullptr) bytes += inner.ByteSizeLong();
  }
  const auto room = kMaxNodes - static_cast<std::int64_t>(nodes_.size());
  const std::size_t room_bytes = (kMaxBytes - std::min(bytes_, kMaxBytes)) / (bytes + 1);
  if (turns <= room / each && static_cast<std::uint64_t>(turns) <= room_bytes) return;
  if (node.op_type() == "If") throw Kept{"after too many nodes"};
  throw Kept{fmt::format("of {} turns of {} each; at most {} nodes are unrolled",
                         grouped(static_cast<std::uint64_t>(turns)),
                         counted(static_cast<std::uint64_t>(body.node_size()), "node"),
                         grouped(static_cast<std::uint64_t>(kMaxNodes)))};
}

/// The subgraph's constants, in the graph itself, by their new names.
Names Unfolder::constants(const GraphProto& body, const std::string& label) {
  if (body.sparse_initializer_size() != 0) throw Kept{"with a sparse initializer inside"};
  Names names;
  const auto take = [&](const TensorProto& tensor, const std::string& name) {
    TensorProto& own = *graph_.add_initializer();
    own = tensor;
    own.set_name(fresh_.make(label + "/" + name));
    names[name] = own.name();
  };
  for (const TensorProto& tensor : body.initializer()) take(tensor, tensor.name());
  for (const NodeProto& node : body.node()) {
    if (const TensorProto* const value = value_of(node)) take(*value, node.output(0));
  }
  return names;
}

/// The subgraph's other nodes, whose values get new names.
void Unfolder::add_nodes(const GraphProto& body, const std::string& label, Names& names) {
  for (const NodeProto& inner : body.node()) {
    for (const std::string& output : inner.output()) {
      if (!output.empty() && value_of(inner) == nullptr) {
        names[output] = fresh_.make(fmt::format("{}/{}", label, output));
      }
    }
  }
  for (const NodeProto& inner : body.node()) {
    if (value_of(inner) != nullptr) continue;
    NodeProto& node = nodes_.emplace_back(inner);
    node.set_name(label + "/" + label_of(inner));
    take_names(node, names, nullptr);
    bytes_ += node.ByteSizeLong();
  }
}

void Unfolder::take_branch(const NodeProto& node) {
  const auto condition = known(node.input(0));
  if (!condition) throw Kept{"whose condition is not known before the network runs"};
  const GraphProto& branch = subgraph(node, *condition != 0 ? "then_branch" : "else_branch");
  if (branch.output_size() != node.output_size() || branch.input_size() != 0) {
    throw Kept{"whose branch has other outputs than it"};
  }
  check_values(branch);
  check_size(node, branch, 1);
  const std::string label = label_of(node);
  Names names = constants(branch, label);
  add_nodes(branch, label, names);
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    add("Identity", {renamed(names, branch.output(i).name())}, node.output(i));
  }
}

/// Is a Loop's condition true after each turn?
bool Unfolder::stays_true(const GraphProto& body) {
  std::string value = body.output(0).name();
  // Each step goes back to an earlier node.
  for (int step = 0; step <= body.node_size(); ++step) {
    if (value == body.input(1).name()) return true;
    for (const TensorProto& tensor : body.initializer()) {
      if (tensor.name() == value) return number_of(tensor).value_or(0) != 0;
    }
    const auto maker =
        std::find_if(body.node().begin(), body.node().end(), [&value](const NodeProto& node) {
          return node.output_size() == 1 && node.output(0) == value;
        });
    if (maker == body.node().end()) return known(value).value_or(0) != 0;  // of the outer graph
    if (const TensorProto* const constant = value_of(*maker)) {
      return number_of(*constant).value_or(0) != 0;
    }
    const bool same = maker->op_type() == "Identity" || maker->op_type() == "Cast";
    if (!same || maker->input_size() != 1) return false;
    value = maker->input(0);
  }
  return false;
}

void Unfolder::unroll_loop(const NodeProto& node) {
  const auto input = [&node](int i) { return i < node.input_size() ? node.input(i) : ""; };
  Turns turns;
  turns.body = &subgraph(node, "body");
  turns.first_state = turns.leading = 2;
  turns.leading_outputs = 1;
  turns.states = std::max(node.input_size() - 2, 0);
  if (turns.body->input_size() != turns.states + 2 ||
      turns.body->output_size() < turns.states + 1) {
    throw Kept{"whose body has other inputs or outputs than it"};
  }
  const auto condition = input(1).empty() ? std::optional<std::int64_t>(1) : known(input(1));
  if (!condition) throw Kept{"whose condition is not known before the network runs"};
  if (*condition != 0) {
    if (!stays_true(*turns.body)) throw Kept{"whose condition is computed in each turn"};
    if (input(0).empty()) throw Kept{kEndless};
    const auto count = known(input(0));
    if (!count) throw Kept{"whose trip count is not known before the network runs"};
    if (*count > kMostTurns) throw Kept{kEndless};
    turns.count = std::max<std::int64_t>(*count, 0);
  }
  unroll(node, turns);
}

void Unfolder::unroll_scan(const NodeProto& node) {
  if (opset_ < 9) throw Kept{"as before opset 9"};
  Turns turns;
  turns.body = &subgraph(node, "body");
  const std::int64_t scanned = attribute(node, "num_scan_inputs", std::int64_t{0});
  if (scanned < 1 || scanned > node.input_size() || turns.body->input_size() != node.input_size()) {
    throw Kept{"whose body has other inputs or outputs than it"};
  }
  turns.states = node.input_size() - static_cast<int>(scanned);
  if (turns.body->output_size() < turns.states) {
    throw Kept{"whose body has other inputs or outputs than it"};
  }
  const auto axes = attribute(node, "scan_input_axes", std::vector<std::int64_t>{});
  for (int i = turns.states; i < node.input_size(); ++i) {
    const auto type = facts_.types.find(node.input(i));
    if (type == facts_.types.end()) throw Kept{"over a size that is not known before it runs"};
    const auto rank = static_cast<std::int64_t>(type->second.dims.size());
    const auto at = static_cast<std::size_t>(i - turns.states);
    std::int64_t axis = at < axes.size() ? axes[at] : 0;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) throw Kept{"over an axis that its input has not"};
    const std::int64_t size = type->second.dims[static_cast<std::size_t>(axis)];
    if (at != 0 && size != turns.count) throw Kept{"over sizes that differ"};
    turns.count = size;
    done_.by_shapes = true;
  }
  unroll(node, turns);
}

/// The parts stacked along a new axis.
void Unfolder::join(const std::vector<std::string>& parts, std::int64_t axis,
                    const std::string& label, const std::string& to) {
  std::vector<std::string> pieces;
  const std::string axes =
      opset_ >= 13 ? constant(label + "/axis", TensorProto::INT64, axis, true) : "";
  for (const std::string& part : parts) {
    pieces.push_back(fresh_.make(part + "/piece"));
    NodeProto& piece = add("Unsqueeze", {part}, pieces.back());
    if (opset_ >= 13) {
      piece.add_input(axes);
    } else {
      set_integers(*piece.add_attribute(), "axes", axis, true);
    }
  }
  set_integers(*add("Concat", pieces, to).add_attribute(), "axis", axis, false);
}

void Unfolder::unroll(const NodeProto& node, const Turns& turns) {
  const GraphProto& body = *turns.body;
  const int joined = body.output_size() - turns.leading_outputs - turns.states;
  if (node.output_size() > turns.states + joined) {
    throw Kept{"whose body has other inputs or outputs than it"};
  }
  int named = node.output_size();
  while (named > 0 && node.output(named - 1).empty()) --named;
  if (turns.count == 0 && named > turns.states) {
    throw Kept{"of no turn, whose joined outputs have no size"};
  }
  check_values(body);
  check_size(node, body, turns.count);
  const std::string label = label_of(node);
  const Names shared = constants(body, label);
  const auto list = [&node](const char* name, int i) {
    const auto values = attribute(node, name, std::vector<std::int64_t>{});
    const auto at = static_cast<std::size_t>(i);
    return at < values.size() ? values[at] : std::int64_t{0};
  };
  const bool is_loop = node.op_type() == "Loop";
  const std::string condition = is_loop ? constant(label + "/condition", TensorProto::BOOL, 1) : "";
  std::vector<std::string> states;
  for (int i = 0; i < turns.states; ++i) states.push_back(node.input(turns.first_state + i));
  std::vector<std::vector<std::string>> parts(static_cast<std::size_t>(joined));
  for (std::int64_t turn = 0; turn < turns.count; ++turn) {
    const std::string here = fmt::format("{}/{}", label, turn);
    Names names = shared;
    if (is_loop) {
      names[body.input(0).name()] = constant(here + "/number", TensorProto::INT64, turn);
      names[body.input(1).name()] = condition;
    }
    for (int i = 0; i < turns.states; ++i) {
      names[body.input(turns.leading + i).name()] = states[static_cast<std::size_t>(i)];
    }
    for (int i = turns.states; !is_loop && i < node.input_size(); ++i) {
      const int scanned = i - turns.states;
      const bool back = list("scan_input_directions", scanned) != 0;
      const std::string at =
          constant(here + "/number", TensorProto::INT64, back ? turns.count - 1 - turn : turn);
      const std::string slice = fresh_.make(here + "/" + body.input(i).name());
      set_integers(*add("Gather", {node.input(i), at}, slice).add_attribute(), "axis",
                   list("scan_input_axes", scanned), false);
      names[body.input(i).name()] = slice;
    }
    add_nodes(body, here, names);
    const auto result = [&](int i) {
      return renamed(names, body.output(turns.leading_outputs + i).name());
    };
    for (int i = 0; i < turns.states; ++i) states[static_cast<std::size_t>(i)] = result(i);
    for (int i = 0; i < joined; ++i) {
      parts[static_cast<std::size_t>(i)].push_back(result(turns.states + i));
    }
  }
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    if (i < turns.states) {
      add("Identity", {states[static_cast<std::size_t>(i)]}, node.output(i));
      continue;
    }
    const int at = i - turns.states;
    std::vector<std::string>& pieces = parts[static_cast<std::size_t>(at)];
    if (list("scan_output_directions", at) != 0) std::reverse(pieces.begin(), pieces.end());
    join(pieces, list("scan_output_axes", at), label, node.output(i));
  }
}

void Unfolder::unfold(const NodeProto& node) {
  if (node.op_type() == "If") take_branch(node);
  if (node.op_type() == "Loop") unroll_loop(node);
  if (node.op_type() == "Scan") unroll_scan(node);
}

Unfolded Unfolder::run() {
  std::vector<NodeProto> nodes(graph_.node().begin(), graph_.node().end());
  for (NodeProto& node : nodes) {
    if (!is_control_flow(node)) {
      nodes_.push_back(std::move(node));
      continue;
    }
    const std::size_t before = nodes_.size();
    const int tensors = graph_.initializer_size();
    const bool by_shapes = done_.by_shapes;
    try {
      unfold(node);
      done_.any = true;
    } catch (const Kept& kept) {
      done_.by_shapes = by_shapes;
      nodes_.resize(before);
      graph_.mutable_initializer()->DeleteSubrange(tensors, graph_.initializer_size() - tensors);
      if (node.output_size() != 0) kept_[node.output(0)] = kept.why;
      nodes_.push_back(std::move(node));
    }
  }
  if (!done_.any) return done_;  // others may hold subgraphs of the graph's nodes
  graph_.clear_node();
  for (NodeProto& node : nodes_) *graph_.add_node() = std::move(node);
  return done_;
}

}  // namespace

bool is_control_flow(const NodeProto& node) {
  const std::string& op = node.op_type();
  return node.domain().empty() && (op == "If" || op == "Loop" || op == "Scan");
}

Unfolded unfold_control_flow(onnx::ModelProto& model, const ValueFacts& facts,
                             const std::set<std::string>& fixed, std::int64_t opset,
                             KeptControlFlow& kept) {
  kept.clear();
  const auto& nodes = model.graph().node();
  if (std::none_of(nodes.begin(), nodes.end(), is_control_flow)) return {};
  return Unfolder(model, facts, fixed, opset, kept).run();
}

}  // namespace gemm64
