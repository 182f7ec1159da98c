// SPDX-License-Identifier: Apache-2.0
// One call of an operator that works on followed tensors.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <vector>

#include "host/torchscript/recorder.hpp"

namespace gemm64::torchscript {

class Call {
 public:
  /// `arguments` in the order of the node's schema. Both must outlive the call.
  Call(Recorder& recorder, const torch::jit::Node& node, std::vector<c10::IValue> arguments);

  Recorder& recorder() { return recorder_; }
  /// "aten::conv2d", without a "_" of one that works in place.
  const std::string& op() const { return op_; }
  bool in_place() const { return in_place_; }
  const std::vector<c10::IValue>& arguments() const { return arguments_; }

  /// Is there such an argument, and is it not None?
  bool has(const char* name) const;
  /// An argument by its name in the schema. Throws Refusal if there is none.
  const c10::IValue& argument(const char* name) const;
  at::Tensor tensor(const char* name) const { return argument(name).toTensor(); }
  /// ONNX's name for a tensor; empty for None.
  std::string value(const char* name);
  std::int64_t integer(const char* name) const { return argument(name).toInt(); }
  double number(const char* name) const { return argument(name).toScalar().toDouble(); }
  bool flag(const char* name) const { return argument(name).toBool(); }
  /// A list of integers; one that is shorter than `count` is repeated.
  Dims integers(const char* name, std::size_t count = 0) const;
  /// A dimension, from 0.
  std::int64_t dimension(const char* name, std::int64_t dims) const;

  /// Does the operator's own code on tensors without contents: types and shapes of its results.
  std::vector<c10::IValue> run_on_shapes() const;
  /// The first of them.
  at::Tensor shape_of_result() const;

  void give(c10::IValue result) { results_.push_back(std::move(result)); }
  const std::vector<c10::IValue>& results() const { return results_; }

  /// Throws Refusal: what of this call is not translated.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  Recorder& recorder_;
  const torch::jit::Node& node_;
  std::string op_;
  bool in_place_ = false;
  std::vector<c10::IValue> arguments_;
  std::vector<c10::IValue> results_;
};

/// Writes the ONNX nodes of a call and gives its results.
using Translate = void (*)(Call& call);

/// The translation of "aten::conv2d"; nullptr where there is none.
Translate find_translation(const std::string& op);

struct Translation {
  const char* op;
  Translate translate;
};
extern const std::vector<Translation> kElementwiseOperators, kLayoutOperators, kProductOperators,
    kWindowOperators;

/// Sizes as a list.
inline Dims dims_of(const at::Tensor& tensor) { return tensor.sizes().vec(); }

}  // namespace gemm64::torchscript
