// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_skip_normalization.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/passes/file_shapes.hpp"
#include "host/graph/passes/fusion.hpp"
#include "host/graph/proto/attribute.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;

class SkipJoiner {
 public:
  explicit SkipJoiner(const OnnxModel& model)
      : model_(model), links_(model.graph()), shapes_(model) {}

  std::optional<Joined> join(const NodeProto& last) const {
    if (!is_onnx(&last, "LayerNormalization") || !is_along_rows(last)) return std::nullopt;
    const NodeProto* const sum = links_.producer(last.input(0));
    if (!is_onnx(sum, "Add") || links_.only_reader(last.input(0)) == nullptr ||
        !has_equal_sizes(*sum)) {
      return std::nullopt;
    }
    NodeProto node;
    node.set_domain("com.microsoft");
    node.set_op_type("SkipLayerNormalization");
    node.set_name(last.name());
    *node.mutable_output() = last.output();
    for (const std::string& name :
         {sum->input(0), sum->input(1), last.input(1), input_name(last, 2)}) {
      node.add_input(name);
    }
    Joined joined{{}, {sum}};
    for (int i = 0; i < 2 && joined.parts.size() == 1; ++i) {
      const NodeProto* const biased = links_.producer(sum->input(i));
      for (int bias = 1; bias >= 0 && joined.parts.size() == 1; --bias) {
        if (!is_biased(biased, bias)) continue;
        node.set_input(i, biased->input(1 - bias));
        node.add_input(biased->input(bias));
        joined.parts.push_back(biased);
      }
    }
    set_float(node, "epsilon", attribute(last, "epsilon", 1e-5F));
    joined.nodes = {node};
    return joined;
  }

 private:
  bool is_along_rows(const NodeProto& node) const {
    const auto type = model_.type(node.input(0)), scale = model_.type(node.input(1));
    if (!type || !scale || scale->dims.size() != 1 || !is_float(model_, node.input(0)))
      return false;
    const std::int64_t axis = attribute(node, "axis", std::int64_t{-1});
    return axis == -1 || axis == static_cast<std::int64_t>(type->dims.size()) - 1;
  }

  bool has_equal_sizes(const NodeProto& sum) const {
    const FileDims *const a = shapes_.dims(sum.input(0)), *const b = shapes_.dims(sum.input(1));
    return a != nullptr && b != nullptr && a->size() == 3 && *a == *b &&
           std::all_of(a->begin(), a->end(), [](const FileSize& size) { return size.is_known(); });
  }

  /// Is it a sum that only one node reads, whose operand `bias` is a constant vector? Where that
  /// comes first, ONNX Runtime joins only biases of products.
  bool is_biased(const NodeProto* node, int bias) const {
    if (!is_onnx(node, "Add") || links_.only_reader(node->output(0)) == nullptr ||
        model_.constant(node->input(bias)) == nullptr ||
        is_integer_product(links_.producer(node->input(1 - bias))) ||
        (bias == 0 && !is_onnx(links_.producer(node->input(1)), "MatMul"))) {
      return false;
    }
    const FileDims *const x = shapes_.dims(node->input(1 - bias)), *const vector = shapes_.dims(
                                                                       node->input(bias));
    return x != nullptr && vector != nullptr && x->size() == 3 && vector->size() == 1 &&
           x->back().number && x->back() == vector->front();
  }

  /// Is it a product of integers as a float, which takes the bias itself?
  bool is_integer_product(const NodeProto* scaled) const {
    for (int i = 0; is_onnx(scaled, "Mul") && i < 2; ++i) {
      const NodeProto* const cast = links_.producer(scaled->input(i));
      if (is_onnx(cast, "Cast") && is_onnx(links_.producer(cast->input(0)), "MatMulInteger")) {
        return true;
      }
    }
    return false;
  }

  const OnnxModel& model_;
  const GraphLinks links_;
  const FileShapes shapes_;
};

}  // namespace

OnnxModel fuse_skip_normalizations(OnnxModel model, const ImportOptions& import) {
  return fuse_by<SkipJoiner>(std::move(model), import);
}

}  // namespace gemm64
