// SPDX-License-Identifier: Apache-2.0
#include "host/ort/graph.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "host/util/lifetime.hpp"

namespace gemm64::ort {
namespace {

using onnx::AttributeProto;

/// The list that a pair of functions of the API returns: how many, and which.
template <class T, class Owner>
std::vector<T> list(const Api& api, const Owner& owner,
                    OrtStatus* (*count)(const Owner*, std::size_t*),
                    OrtStatus* (*get)(const Owner*, T*, std::size_t)) {
  std::size_t size = 0;
  api.check(count(&owner, &size));
  std::vector<T> values(size);
  if (size != 0) api.check(get(&owner, values.data(), size));
  return values;
}

using ValueInfos = std::vector<const OrtValueInfo*>;

std::string name_of(const Api& api, const OrtValueInfo* value) {
  if (value == nullptr) return "";
  const char* name = nullptr;
  api.check(api->GetValueInfoName(value, &name));
  return name == nullptr ? "" : name;
}

std::vector<std::string> names_of(const Api& api, const ValueInfos& values) {
  std::vector<std::string> names;
  for (const OrtValueInfo* const value : values) names.push_back(name_of(api, value));
  return names;
}

const char* text(const Api& api, OrtStatus* (*get)(const OrtNode*, const char**),
                 const OrtNode& node) {
  const char* value = nullptr;
  api.check(get(&node, &value));
  return value == nullptr ? "" : value;
}

bool flag(const Api& api, OrtStatus* (*get)(const OrtValueInfo*, bool*), const OrtValueInfo* of) {
  bool value = false;
  api.check(get(of, &value));
  return value;
}

/// The bytes of an attribute.
std::vector<char> attribute_bytes(const Api& api, const OrtOpAttr& attribute, OrtOpAttrType type) {
  std::size_t size = 0;
  // The first call only asks for the size, and fails where that is not 0.
  const Owned<OrtStatus> ignored(api->ReadOpAttr(&attribute, type, nullptr, 0, &size),
                                 api->ReleaseStatus);
  std::vector<char> bytes(size);
  if (size != 0) api.check(api->ReadOpAttr(&attribute, type, bytes.data(), size, &size));
  return bytes;
}

template <class T>
std::vector<T> attribute_values(const Api& api, const OrtOpAttr& attribute, OrtOpAttrType type) {
  const std::vector<char> bytes = attribute_bytes(api, attribute, type);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::copy(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(values.size() * sizeof(T)),
            reinterpret_cast<char*>(values.data()));
  return values;
}

std::size_t bytes_of(const Api& api, const OrtValue& value) {
  std::size_t bytes = 0;
  api.check(api->GetTensorSizeInBytes(&value, &bytes));
  return bytes;
}

/// Sets all but the name; false where a tensor is of texts.
bool read_tensor(const Api& api, const OrtValue& value, std::uint64_t most_bytes,
                 onnx::TensorProto& tensor) {
  const ValueType type = type_of(api, value);
  if (type.element_type == onnx::TensorProto::STRING) return false;
  tensor.set_data_type(type.element_type);
  for (const std::int64_t size : type.dims) tensor.add_dims(size);
  const std::size_t bytes = bytes_of(api, value);
  if (bytes > most_bytes) return true;
  const void* data = nullptr;
  api.check(api->GetTensorData(&value, &data));
  tensor.set_raw_data(data, bytes);
  return true;
}

/// False where it is of a kind that cannot be read.
bool read_attribute(const Api& api, const OrtOpAttr& from, AttributeProto& to) {
  const char* name = nullptr;
  api.check(api->OpAttr_GetName(&from, &name));
  to.set_name(name);
  OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
  if (OrtStatus* const status = api->OpAttr_GetType(&from, &type)) {
    api->ReleaseStatus(status);
    return false;
  }
  switch (type) {
    case ORT_OP_ATTR_INT:
      to.set_type(AttributeProto::INT);
      to.set_i(attribute_values<std::int64_t>(api, from, type).at(0));
      return true;
    case ORT_OP_ATTR_INTS:
      to.set_type(AttributeProto::INTS);
      for (const auto value : attribute_values<std::int64_t>(api, from, type)) to.add_ints(value);
      return true;
    case ORT_OP_ATTR_FLOAT:
      to.set_type(AttributeProto::FLOAT);
      to.set_f(attribute_values<float>(api, from, type).at(0));
      return true;
    case ORT_OP_ATTR_FLOATS:
      to.set_type(AttributeProto::FLOATS);
      for (const float value : attribute_values<float>(api, from, type)) to.add_floats(value);
      return true;
    case ORT_OP_ATTR_STRING: {
      to.set_type(AttributeProto::STRING);
      const std::vector<char> bytes = attribute_bytes(api, from, type);
      to.set_s(std::string(bytes.begin(), bytes.end()));
      return true;
    }
    case ORT_OP_ATTR_STRINGS: {
      to.set_type(AttributeProto::STRINGS);
      const std::vector<char> bytes = attribute_bytes(api, from, type);
      // Each ends with a zero.
      for (auto begin = bytes.begin(); begin != bytes.end();) {
        const auto end = std::find(begin, bytes.end(), '\0');
        to.add_strings(std::string(begin, end));
        begin = end == bytes.end() ? end : end + 1;
      }
      return true;
    }
    case ORT_OP_ATTR_TENSOR: {
      OrtValue* value = nullptr;
      api.check(api->OpAttr_GetTensorAttributeAsOrtValue(&from, &value));
      const Owned<OrtValue> owned(value, api->ReleaseValue);
      to.set_type(AttributeProto::TENSOR);
      return read_tensor(api, *value, UINT64_MAX, *to.mutable_t());
    }
    default:
      return false;
  }
}

/// The nodes of a graph in the order of their file: each by its number after those that it reads.
/// ONNX Runtime's own order is another one, in which branches alternate.
class FileOrder {
 public:
  FileOrder(const Api& api, const OrtGraph& graph) : api_(api) {
    std::map<std::size_t, const OrtNode*> nodes;
    for (const OrtNode* const node : nodes_of(api, graph)) {
      std::size_t id = 0;
      api.check(api->Node_GetId(node, &id));
      nodes[id] = node;
      for (const std::string& name : output_names(api, *node)) producers_[name] = node;
    }
    for (const auto& [id, node] : nodes) add(node);
  }
  const std::vector<const OrtNode*>& nodes() const GEMM64_LIFETIMEBOUND { return order_; }

