// SPDX-License-Identifier: Apache-2.0
#include "host/torchscript/interpreter.hpp"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <set>

#include "host/torchscript/call.hpp"
#include "host/torchscript/refusal.hpp"

namespace gemm64::torchscript {
namespace {

namespace attr = c10::attr;
namespace prim = c10::prim;
using c10::IValue;
using torch::jit::Block;
using torch::jit::Node;

// Of no network that anybody has written by hand.
constexpr std::uint64_t kMostSteps = 4'000'000;
constexpr int kDeepest = 200;

/// What a program may do while it is followed, but that this one shall not: a file is data.
bool is_forbidden(const Node& node) {
  static const std::set<std::string> files{
      "aten::save",       "aten::from_file", "aten::manual_seed",
      "aten::set_data",   "prim::rpc_async", "prim::rpc_sync",
      "prim::rpc_remote", "aten::wait",      "prim::fork"};
  return files.count(node.kind().toQualString()) != 0 || node.isNondeterministic();
}

bool is_remark(const Node& node) {
  return node.kind() == prim::Print || node.kind() == c10::aten::warn;
}

IValue construct_list(const Node& node, std::vector<IValue> elements) {
  const auto& type = node.output()->type()->expectRef<c10::ListType>();
  c10::impl::GenericList list(type.getElementType());
  for (IValue& element : elements) list.push_back(std::move(element));
  return IValue(std::move(list));
}

IValue construct_dictionary(const Node& node, const std::vector<IValue>& elements) {
  const auto& type = node.output()->type()->expectRef<c10::DictType>();
  c10::impl::GenericDict dictionary(type.getKeyType(), type.getValueType());
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2) {
    dictionary.insert_or_assign(elements[i], elements[i + 1]);
  }
  return IValue(std::move(dictionary));
}

IValue construct_tuple(const Node& node, std::vector<IValue> elements) {
  const auto type = node.output()->type()->expect<c10::TupleType>();
  if (type->name()) return c10::ivalue::Tuple::createNamed(std::move(elements), type);
  return c10::ivalue::Tuple::create(std::move(elements));
}

bool is_instance(const Node& node, const IValue& value) {
  const c10::TypePtr type = value.type();
  for (const c10::TypePtr& candidate : node.tys(attr::types)) {
    if (type->isSubtypeOf(*candidate)) return true;
  }
  return false;
}

/// What works on lists and dictionaries, whatever they hold.
bool is_on_container(const Node& node, const std::vector<IValue>& arguments) {
  static const std::set<std::string> operators{
      "aten::append", "aten::insert",  "aten::extend",     "aten::__getitem__", "aten::_set_item",
      "aten::pop",    "aten::clear",   "aten::Delete",     "aten::reverse",     "aten::copy",
      "aten::list",   "aten::len",     "aten::add",        "aten::add_",        "aten::slice",
      "aten::mul",    "aten::keys",    "aten::values",     "aten::items",       "aten::get",
      "aten::update", "aten::popitem", "aten::setdefault", "aten::__contains__"};
  return !arguments.empty() && (arguments[0].isList() || arguments[0].isGenericDict()) &&
         operators.count(node.kind().toQualString()) != 0;
}

/// Is any argument a tensor without contents?
bool depends_on_input(const std::vector<IValue>& arguments, const Recorder& recorder) {
  std::vector<at::Tensor> tensors;
  for (const IValue& argument : arguments) {
    if (!argument.isObject()) collect_tensors(argument, tensors);
  }
  for (const at::Tensor& tensor : tensors) {
    if (recorder.follows(tensor)) return true;
  }
  return false;
}

/// Does a result of the operator hold tensors?
bool makes_tensors(const Node& node) {
  for (const torch::jit::Value* output : node.outputs()) {
    const auto kind = output->type()->kind();
    if (kind == c10::TypeKind::TensorType) return true;
    if (const auto list = output->type()->cast<c10::ListType>()) {
      if (list->getElementType()->kind() == c10::TypeKind::TensorType) return true;
    }
  }
  return false;
}

}  // namespace

void collect_tensors(const IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) tensors.push_back(value.toTensor());
  } else if (value.isTuple()) {
    for (const IValue& element : value.toTupleRef().elements()) collect_tensors(element, tensors);
  } else if (value.isList()) {
    for (const IValue& element : value.toListRef()) collect_tensors(element, tensors);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) collect_tensors(entry.value(), tensors);
  }
}

IValue Interpreter::run(const torch::jit::Module& network, std::vector<IValue> arguments) {
  IValue result = call_method(network._ivalue(), "forward", std::move(arguments));
  if (!unknown_.empty()) refuse_unknown();
  return result;
}

