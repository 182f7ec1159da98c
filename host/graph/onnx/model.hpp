// SPDX-License-Identifier: Apache-2.0
// An ONNX file, read and checked: the one way in which models come into the program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/graph/onnx/graph_check.hpp"
#include "host/graph/proto/attribute.hpp"
#include "host/graph/proto/onnx.pb.h"
#include "host/graph/proto/tensor_data.hpp"
#include "host/util/lifetime.hpp"
#include "host/util/text.hpp"

namespace gemm64 {

struct ValueFacts;

struct ImportOptions {
  /// May the file lack its weights (no data for initializers, or external data that is missing)?
  bool shapes_only = false;
  /// Size of the first dimension of graph inputs where the file leaves it open (or where it is to
  /// be another one, if the file allows it: a constant shape [1, ...] for one image then becomes
  /// one for all); 0: as the file says, 1 where it is open.
  std::int64_t batch = 0;
  /// Shapes of graph inputs by name; they win over the file's and over `batch`. Where a name is no
  /// input but that of open dimensions, the one size is theirs.
  std::map<std::string, std::vector<std::int64_t>> input_shapes;
  /// Inputs whose values are known before the network runs: they become constants.
  std::map<std::string, onnx::TensorProto> input_values;
  /// Is the model only for the sizes that it says, so that reread() cannot give it others?
  bool its_sizes_alone = false;
  /// Bound on the file's size, initializers with external data included.
  std::uint64_t max_bytes = std::uint64_t{8} << 30;
};

/// A checked model: nodes in an order in which they can run, names unique, no cycles, operators
/// and shapes as ONNX Runtime asks. Weights stay where protobuf put them.
class OnnxModel {
 public:
  OnnxModel(OnnxModel&&) = default;
  OnnxModel& operator=(OnnxModel&&) = default;
  /// Reads a file. Throws UsageError, one line that names the file and what is wrong with it, for
  /// everything that is not a usable model.
  static OnnxModel load(const std::filesystem::path& path, const ImportOptions& options = {});
  /// The same for the contents of a file.
  static OnnxModel from_bytes(std::string_view bytes, const std::string& name,
                              const ImportOptions& options = {});
  /// The same for a model in memory; `name` stands for the file in messages.
  static OnnxModel from_proto(onnx::ModelProto proto, const std::string& name,
                              const ImportOptions& options = {});

  /// The same model by other options; shapes are inferred again, all else was checked. Throws
  /// UsageError where control flow was unfolded for other shapes of the inputs.
  OnnxModel again(const ImportOptions& options) const;
  /// again() in place, without a copy. On UsageError the model is as it was.
  void reread(const ImportOptions& options);
  /// May reread() be called? Not where what was read is made for its sizes, nor where control flow
  /// is left, for which reread() would have to change the graph.
  bool can_be_reread() const;
  /// What a rewrite made of this model's graph, whose nodes are as their operators ask: they are
  /// put in order. Values keep their types by their names; those of new ones are inferred.
  OnnxModel rewritten(onnx::ModelProto proto, const ImportOptions& options = {}) const;

  const onnx::ModelProto& proto() const GEMM64_LIFETIMEBOUND { return proto_; }
  const onnx::GraphProto& graph() const GEMM64_LIFETIMEBOUND { return proto_.graph(); }
  onnx::ModelProto release() && { return std::move(proto_); }
  /// Where the model came from, for messages.
  const std::string& name() const GEMM64_LIFETIMEBOUND { return name_; }
  /// Opset of ONNX's own domain; the newest one where the file names none, since it needs none.
  std::int64_t opset() const;
  /// The opsets that the file names, by domain; "" is ONNX's own.
  const Opsets& opsets() const GEMM64_LIFETIMEBOUND { return opsets_; }

  /// Type and shape of any value of the graph: input, initializer or output of a node. Empty where
  /// it could not be inferred; never a guess.
  std::optional<TensorType> type(const std::string& value) const;
  /// Why type() is empty, in words for messages: "dimension 2 of input 'x' is open".
  std::string why_unknown(const std::string& value) const;
  /// The initializer (or the value of the Constant node) of that name, or nullptr. External data
  /// were read into its raw_data.
  const onnx::TensorProto* constant(const std::string& value) const;
  /// The values of a small tensor of integers that is known before the network runs: a constant, or
  /// computed only from shapes. Empty where it is not.
  std::optional<std::vector<std::int64_t>> integers(const std::string& value) const;
  /// Why an If, Loop or Scan was not unfolded, in words that follow its name; empty where it was
  /// never looked at.
  std::string why_kept(const onnx::NodeProto& node) const;
  /// Is the value the same whatever the network's inputs are: an initializer (with or without its
  /// data), what a Constant node makes, or what is computed only from such values?
  bool is_constant(const std::string& value) const { return fixed_.count(value) != 0; }
  bool is_graph_input(const std::string& value) const;  // initializers are none
  /// Of a graph input whose shape is open, what would tell it: "x=1x3xAxB", a letter for each open
  /// dimension; "x=AxBxC" where not even their number is known.
  std::string shape_to_give(const std::string& input) const;
  /// Names of dimensions of graph inputs that the file leaves open, each once.
  std::vector<std::string> open_dimensions() const;
  /// Names of the inputs that are no initializers, in the file's order.
  std::vector<std::string> inputs() const;
  /// The files below the model's folder that hold its external data, read or not, each named once.
  const std::vector<std::string>& external_files() const GEMM64_LIFETIMEBOUND {
    return external_files_;
  }

 private:
  OnnxModel() = default;
  static OnnxModel build(onnx::ModelProto proto, const std::string& name,
                         const std::filesystem::path& folder, const ImportOptions& options);

  void check(const std::filesystem::path& folder, const ImportOptions& options);
  ValueFacts infer(const ImportOptions& options, const ValueFacts* known);
  void settle(const std::filesystem::path& folder, const ImportOptions& options,
              const ValueFacts* known);

  onnx::ModelProto proto_;
  std::string name_;
  Opsets opsets_;
  std::map<std::string, TensorType> types_;
  std::map<std::string, const onnx::TensorProto*> constants_;  // into proto_; moving keeps them
  std::set<std::string> sparse_;
  std::set<std::string> fixed_;
  std::map<std::string, std::vector<std::int64_t>> integers_;
  std::map<std::string, std::string> unknown_;
  std::vector<std::string> external_files_;
  std::filesystem::path linked_folder_;      // of the file that the model's file is a link to
  std::map<std::string, std::string> kept_;  // why, by first output
  bool is_unfolded_by_shapes_ = false;
  bool is_for_its_sizes_ = false;
};

/// A node for messages: its name, or "Conv number 3" where it has none.
std::string node_label(const onnx::NodeProto& node, int index);

}  // namespace gemm64
