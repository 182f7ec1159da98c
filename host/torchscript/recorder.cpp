// SPDX-License-Identifier: Apache-2.0
#include "host/torchscript/recorder.hpp"

#include <algorithm>

#include "host/torchscript/refusal.hpp"

namespace gemm64::torchscript {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "a.b.c" as a, b, c.
std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

at::Tensor Recorder::add_input(const std::string& name, at::ScalarType type, const Dims& dims) {
  const at::Tensor tensor = at::empty(dims, at::TensorOptions(at::kMeta).dtype(type));
  const std::string used = unique(name);
  graph_.inputs.push_back({used, type, dims});
  follow(tensor, used);
  return tensor;
}

void Recorder::add_output(const at::Tensor& tensor) {
  const std::string name = name_of(tensor);
  const bool made =
      std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const GraphNode& node) {
        return std::find(node.outputs.begin(), node.outputs.end(), name) != node.outputs.end();
      });
  const bool twice = std::any_of(graph_.outputs.begin(), graph_.outputs.end(),
                                 [&](const GraphValue& value) { return value.name == name; });
  const Dims dims = tensor.sizes().vec();
  if (made && !twice) {
    graph_.outputs.push_back({name, tensor.scalar_type(), dims});
  } else {
    const at::Tensor copy = add_node("Identity", {name}, dims, tensor.scalar_type());
    graph_.outputs.push_back({name_of(copy), tensor.scalar_type(), dims});
  }
}

bool Recorder::follows(const at::Tensor& tensor) const {
  return tensor.defined() && followed_.count(tensor.unsafeGetTensorImpl()) != 0;
}

std::string Recorder::name_of(const at::Tensor& tensor) {
  const auto found = followed_.find(tensor.unsafeGetTensorImpl());
  if (found != followed_.end()) {
    if (found->second.stale) {
      throw Refusal("it reads a view of a tensor that was changed in place, in " +
                    (scope().empty() ? "forward" : scope()));
    }
    return found->second.name;
  }
  const auto known = constants_.find(tensor.unsafeGetTensorImpl());
  if (known != constants_.end()) return known->second.name;
  const auto parameter = modules_.tensor_names().find(tensor.unsafeGetTensorImpl());
  const std::string name = unique(
      parameter != modules_.tensor_names().end() ? parameter->second : scope() + "/Constant");
  constants_[tensor.unsafeGetTensorImpl()] = {tensor, name};
  graph_.initializers.push_back({name, tensor});
  return name;
}

std::string Recorder::integers(const Dims& values) {
  const auto known = integers_.find(values);
  if (known != integers_.end()) return known->second;
  const std::string name = unique("/integers");
  graph_.initializers.push_back({name, at::tensor(values, at::kLong)});
  return integers_[values] = name;
}

at::Tensor Recorder::transposed_parameter(const at::Tensor& tensor) const {
  if (tensor.dim() != 2 || follows(tensor)) return {};
  for (const at::Tensor& parameter : modules_.parameters()) {
    if (parameter.dim() == 2 && parameter.data_ptr() == tensor.data_ptr() &&
        parameter.sizes() == tensor.t().sizes() && parameter.strides() == tensor.t().strides()) {
      return parameter;
    }
  }
  return {};
}

void Recorder::add_node(const std::string& op_type, std::vector<std::string> inputs,
                        const std::vector<at::Tensor>& outputs, std::vector<Attribute> attributes) {
  GraphNode node{
      op_type, unique(scope() + "/" + op_type), std::move(inputs), {}, std::move(attributes)};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    node.outputs.push_back(unique(node.name + "_output_" + std::to_string(i)));
    follow(outputs[i], node.outputs.back());
  }
  graph_.nodes.push_back(std::move(node));
}

at::Tensor Recorder::add_node(const std::string& op_type, std::vector<std::string> inputs,
                              const Dims& dims, at::ScalarType type,
                              std::vector<Attribute> attributes) {
  const at::Tensor output = at::empty(dims, at::TensorOptions(at::kMeta).dtype(type));
  add_node(op_type, std::move(inputs), {output}, std::move(attributes));
  return output;
}

void Recorder::share_name(const at::Tensor& tensor, const at::Tensor& named) {
  follow(tensor, name_of(named));
}

void Recorder::replace(const at::Tensor& tensor, const at::Tensor& result) {
  const std::string name = name_of(result);
  for (auto& [impl, other] : followed_) {
    if (impl != tensor.unsafeGetTensorImpl() && impl != result.unsafeGetTensorImpl() &&
        other.tensor.is_alias_of(tensor)) {
      other.stale = true;
    }
  }
  follow(tensor, name);
}

void Recorder::follow_unknown(const at::Tensor& tensor) { follow(tensor, unique("/unknown")); }

void Recorder::enter(ModuleEntry& module) {
  const Scope& outer = scopes_.back();
  // The part of the name below the module that calls, or all of it.
  std::string below = module.name;
  std::string label;
  Scope scope;
  if (outer.module != nullptr && !outer.module->name.empty() &&
      below.rfind(outer.module->name + ".", 0) == 0) {
    below = below.substr(outer.module->name.size() + 1);
    scope.path = outer.path;
    label = outer.label;
  }
  // As torch.onnx names them: an element of a container by the container and its number.
  if (!below.empty()) {
    for (const std::string& part : parts_of(below)) {
      label = is_number(part) && !label.empty() ? label + "." + part : part;
      scope.path += "/" + label;
    }
  }
  const int before = calls_[&module]++;
  if (before != 0) scope.path += "_" + std::to_string(before);
  scope.label = label;
  scope.module = &module;
  scopes_.push_back(std::move(scope));
}

void Recorder::leave() { scopes_.pop_back(); }

void Recorder::add_macs(std::uint64_t count) {
  if (scopes_.back().module != nullptr) scopes_.back().module->macs += count;
}

OnnxGraph Recorder::finish() {
  std::unordered_map<std::string, std::string> names;
  for (GraphValue& output : graph_.outputs) {
    output.name = names[output.name] = unique("output");
  }
  const auto rename = [&names](std::vector<std::string>& values) {
    for (std::string& value : values) {
      const auto found = names.find(value);
      if (found != names.end()) value = found->second;
    }
  };
  for (GraphNode& node : graph_.nodes) {
    rename(node.inputs);
    rename(node.outputs);
  }
  return std::move(graph_);
}

std::string Recorder::unique(const std::string& name) {
  const int before = used_[name]++;
  if (before == 0) return name;
  return unique(name + "_" + std::to_string(before));
}

void Recorder::follow(const at::Tensor& tensor, const std::string& name) {
  followed_[tensor.unsafeGetTensorImpl()] = {tensor, name, false};
}

}  // namespace gemm64::torchscript