 private:
  /// The producers of what a node and its bodies read, which are not in the order yet.
  std::vector<const OrtNode*> missing(const OrtNode& node) const {
    std::vector<std::string> read = input_names(api_, node);
    for (const std::string& name : names_of(api_, list(api_, node, api_->Node_GetNumImplicitInputs,
                                                       api_->Node_GetImplicitInputs))) {
      read.push_back(name);
    }
    std::vector<const OrtNode*> found;
    for (const std::string& name : read) {
      const auto producer = producers_.find(name);
      if (name.empty() || producer == producers_.end() || seen_.count(producer->second) != 0)
        continue;
      found.push_back(producer->second);
    }
    return found;
  }

  void add(const OrtNode* node) {
    std::vector<const OrtNode*> waiting{node};  // each for those after it
    while (!waiting.empty()) {
      const OrtNode* const next = waiting.back();
      const std::vector<const OrtNode*> before =
          seen_.count(next) != 0 ? std::vector<const OrtNode*>{} : missing(*next);
      if (before.empty()) {
        waiting.pop_back();
        if (seen_.insert(next).second) order_.push_back(next);
      }
      waiting.insert(waiting.end(), before.rbegin(), before.rend());
    }
  }

  const Api& api_;
  std::unordered_map<std::string, const OrtNode*> producers_;
  std::unordered_set<const OrtNode*> seen_;
  std::vector<const OrtNode*> order_;
};

class Reader {
 public:
  Reader(const Api& api, const OrtGraph& graph, const ReadOptions& options)
      : api_(api), graph_(graph), options_(options) {}

  GraphModel read();

 private:
  void read_opsets();
  void read_node(const OrtNode& node);
  bool read_attributes(const OrtNode& node, onnx::NodeProto& proto) const;
  void use(const OrtValueInfo* value);
  void add_input(const OrtValueInfo* value, const std::string& name);
  void describe(const OrtValueInfo* value, onnx::ValueInfoProto& proto) const;
  bool add_constant(const OrtValueInfo* value, const std::string& name);

