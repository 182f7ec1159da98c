// SPDX-License-Identifier: Apache-2.0
// The modules of a network: their names, their parameters, and what each gave out.
#pragma once

#include <torch/script.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace gemm64::torchscript {

/// One module. The whole network has the empty name.
struct ModuleEntry {
  std::string name;  // "features.0"
  std::string kind;  // "Conv2d"
  bool container = false;
  std::uint64_t parameters = 0;  // its own, without those of the modules inside
  std::uint64_t parameter_bytes = 0;
  std::uint64_t weight_bytes = 0;  // of parameters with "weight" in their names
  std::uint64_t macs = 0;          // of operators that it calls itself
  std::uint64_t calls = 0;
  std::uint64_t output_bytes = 0;    // of all calls
  std::vector<std::string> outputs;  // shape of each tensor given out: "1x64x55x55"
};

class ModuleTree {
 public:
  explicit ModuleTree(const torch::jit::Module& network);

  /// The entry of a module; nullptr where the object is none of the network's modules.
  ModuleEntry* find(const c10::intrusive_ptr<c10::ivalue::Object>& object);
  /// Names of parameters and buffers ("features.0.weight") by the tensor; a shared one has its
  /// first name.
  const std::unordered_map<const c10::TensorImpl*, std::string>& tensor_names() const {
    return tensor_names_;
  }
  /// Parameters in their order.
  const std::vector<at::Tensor>& parameters() const { return parameters_; }

  /// All entries and their sums, as module_records.hpp reads them.
  std::string json() const;

 private:
  std::vector<ModuleEntry> entries_;  // in the order of definition
  std::unordered_map<const c10::ivalue::Object*, std::size_t> index_;
  std::unordered_map<const c10::TensorImpl*, std::string> tensor_names_;
  std::vector<at::Tensor> parameters_;
};

/// "1x64x55x55"; "scalar" where there are no dimensions.
std::string shape_text(at::IntArrayRef dims);

}  // namespace gemm64::torchscript