IValue Interpreter::call_method(const IValue& object, const std::string& name,
                                std::vector<IValue> arguments) {
  const auto instance = object.toObject();
  torch::jit::Function* const method = instance->type()->findMethod(name);
  if (method == nullptr) throw Refusal("its module has no method '" + name + "'");
  arguments.insert(arguments.begin(), object);
  // A traced module has forward1, forward2, ... where it was called several times.
  ModuleEntry* const module =
      name.rfind("forward", 0) == 0 ? recorder_.modules().find(instance) : nullptr;
  if (module == nullptr) return call_function(*method, std::move(arguments));
  recorder_.enter(*module);
  IValue result = call_function(*method, std::move(arguments));
  recorder_.leave();
  ++module->calls;
  std::vector<at::Tensor> tensors;
  collect_tensors(result, tensors);
  for (const at::Tensor& tensor : tensors) {
    module->output_bytes += tensor.nbytes();
    module->outputs.push_back(shape_text(tensor.sizes()));
  }
  return result;
}

IValue Interpreter::call_function(torch::jit::Function& function, std::vector<IValue> arguments) {
  if (++depth_ > kDeepest) throw Refusal("its functions call each other too deeply");
  const auto graph = torch::jit::toGraphFunction(function).graph();
  Values values;
  for (std::size_t i = 0; i < graph->inputs().size(); ++i) {
    values[graph->inputs()[i]] = arguments.at(i);
  }
  run_block(*graph->block(), values);
  std::vector<IValue> results;
  for (const torch::jit::Value* output : graph->outputs()) results.push_back(values.at(output));
  --depth_;
  if (results.size() == 1) return results.front();
  return c10::ivalue::Tuple::create(std::move(results));
}

void Interpreter::run_block(const Block& block, Values& values) {
  for (const Node* node : block.nodes()) {
    if (++steps_ > kMostSteps) throw Refusal("it runs too long; is there a loop without an end?");
    run_node(*node, values);
  }
}

void Interpreter::run_node(const Node& node, Values& values) {
  if (is_remark(node) || run_structure(node, values)) return;
  const auto kind = node.kind();
  const auto input = [&](std::size_t i) -> const IValue& { return values.at(node.inputs()[i]); };
  if (kind == prim::If) {
    run_if(node, values);
  } else if (kind == prim::Loop) {
    run_loop(node, values);
  } else if (kind == prim::CallMethod || kind == prim::CallFunction) {
    std::vector<IValue> arguments;
    for (std::size_t i = 1; i < node.inputs().size(); ++i) arguments.push_back(input(i));
    values[node.output()] =
        kind == prim::CallMethod
            ? call_method(input(0), node.s(attr::name), std::move(arguments))
            : call_function(*node.inputs()[0]->type()->expectRef<c10::FunctionType>().function(),
                            std::move(arguments));
  } else if (kind == prim::RaiseException) {
    throw Refusal("with inputs of these shapes it raises an exception" +
                  (input(0).isString() ? ": " + input(0).toStringRef() : std::string()));
  } else {
    run_operator(node, values);
  }
}

/// Nodes that only make and take apart what is no tensor. False where it is none.
bool Interpreter::run_structure(const Node& node, Values& values) {
  std::vector<IValue> inputs;
  const auto all = [&] {
    for (const torch::jit::Value* input : node.inputs()) inputs.push_back(values.at(input));
    return inputs;
  };
  const auto give = [&](IValue value) { values[node.output()] = std::move(value); };
  const auto unpack = [&](c10::ArrayRef<IValue> elements) {
    if (elements.size() != node.outputs().size()) {
      throw Refusal("it unpacks " + std::to_string(elements.size()) + " values into " +
                    std::to_string(node.outputs().size()));
    }
    for (std::size_t i = 0; i < elements.size(); ++i) values[node.outputs()[i]] = elements[i];
  };
  const auto kind = node.kind();
  if (kind == prim::Constant) {
    // A function is called by its type, and has no value.
    give(torch::jit::toIValue(node.output()).value_or(IValue()));
  } else if (kind == prim::GetAttr) {
    give(all()[0].toObject()->getAttr(node.s(attr::name)));
  } else if (kind == prim::SetAttr) {
    all()[0].toObject()->setAttr(node.s(attr::name), inputs[1]);
  } else if (kind == prim::ListConstruct) {
    give(construct_list(node, all()));
  } else if (kind == prim::DictConstruct) {
    give(construct_dictionary(node, all()));
  } else if (kind == prim::TupleConstruct) {
    give(construct_tuple(node, all()));
  } else if (kind == prim::TupleUnpack) {
    const auto elements = all()[0].toTupleRef().elements().vec();
    unpack(elements);
  } else if (kind == prim::ListUnpack) {
    const auto elements = all()[0].toListRef().vec();
    unpack(elements);
  } else if (kind == prim::isinstance) {
    give(is_instance(node, all()[0]));
  } else if (kind == prim::unchecked_cast || kind == prim::Uninitialized) {
    give(node.inputs().empty() ? IValue() : all()[0]);
  } else {
    return false;
  }
  return true;
}