  const Api& api_;
  const OrtGraph& graph_;
  const ReadOptions options_;
  GraphModel made_;
  std::set<std::string> known_;  // names that stand for a value
};

GraphModel Reader::read() {
  std::int64_t ir_version = 0;
  api_.check(api_->Graph_GetOnnxIRVersion(&graph_, &ir_version));
  made_.model.set_ir_version(std::max<std::int64_t>(ir_version, 4));
  onnx::GraphProto& proto = *made_.model.mutable_graph();
  const char* name = nullptr;
  api_.check(api_->Graph_GetName(&graph_, &name));
  proto.set_name(name == nullptr || *name == '\0' ? "graph" : name);
  read_opsets();
  for (const OrtValueInfo* const input :
       list(api_, graph_, api_->Graph_GetNumInputs, api_->Graph_GetInputs)) {
    use(input);
  }
  const FileOrder order(api_, graph_);
  for (const OrtNode* const node : order.nodes()) read_node(*node);
  for (const OrtValueInfo* const output :
       list(api_, graph_, api_->Graph_GetNumOutputs, api_->Graph_GetOutputs)) {
    use(output);
    describe(output, *proto.add_output());
  }
  return std::move(made_);
}

void Reader::read_opsets() {
  std::size_t count = 0;
  api_.check(api_->Graph_GetNumOperatorSets(&graph_, &count));
  std::vector<const char*> domains(count);
  std::vector<std::int64_t> versions(count);
  api_.check(api_->Graph_GetOperatorSets(&graph_, domains.data(), versions.data(), count));
  std::set<std::string> seen;
  const auto add = [&](const std::string& domain, std::int64_t version) {
    if (!seen.insert(domain).second) return;
    onnx::OperatorSetIdProto& opset = *made_.model.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::string domain = domains[i];
    add(domain == "ai.onnx" ? "" : domain, versions[i]);
  }
  add("com.microsoft", 1);
  add(kOpaqueDomain, 1);
}

/// A value that a node or the graph names: one that nothing before has made is a constant or an
/// input.
void Reader::use(const OrtValueInfo* value) {
  const std::string name = name_of(api_, value);
  if (name.empty() || !known_.insert(name).second) return;
  if (!add_constant(value, name)) add_input(value, name);
}

void Reader::add_input(const OrtValueInfo* value, const std::string& name) {
  onnx::ValueInfoProto& input = *made_.model.mutable_graph()->add_input();
  describe(value, input);
  input.set_name(name);
}

bool Reader::add_constant(const OrtValueInfo* value, const std::string& name) {
  if (!flag(api_, api_->ValueInfo_IsConstantInitializer, value)) return false;
  const OrtValue* data = nullptr;
  api_.check(api_->ValueInfo_GetInitializerValue(value, &data));
  onnx::TensorProto tensor;
  if (data == nullptr || !read_tensor(api_, *data, options_.most_constant_bytes, tensor)) {
    return false;
  }
  tensor.set_name(name);
  made_.model.mutable_graph()->add_initializer()->Swap(&tensor);
  return true;
}

/// Name, type and shape; what is no tensor is one of unknown shape.
void Reader::describe(const OrtValueInfo* value, onnx::ValueInfoProto& proto) const {
  proto.set_name(name_of(api_, value));
  onnx::TypeProto::Tensor& tensor = *proto.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx::TensorProto::FLOAT);
  const OrtTypeInfo* info = nullptr;
  api_.check(api_->GetValueInfoTypeInfo(value, &info));
  if (info == nullptr) return;
  const OrtTensorTypeAndShapeInfo* of_tensor = nullptr;
  api_.check(api_->CastTypeInfoToTensorInfo(info, &of_tensor));
  if (of_tensor == nullptr) return;
  const ValueType type = read_type(api_, *of_tensor);
  tensor.set_elem_type(type.element_type);
  // The API does not tell a scalar from a value of unknown rank.
  if (type.dims.empty()) return;
  onnx::TensorShapeProto& shape = *tensor.mutable_shape();
  for (std::size_t i = 0; i < type.dims.size(); ++i) {
    auto& dim = *shape.add_dim();
    if (type.dims[i] >= 0) {
      dim.set_dim_value(type.dims[i]);
    } else if (!type.names[i].empty()) {
      dim.set_dim_param(type.names[i]);
    }
  }
}

void Reader::read_node(const OrtNode& node) {
  onnx::NodeProto& proto = *made_.model.mutable_graph()->add_node();
  made_.nodes.push_back(&node);
  proto.set_name(text(api_, api_->Node_GetName, node));
  const ValueInfos inputs = list(api_, node, api_->Node_GetNumInputs, api_->Node_GetInputs);
  for (const OrtValueInfo* const input : inputs) {
    use(input);
    proto.add_input(name_of(api_, input));
  }
  while (proto.input_size() != 0 && proto.input(proto.input_size() - 1).empty()) {
    proto.mutable_input()->RemoveLast();
  }
  for (const OrtValueInfo* const output :
       list(api_, node, api_->Node_GetNumOutputs, api_->Node_GetOutputs)) {
    const std::string name = name_of(api_, output);
    proto.add_output(name);
    if (name.empty()) continue;
    known_.insert(name);
    describe(output, *made_.model.mutable_graph()->add_value_info());
  }
  const std::string domain = text(api_, api_->Node_GetDomain, node);
  proto.set_domain(domain == "ai.onnx" ? "" : domain);
  proto.set_op_type(text(api_, api_->Node_GetOperatorType, node));
  if (read_attributes(node, proto)) return;
  if (!options_.opaque_nodes) {
    throw Error(ORT_NOT_IMPLEMENTED, "node '" + proto.name() + "' has a body");
  }
  proto.clear_attribute();
  proto.set_domain(kOpaqueDomain);
  for (const OrtValueInfo* const input :
       list(api_, node, api_->Node_GetNumImplicitInputs, api_->Node_GetImplicitInputs)) {
    use(input);
    proto.add_input(name_of(api_, input));
  }
}

bool Reader::read_attributes(const OrtNode& node, onnx::NodeProto& proto) const {
  if (has_body(api_, node)) return false;
  for (const OrtOpAttr* const attribute :
       list(api_, node, api_->Node_GetNumAttributes, api_->Node_GetAttributes)) {
    if (!read_attribute(api_, *attribute, *proto.add_attribute())) return false;
  }
  return true;
}

const OrtOpAttr* find_attribute(const Api& api, const OrtNode& node, const std::string& name) {
  for (const OrtOpAttr* const attribute :
       list(api, node, api->Node_GetNumAttributes, api->Node_GetAttributes)) {
    const char* own = nullptr;
    api.check(api->OpAttr_GetName(attribute, &own));
    if (name == own) return attribute;
  }
  return nullptr;
}

}  // namespace

