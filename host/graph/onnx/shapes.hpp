// SPDX-License-Identifier: Apache-2.0
// Types and shapes of all values of a graph, from those of its inputs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/graph/onnx/model.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// What is known of a graph's values before it runs.
struct ValueFacts {
  std::map<std::string, TensorType> types;
  std::map<std::string, std::vector<std::int64_t>> integers;  // of small tensors of integers
  std::map<std::string, onnx::TensorProto> values;            // of other small tensors
  std::map<std::string, std::string> unknown;                 // why there is no type
  std::map<std::string, std::string> refused;  // why ONNX Runtime runs no node, by first output
  /// Constants for the batch asked for, with the nodes and inputs that read them in place of the
  /// file's.
  struct Replacement {
    int node;
    int input;
    std::string constant;
  };
  std::vector<Replacement> replacements;
  std::size_t stored = 0;  // in `integers` and `values`, which are bounded as a whole

  /// Keeps the values of a tensor, unless it or all together are more than shapes ever need.
  void keep_integers(const std::string& value, std::vector<std::int64_t> numbers);
  /// The same for a tensor of any type; nothing where its values are known already.
  void keep_value(const std::string& value, const onnx::TensorProto& tensor);
};

/// Infers the types of all values of a model whose nodes stand in order. Throws UsageError, naming
/// the node, if shapes contradict each other; `file` stands for the model in messages. `known`:
/// what is known of a model that this one was made from, which is all if it has all values.
ValueFacts infer_shapes(const onnx::ModelProto& model,
                        const std::map<std::string, const onnx::TensorProto*>& constants,
                        const ImportOptions& options, const std::string& file,
                        const ValueFacts* known);

/// The numbers as a constant.
onnx::TensorProto integer_tensor(const std::string& name, const std::vector<std::int64_t>& values);

/// As ImportOptions::batch: a first size that the file leaves open is not taken as 1.
inline constexpr std::int64_t kOpenBatch = -1;

/// The name under which a size is left open; empty where it has none, or "?" as some exporters
/// write, which is no name.
const std::string& open_name(const onnx::TensorShapeProto::Dimension& dim);

}  // namespace gemm64
