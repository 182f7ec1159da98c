// SPDX-License-Identifier: Apache-2.0
// Runs a network's program on tensors without contents, and writes down what it does with them.
#pragma once

#include <torch/script.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/torchscript/recorder.hpp"

namespace gemm64::torchscript {

/// Control flow is followed as far as shapes and constants decide it: branches on `self.training`
/// or on isinstance() are taken or left, loops are unrolled.
class Interpreter {
 public:
  explicit Interpreter(Recorder& recorder) : recorder_(recorder) {}

  /// Runs a method of the network. Throws Refusal if it holds what is not supported: operators
  /// without a translation all at once, each with the number of its calls.
  c10::IValue run(const torch::jit::Module& network, std::vector<c10::IValue> arguments);

 private:
  using Values = std::unordered_map<const torch::jit::Value*, c10::IValue>;

  c10::IValue call_method(const c10::IValue& object, const std::string& name,
                          std::vector<c10::IValue> arguments);
  c10::IValue call_function(torch::jit::Function& function, std::vector<c10::IValue> arguments);
  void run_block(const torch::jit::Block& block, Values& values);
  void run_node(const torch::jit::Node& node, Values& values);
  bool run_structure(const torch::jit::Node& node, Values& values);
  void run_if(const torch::jit::Node& node, Values& values);
  void run_loop(const torch::jit::Node& node, Values& values);
  void run_operator(const torch::jit::Node& node, Values& values);
  std::vector<c10::IValue> follow(const torch::jit::Node& node, std::vector<c10::IValue> arguments);
  std::vector<c10::IValue> compute(const torch::jit::Node& node, torch::jit::Stack stack) const;
  void note_unknown(const std::string& op);
  [[noreturn]] void refuse_unknown(const std::string& rest = "") const;

  Recorder& recorder_;
  std::map<std::string, int> unknown_;
  std::uint64_t steps_ = 0;
  int depth_ = 0;
};

/// All tensors in a value: itself, or in lists, tuples and dictionaries.
void collect_tensors(const c10::IValue& value, std::vector<at::Tensor>& tensors);

}  // namespace gemm64::torchscript
