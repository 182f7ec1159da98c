// SPDX-License-Identifier: Apache-2.0
#include "host/torchscript/translate.hpp"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/script.h>

#include <algorithm>

#include "host/torchscript/interpreter.hpp"
#include "host/torchscript/refusal.hpp"

namespace gemm64::torchscript {
namespace {

/// A shape that fits the first layer, as far as its weights tell: for the message only.
std::string likely_shape(const ModuleTree& modules) {
  for (const at::Tensor& parameter : modules.parameters()) {
    if (parameter.dim() == 4) {
      const std::int64_t channels = parameter.size(1);
      return "1x" + std::to_string(channels) + (channels == 1 ? "x28x28" : "x224x224");
    }
    if (parameter.dim() == 2) return "1x" + std::to_string(parameter.size(1));
  }
  return "AxBxC";
}

/// The type of the network's numbers: that of its first parameter of real numbers.
at::ScalarType number_type(const ModuleTree& modules) {
  for (const at::Tensor& parameter : modules.parameters()) {
    if (parameter.is_floating_point()) return parameter.scalar_type();
  }
  return at::kFloat;
}

/// Is an input a tensor, or one that may be left out?
bool is_tensor(const c10::Argument& argument) {
  c10::TypePtr type = argument.type();
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  return type->kind() == c10::TypeKind::TensorType;
}

/// The inputs of forward() that may be tensors; the first argument is the module.
std::vector<std::string> input_names(const std::vector<c10::Argument>& arguments) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (is_tensor(arguments[i])) names.push_back(arguments[i].name());
  }
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

torch::jit::Module load(const std::string& path) {
  try {
    torch::jit::Module network = torch::jit::load(path, c10::kCPU);
    network.eval();
    return network;
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    if (what.find("constants.pkl") != std::string::npos) {
      throw Refusal(
          "is no TorchScript: it holds no program, only values, as torch.save() writes them; save "
          "torch.jit.script(network) or torch.jit.trace(network, input)");
    }
    throw Refusal("is no TorchScript that LibTorch reads: " + what.substr(0, what.find('\n')));
  }
}

}  // namespace

Translated translate(const std::string& path, const std::map<std::string, Dims>& shapes) {
  const torch::NoGradGuard no_gradients;
  const torch::jit::Module network = load(path);
  if (!network.find_method("forward")) throw Refusal("it has no forward()");
  ModuleTree modules(network);
  Recorder recorder(modules);

  const torch::jit::Method forward = network.get_method("forward");
  const auto graph = torch::jit::toGraphFunction(forward.function()).graph();
  const auto& arguments = forward.function().getSchema().arguments();
  std::vector<c10::IValue> inputs;
  std::map<std::string, Dims> left = shapes;
  const std::vector<std::string> names = input_names(arguments);
  for (const auto& [name, dims] : shapes) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
      throw Refusal("has no input '" + name + "'; its inputs are: " + joined(names));
    }
  }
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const c10::Argument& argument = arguments[i];
    const std::string name = argument.name();
    const bool tensor = is_tensor(argument);
    auto given = left.find(name);
    if (given == left.end() && i == 1) given = left.find("");
    if (!tensor || (given == left.end() && argument.default_value())) {
      if (!argument.default_value()) {
        throw Refusal("its input '" + name + "' is of type " + argument.type()->str() +
                      "; only tensors are supported");
      }
      inputs.push_back(*argument.default_value());
      continue;
    }
    if (given == left.end()) {
      throw Refusal("TorchScript keeps no shapes of inputs; give --input-shape " + name + "=" +
                    (i == 1 ? likely_shape(modules) : "AxBxC") + ", or whatever it takes");
    }
    inputs.push_back(recorder.add_input(name, number_type(modules), given->second));
    left.erase(given);
  }
  if (!left.empty()) {
    throw Refusal("has no input '" + left.begin()->first + "'; its inputs are: " + joined(names));
  }

  Interpreter interpreter(recorder);
  std::vector<at::Tensor> results;
  collect_tensors(interpreter.run(network, std::move(inputs)), results);
  if (results.empty()) throw Refusal("its forward() gives no tensor");
  for (const at::Tensor& result : results) recorder.add_output(result);
  return {recorder.finish(), modules.json()};
}

}  // namespace gemm64::torchscript
