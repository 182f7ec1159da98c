// SPDX-License-Identifier: Apache-2.0
// Outputs of chosen nodes as .npy files, as PyTorch's forward hooks would write them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/graph/proto/onnx.pb.h"
#include "host/runtime/named_tensors.hpp"

namespace gemm64 {

/// Nodes by the names that patterns are compared with.
using NamedNodes = std::vector<std::pair<const onnx::NodeProto*, std::string>>;

/// Does one of `specifications`, each PATTERN=DIRECTORY, match the name of a node?
bool is_dumped(const std::vector<std::string>& specifications, const std::string& name);

class ActivationDump {
 public:
  /// Each of `specifications` is PATTERN=DIRECTORY: nodes, which outlive this, whose name matches
  /// the pattern (*, ?, [abc]) are written to the directory, which is made. Throws UsageError where
  /// one is no such text, matches no node, or two nodes would share a file.
  ActivationDump(const std::vector<std::string>& specifications, const NamedNodes& nodes);

  /// Writes the outputs of a node that was chosen: the first as NAME.npy, with / in the name
  /// replaced by _, others as NAME.1.npy, NAME.2.npy ... A file that is lost is reported, and the
  /// run goes on.
  void write(const onnx::NodeProto& node, const Tensors& outputs);

  /// Is the node one of those that were chosen?
  bool has(const onnx::NodeProto& node) const { return files_.count(&node) != 0; }
  /// "Not written: ..." names those of them that never ran by themselves; empty if all did.
  std::string missing_note() const;
  /// All files that it may write.
  std::vector<std::string> files() const;

 private:
  std::map<const onnx::NodeProto*, std::vector<std::filesystem::path>> files_;  // without .npy
  std::map<const onnx::NodeProto*, std::string> missing_;  // names of those without outputs so far
};

}  // namespace gemm64
