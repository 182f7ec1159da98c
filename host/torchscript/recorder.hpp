// SPDX-License-Identifier: Apache-2.0
// The network being written down. Tensors that depend on its inputs are followed: they have a type,
// a shape and a name in ONNX, and no contents. All others are constants with contents.
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/torchscript/module_tree.hpp"
#include "host/torchscript/onnx_graph.hpp"

namespace gemm64::torchscript {

class Recorder {
 public:
  explicit Recorder(ModuleTree& modules) : modules_(modules) {}

  ModuleTree& modules() { return modules_; }

  /// An input of the network.
  at::Tensor add_input(const std::string& name, at::ScalarType type, const Dims& dims);
  /// Declares what is followed, or is constant, as the network's next output.
  void add_output(const at::Tensor& tensor);

  /// Does the tensor depend on the network's inputs?
  bool follows(const at::Tensor& tensor) const;
  /// What ONNX calls the tensor; a constant becomes an initializer when it is first asked for.
  std::string name_of(const at::Tensor& tensor);
  /// An initializer of integers.
  std::string integers(const Dims& values);
  /// A 2-D constant whose transpose is a parameter or buffer: that one. Undefined where it is none.
  at::Tensor transposed_parameter(const at::Tensor& tensor) const;

  /// Writes a node, whose first outputs are `outputs`: fresh tensors without contents.
  void add_node(const std::string& op_type, std::vector<std::string> inputs,
                const std::vector<at::Tensor>& outputs, std::vector<Attribute> attributes = {});
  /// The same for one output of that shape and type.
  at::Tensor add_node(const std::string& op_type, std::vector<std::string> inputs, const Dims& dims,
                      at::ScalarType type, std::vector<Attribute> attributes = {});
  /// Gives a tensor that holds the same values another one's name.
  void share_name(const at::Tensor& tensor, const at::Tensor& named);
  /// An operator changed `tensor` in place; from now on it is what `result` is. Other views of the
  /// same memory must not be read any more.
  void replace(const at::Tensor& tensor, const at::Tensor& result);
  /// Gives a result of an operator that is not known a shape, so that the rest can be looked at.
  void follow_unknown(const at::Tensor& tensor);

  /// The module whose code is running; empty for the network itself and for functions.
  void enter(ModuleEntry& module);
  void leave();
  void add_macs(std::uint64_t count);
  /// "/features/features.0": where the operator that runs stands.
  const std::string& scope() const { return scopes_.back().path; }

  /// All that was written; the network's outputs are called "output", "output_1", ...
  OnnxGraph finish();

 private:
  struct Followed {
    at::Tensor tensor;  // keeps its address in use
    std::string name;
    bool stale = false;
  };
  struct Scope {
    std::string path;   // "/features/features.0"
    std::string label;  // "features.0"
    ModuleEntry* module = nullptr;
  };

  std::string unique(const std::string& name);
  void follow(const at::Tensor& tensor, const std::string& name);

  ModuleTree& modules_;
  OnnxGraph graph_;
  std::unordered_map<const c10::TensorImpl*, Followed> followed_;
  struct Constant {
    at::Tensor tensor;
    std::string name;
  };
  std::unordered_map<const c10::TensorImpl*, Constant> constants_;
  std::map<Dims, std::string> integers_;
  std::unordered_map<std::string, int> used_;  // names, and how often each was asked for
  std::vector<Scope> scopes_{1};
  std::unordered_map<const ModuleEntry*, int> calls_;
};

}  // namespace gemm64::torchscript
