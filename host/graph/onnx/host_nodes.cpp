// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/host_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/onnx/host_session.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
/// The nodes that some values depend on, as a model.
class HostNodes::PartModel {
 public:
  PartModel(const OnnxModel& model, const Makers& makers, const Values& given,
            const std::vector<onnx::NodeProto>& more)
      : model_(model), makers_(makers), given_(given) {
    for (const onnx::NodeProto& node : more) {
      for (const std::string& name : node.output()) more_[name] = &node;
    }
    made_.proto.set_ir_version(std::clamp<std::int64_t>(model.proto().ir_version(), 4, 10));
    *made_.proto.mutable_functions() = model.proto().functions();
    for (const auto& [domain, version] : model.opsets()) add_opset(domain, version);
    if (model.opsets().count("") == 0) add_opset("", model.opset());
    if (model.opsets().count("com.microsoft") == 0) add_opset("com.microsoft", 1);
    made_.proto.mutable_graph()->set_name("part");
  }

  /// Throws UsageError if something that the value depends on is neither computed nor given.
  void add_output(const std::string& name) {
    add(name);
    made_.proto.mutable_graph()->add_output()->set_name(name);
  }

  const HostModel& made() const { return made_; }
  const std::vector<std::string>& inputs() const { return inputs_; }

 private:
  bool is_available(const std::string& name) const {
    return model_.constant(name) != nullptr || given_.count(name) != 0 ||
           makers_.count(name) != 0 || more_.count(name) != 0;
  }

  void add_opset(const std::string& domain, std::int64_t version) {
    onnx::OperatorSetIdProto& set = *made_.proto.add_opset_import();
    set.set_domain(domain);
    set.set_version(version);
  }

  /// Adds what makes a value: an initializer, an input, or a node after those that it reads.
  void add(const std::string& name) {
    if (name.empty() || !known_.insert(name).second) return;
    onnx::GraphProto& graph = *made_.proto.mutable_graph();
    if (const onnx::TensorProto* const constant = model_.constant(name)) {
      add_constant(name, *constant);
      return;
    }
    const auto given = given_.find(name);
    if (given != given_.end()) {
      onnx::ValueInfoProto& input = *graph.add_input();
      input.set_name(name);
      input.mutable_type()->mutable_tensor_type()->set_elem_type(given->second.type());
      inputs_.push_back(name);
      return;
    }
    const auto more = more_.find(name);
    const auto maker = makers_.find(name);
    if (more != more_.end()) {
      add_node(*more->second, more->second->name());
    } else if (maker != makers_.end()) {
      add_node(*maker->second.node, node_label(*maker->second.node, maker->second.index));
    } else {
      throw UsageError(fmt::format("{}: '{}' has no value", model_.name(), printable(name)));
    }
  }

  void add_node(const onnx::NodeProto& node, const std::string& name) {
    known_.insert(node.output().begin(), node.output().end());
    for (const std::string& input : node.input()) add(input);
    std::set<std::string> inner;  // values of the bodies' own among them
    add_inner_reads(node, inner);
    for (const std::string& input : inner) {
      if (is_available(input)) add(input);
    }
    std::string label = name;
    for (int i = 2; !labels_.insert(label).second; ++i) label = fmt::format("{}.{}", name, i);
    onnx::NodeProto& made = *made_.proto.mutable_graph()->add_node() = node;
    made.set_name(label);
  }

  /// Large ones are shared with the session, if they have their own name.
  void add_constant(const std::string& name, const onnx::TensorProto& tensor) {
    constexpr std::size_t kLeastShared = 4096;  // bytes
    onnx::TensorProto& made = *made_.proto.mutable_graph()->add_initializer();
    if (tensor.name() == name && tensor.raw_data().size() >= kLeastShared) {
      made = ort::refer_to_data(tensor);
      made_.weights.push_back(&tensor);
    } else {
      made = tensor;
      made.set_name(name);
    }
  }