GraphModel read_graph(const Api& api, const OrtGraph& graph, const ReadOptions& options) {
  return Reader(api, graph, options).read();
}

std::vector<std::string> input_names(const Api& api, const OrtNode& node) {
  return names_of(api, list(api, node, api->Node_GetNumInputs, api->Node_GetInputs));
}

std::vector<std::string> output_names(const Api& api, const OrtNode& node) {
  return names_of(api, list(api, node, api->Node_GetNumOutputs, api->Node_GetOutputs));
}

std::string operator_type(const Api& api, const OrtNode& node) {
  return text(api, api->Node_GetOperatorType, node);
}

std::string name_of(const Api& api, const OrtNode& node) {
  return text(api, api->Node_GetName, node);
}

std::vector<const OrtNode*> nodes_of(const Api& api, const OrtGraph& graph) {
  return list(api, graph, api->Graph_GetNumNodes, api->Graph_GetNodes);
}

bool is_assigned(const Api& api, const OrtNode& node) {
  return *text(api, api->Node_GetEpName, node) != '\0';
}

bool has_body(const Api& api, const OrtNode& node) {
  std::size_t bodies = 0;
  api.check(api->Node_GetNumSubgraphs(&node, &bodies));
  return bodies != 0;
}

std::string text_attribute(const Api& api, const OrtNode& node, const std::string& name) {
  const OrtOpAttr* const attribute = find_attribute(api, node, name);
  if (attribute == nullptr) return "";
  const std::vector<char> bytes = attribute_bytes(api, *attribute, ORT_OP_ATTR_STRING);
  return {bytes.begin(), bytes.end()};
}

std::int64_t integer_attribute(const Api& api, const OrtNode& node, const std::string& name,
                               std::int64_t otherwise) {
  const OrtOpAttr* const attribute = find_attribute(api, node, name);
  if (attribute == nullptr) return otherwise;
  return attribute_values<std::int64_t>(api, *attribute, ORT_OP_ATTR_INT).at(0);
}

std::string model_path(const Api& api, const OrtGraph& graph) {
  const char* path = nullptr;
  api.check(api->Graph_GetModelPath(&graph, &path));
  return path == nullptr ? "" : path;
}

}  // namespace gemm64::ort