void Interpreter::run_if(const Node& node, Values& values) {
  const Block& taken = *node.blocks()[values.at(node.input()).toBool() ? 0 : 1];
  run_block(taken, values);
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    values[node.outputs()[i]] = values.at(taken.outputs()[i]);
  }
}

void Interpreter::run_loop(const Node& node, Values& values) {
  const Block& body = *node.blocks()[0];
  const std::int64_t most = values.at(node.inputs()[0]).toInt();
  bool go_on = values.at(node.inputs()[1]).toBool();
  std::vector<IValue> carried;
  for (std::size_t i = 2; i < node.inputs().size(); ++i) {
    carried.push_back(values.at(node.inputs()[i]));
  }
  for (std::int64_t trip = 0; go_on && trip < most; ++trip) {
    if (++steps_ > kMostSteps) throw Refusal("it runs too long; is there a loop without an end?");
    values[body.inputs()[0]] = trip;
    for (std::size_t i = 0; i < carried.size(); ++i) values[body.inputs()[i + 1]] = carried[i];
    run_block(body, values);
    go_on = values.at(body.outputs()[0]).toBool();
    for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = values.at(body.outputs()[i + 1]);
  }
  for (std::size_t i = 0; i < carried.size(); ++i) values[node.outputs()[i]] = carried[i];
}

void Interpreter::run_operator(const Node& node, Values& values) {
  std::vector<IValue> arguments;
  for (const torch::jit::Value* input : node.inputs()) arguments.push_back(values.at(input));
  const std::vector<IValue> results = depends_on_input(arguments, recorder_)
                                          ? follow(node, std::move(arguments))
                                          : compute(node, std::move(arguments));
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    values[node.outputs()[i]] = i < results.size() ? results[i] : IValue();
  }
}

/// An operator on tensors that depend on the network's inputs.
std::vector<IValue> Interpreter::follow(const Node& node, std::vector<IValue> arguments) {
  if (node.maybeOperator() == nullptr) {
    note_unknown(node.kind().toQualString());
    refuse_unknown("; what follows was not looked at");
  }
  if (is_on_container(node, arguments)) return compute(node, std::move(arguments));
  Call call(recorder_, node, std::move(arguments));
  if (const Translate translate = find_translation(call.op())) {
    translate(call);
    if (call.in_place()) {
      const at::Tensor self = call.arguments().at(0).toTensor();
      if (!recorder_.follows(self)) {
        call.refuse("it changes a constant in place");
      }
      if (call.results().at(0).toTensor().sizes() != self.sizes()) {
        call.refuse("it changes a shape in place");
      }
      recorder_.replace(self, call.results().at(0).toTensor());
      return {self};
    }
    return call.results();
  }
  if (!makes_tensors(node)) {
    // Sizes, types, comparisons with None: what needs no contents.
    try {
      return compute(node, call.arguments());
    } catch (const c10::Error&) {
      call.refuse("what it gives depends on the values that the network is given");
    }
  }
  note_unknown(call.op());
  std::vector<IValue> results;
  try {
    results = call.run_on_shapes();
  } catch (const std::exception&) {
    refuse_unknown("; what follows was not looked at");
  }
  for (const IValue& result : results) {
    std::vector<at::Tensor> tensors;
    collect_tensors(result, tensors);
    for (const at::Tensor& tensor : tensors) {
      if (!recorder_.follows(tensor)) recorder_.follow_unknown(tensor);
    }
  }
  return results;
}

/// An operator on constants, or one that asks for no contents.
std::vector<IValue> Interpreter::compute(const Node& node, torch::jit::Stack stack) const {
  const std::string name = node.kind().toQualString();
  if (node.maybeOperator() == nullptr || is_forbidden(node)) {
    throw Refusal("it calls " + name + ", which is not supported");
  }
  if (node.schema().is_vararg()) stack.emplace_back(static_cast<std::int64_t>(stack.size()));
  node.getOperation()(stack);
  return stack;
}

void Interpreter::note_unknown(const std::string& op) { ++unknown_[op]; }

void Interpreter::refuse_unknown(const std::string& rest) const {
  std::string list;
  for (const auto& [op, count] : unknown_) {
    list += (list.empty() ? "" : ", ") + op + " (" + std::to_string(count) + ")";
  }
  throw Refusal("not supported: " + list + rest);
}

}  // namespace gemm64::torchscript