  const OnnxModel& model_;
  const Makers& makers_;
  const Values& given_;
  std::map<std::string, const onnx::NodeProto*> more_;
  std::set<std::string> known_, labels_;
  HostModel made_;
  std::vector<std::string> inputs_;
};

struct HostNodes::Part {
  Part(const HostModel& model, std::vector<std::string> names)
      : environment(ort::own_library()),
        session(host_session(environment, model)),
        inputs(std::move(names)) {}

  const ort::Environment environment;
  const ort::Session session;
  const std::vector<std::string> inputs;
};

std::map<std::string, Tensor> HostNodes::values(const std::vector<std::string>& wanted,
                                                const Values& given) const {
  return values(wanted, given, {});
}

std::map<std::string, Tensor> HostNodes::values(const std::vector<std::string>& wanted,
                                                const Values& given,
                                                const std::vector<onnx::NodeProto>& more) const {
  std::map<std::string, Tensor> found;
  std::vector<std::string> computed;
  for (const std::string& name : wanted) {
    const auto known = given.find(name);
    if (known != given.end()) {
      found[name] = known->second;
    } else if (const onnx::TensorProto* const constant = model_.constant(name)) {
      found[name] = Tensor::from_proto(*constant);
    } else if (std::find(computed.begin(), computed.end(), name) == computed.end()) {
      computed.push_back(name);
    }
  }
  if (computed.empty()) return found;
  try {
    const std::shared_ptr<const Part> part = this->part(computed, given, more);
    std::map<std::string, Tensor> inputs;
    for (const std::string& name : part->inputs) inputs[name] = given.at(name);
    found.merge(part->session.run(inputs, computed));
  } catch (const ort::Error& error) {
    throw onnxruntime_error(model_.name(), error);
  }
  return found;
}

std::map<std::string, Tensor> HostNodes::kept_values(
    const std::vector<std::string>& wanted, const Values& given,
    const std::vector<onnx::NodeProto>& more) const {
  static std::mutex mutex;
  static std::map<std::string, std::map<std::string, Tensor>> kept;
  const std::lock_guard<std::mutex> lock(mutex);
  PartModel part(model_, makers(), given, more);
  for (const std::string& name : wanted) part.add_output(name);
  std::string key = part.made().proto.SerializeAsString();
  for (const onnx::TensorProto* const weights : part.made().weights) key += weights->raw_data();
  std::map<std::string, Tensor> inputs;
  for (const std::string& name : part.inputs()) {
    const Tensor& tensor = inputs[name] = given.at(name);
    key += describe(tensor);
    key.append(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
  }
  const auto found = kept.find(key);
  if (found != kept.end()) return found->second;
  const ort::Library& library = ort::own_library();
  try {
    const ort::Environment environment(library);
    return kept[key] = host_session(environment, part.made()).run(inputs, wanted);
  } catch (const ort::Error& error) {
    throw onnxruntime_error(model_.name(), error);
  }
}

const HostNodes::Makers& HostNodes::makers() const {
  std::call_once(once_, [this] {
    const onnx::GraphProto& graph = model_.graph();
    for (int i = 0; i < graph.node_size(); ++i) {
      for (const std::string& name : graph.node(i).output()) makers_[name] = {&graph.node(i), i};
    }
  });
  return makers_;
}

std::shared_ptr<const HostNodes::Part> HostNodes::part(
    const std::vector<std::string>& wanted, const Values& given,
    const std::vector<onnx::NodeProto>& more) const {
  std::string key;
  for (const std::string& name : wanted) key += name + '\n';
  std::set<std::string> names;
  for (const auto& [name, tensor] : given) names.insert(name);
  for (const std::string& name : names) key += '\t' + name;
  for (const onnx::NodeProto& node : more) key += '\n' + node.SerializeAsString();
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<const Part>& part = parts_[key];
  if (part == nullptr) {
    PartModel made(model_, makers(), given, more);
    for (const std::string& name : wanted) made.add_output(name);
    part = std::make_shared<const Part>(made.made(), made.inputs());
  }
  return part;
}

}  // namespace gemm64
