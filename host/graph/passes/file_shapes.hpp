// SPDX-License-Identifier: Apache-2.0
// Sizes as a file states them, before anybody knows those of an input: what ONNX Runtime decides by
// which nodes it joins.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// A number, or the name of an open size, or neither.
struct FileSize {
  std::optional<std::int64_t> number = std::nullopt;
  std::string name = {};

  bool is_known() const { return number || !name.empty(); }
  bool operator==(const FileSize& other) const {
    return number == other.number && name == other.name;
  }
};

using FileDims = std::vector<FileSize>;

/// The sizes of a graph's values, by ONNX's own rules of what follows from what. Where a shape is
/// computed by nodes, as exporters do for open sizes, only their number follows, as in ONNX
/// Runtime.
class FileShapes {
 public:
  explicit FileShapes(const OnnxModel& model);

  /// Empty where not even the number of sizes is known.
  const FileDims* dims(const std::string& value) const;
  /// Does the file give every size of the value as a number?
  bool is_fixed(const std::string& value) const;

 private:
  void declare(const onnx::ValueInfoProto& value);
  void follow(const onnx::NodeProto& node);
  /// Of the node's first output; empty where nothing is known of it.
  std::optional<FileDims> result(const onnx::NodeProto& node) const;
  std::optional<FileDims> broadcast(const onnx::NodeProto& node) const;
  std::optional<FileDims> product(const FileDims* a, const FileDims* b) const;
  std::optional<FileDims> reshaped(const onnx::NodeProto& node) const;
  std::optional<FileDims> transposed(const onnx::NodeProto& node) const;
  std::optional<FileDims> gathered(const onnx::NodeProto& node) const;
  std::optional<FileDims> along_an_axis(const onnx::NodeProto& node) const;
  bool tells_numbers(const onnx::NodeProto& node) const;
  const FileDims* input(const onnx::NodeProto& node, int i) const;
  /// What inference with the sizes at hand found.
  std::optional<FileDims> fixed(const std::string& output) const;

  const OnnxModel& model_;
  std::map<std::string, FileDims> dims_;
  std::set<std::string> open_;  // values of which not all follows from the file
};

}  // namespace gemm64
