// SPDX-License-Identifier: Apache-2.0
#include "host/torchscript/call.hpp"

#include <unordered_map>

#include "host/torchscript/refusal.hpp"

namespace gemm64::torchscript {
namespace {

/// The value with each tensor that has contents replaced by one without.
c10::IValue without_contents(const c10::IValue& value) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined() || tensor.is_meta()) return value;
    return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kMeta));
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      list.push_back(without_contents(tensor).toTensor());
    }
    return list;
  }
  return value;
}

}  // namespace

Call::Call(Recorder& recorder, const torch::jit::Node& node, std::vector<c10::IValue> arguments)
    : recorder_(recorder),
      node_(node),
      op_(node.kind().toQualString()),
      arguments_(std::move(arguments)) {
  const std::size_t size = op_.size();
  in_place_ = size > 2 && op_[size - 1] == '_' && op_[size - 2] != '_';
  if (in_place_) op_.pop_back();
}

bool Call::has(const char* name) const {
  const auto index = node_.schema().argumentIndexWithName(name);
  return index && !arguments_[static_cast<std::size_t>(*index)].isNone();
}

const c10::IValue& Call::argument(const char* name) const {
  const auto index = node_.schema().argumentIndexWithName(name);
  if (!index) refuse(std::string("it has no argument '") + name + "'");
  return arguments_[static_cast<std::size_t>(*index)];
}

std::string Call::value(const char* name) {
  return has(name) ? recorder_.name_of(tensor(name)) : "";
}

Dims Call::integers(const char* name, std::size_t count) const {
  const c10::IValue& value = argument(name);
  Dims list = value.isInt() ? Dims{value.toInt()} : value.toIntVector();
  while (!list.empty() && list.size() < count) list.push_back(list.front());
  return list;
}

std::int64_t Call::dimension(const char* name, std::int64_t dims) const {
  return c10::maybe_wrap_dim(integer(name), dims);
}

std::vector<c10::IValue> Call::run_on_shapes() const {
  torch::jit::Stack stack;
  for (const c10::IValue& argument : arguments_) stack.push_back(without_contents(argument));
  node_.getOperation()(stack);
  return stack;
}

at::Tensor Call::shape_of_result() const { return run_on_shapes().at(0).toTensor(); }

void Call::refuse(const std::string& why) const {
  const std::string& scope = recorder_.scope();
  throw Refusal(op_ + (scope.empty() ? "" : " in " + scope) + ": " + why);
}

Translate find_translation(const std::string& op) {
  static const auto* const table = [] {
    auto* all = new std::unordered_map<std::string, Translate>;
    for (const auto* family :
         {&kElementwiseOperators, &kLayoutOperators, &kProductOperators, &kWindowOperators}) {
      for (const Translation& row : *family) all->emplace(row.op, row.translate);
    }
    return all;
  }();
  const auto found = table->find(op);
  return found == table->end() ? nullptr : found->second;
}

}  // namespace gemm64::torchscript
