// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_matmul.hpp"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/passes/fusion.hpp"
#include "host/graph/proto/attribute.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;

/// An operand of a product, and how it is read.
struct Operand {
  std::string value;
  bool turned = false;       // its last two axes
  bool batch_first = false;  // else its first axis, that of rows, before those of the batch
};

class ProductJoiner {
 public:
  explicit ProductJoiner(const OnnxModel& model)
      : model_(model), reader_(model), links_(model.graph()) {}

  std::optional<Joined> join(const NodeProto& product) {
    if (!is_onnx(&product, "MatMul") || !is_float(model_, product.input(0)) ||
        model_.is_constant(product.input(1))) {
      return std::nullopt;
    }
    Joined joined{};
    float alpha = 1;
    NodeProto node;
    node.set_domain("com.microsoft");
    node.set_op_type("FusedMatMul");
    node.set_name(product.name());
    *node.mutable_output() = product.output();
    for (int i = 0; i < 2; ++i) {
      Operand operand{product.input(i)};
      if (const auto turned = without_transpose(operand.value, joined)) operand = *turned;
      const NodeProto* const before = links_.producer(operand.value);
      if (const auto scale = taken_.count(before) == 0 ? scale_of(before) : std::nullopt) {
        joined.if_unread.push_back(before);
        operand.value = scale->value;
        alpha *= scale->factor;
      }
      node.add_input(operand.value);
      set_integer(node, i == 0 ? "transA" : "transB", operand.turned ? 1 : 0);
      set_integer(node, i == 0 ? "transBatchA" : "transBatchB", operand.batch_first ? 1 : 0);
    }
    const NodeProto* const reader = links_.only_reader(product.output(0));
    if (const auto scale = scale_of(reader)) {
      alpha *= scale->factor;
      *node.mutable_output() = reader->output();
      joined.parts.push_back(reader);
      taken_.insert(reader);
    }
    if (joined.parts.empty() && joined.if_unread.empty()) return std::nullopt;
    set_float(node, "alpha", alpha);
    joined.nodes = {node};
    return joined;
  }

 private:
  struct Scale {
    std::string value;
    float factor;
  };
  /// Of a Mul or Div by one constant number.
  std::optional<Scale> scale_of(const NodeProto* node) const {
    if (!is_onnx(node, "Mul") && !is_onnx(node, "Div")) return std::nullopt;
    const bool divides = node->op_type() == "Div";
    for (int i = divides ? 1 : 0; i < 2; ++i) {
      const auto number = reader_.floats(node->input(i));
      const auto scale = model_.type(node->input(i)), other = model_.type(node->input(1 - i));
      if (!number || number->size() != 1 || !other || other->dims.empty() ||
          scale->dims.size() > other->dims.size()) {
        continue;
      }
      return Scale{node->input(1 - i), divides ? 1.0F / (*number)[0] : (*number)[0]};
    }
    return std::nullopt;
  }

  /// The axes that a Transpose of rank `rank` puts one after another.
  static std::vector<std::int64_t> order_of(const NodeProto& node, std::size_t rank) {
    std::vector<std::int64_t> order = attribute(node, "perm", std::vector<std::int64_t>{});
    for (std::size_t i = 0; order.size() < rank; ++i) {
      order.push_back(static_cast<std::int64_t>(rank - 1 - i));
    }
    return order;
  }

  /// Was the value made of transposed ones, by operators that no other node reads and that might as
  /// well come before the Transpose? Then ONNX Runtime makes one of it and the next.
  bool is_turned_before(const std::string& value) const {
    const NodeProto* const node = links_.producer(value);
    if (node == nullptr || links_.only_reader(value) == nullptr) return false;
    const bool is_scale = scale_of(node).has_value();
    if (!is_scale && !is_onnx(node, "Concat") && !is_onnx(node, "Cast")) return false;
    for (const std::string& name : node->input()) {
      if (is_scale && model_.constant(name) != nullptr) continue;
      if (!is_onnx(links_.producer(name), "Transpose") && !is_turned_before(name)) return false;
    }
    return true;
  }

  /// The operand before Transposes, where a product can read it as stored. Several in a row are
  /// one to ONNX Runtime.
  std::optional<Operand> without_transpose(const std::string& value, Joined& joined) const {
    const auto type = model_.type(value);
    const NodeProto* node = links_.producer(value);
    if (!is_onnx(node, "Transpose") || links_.is_output(value) || !type) return std::nullopt;
    const std::size_t rank = type->dims.size();
    std::vector<std::int64_t> order = order_of(*node, rank);
    std::vector<const NodeProto*> nodes{node};
    for (node = links_.producer(node->input(0)); is_onnx(node, "Transpose");
         node = links_.producer(node->input(0))) {
      const std::vector<std::int64_t> before = order_of(*node, rank);
      for (std::int64_t& axis : order) axis = before[static_cast<std::size_t>(axis)];
      nodes.push_back(node);
    }
    if (is_turned_before(nodes.back()->input(0))) return std::nullopt;
    const auto last = static_cast<std::int64_t>(rank) - 1;
    if (rank < 2 || (order[rank - 1] != last && order[rank - 2] != last)) return std::nullopt;
    if (rank >= 3 && order[0] > 1) return std::nullopt;
    for (std::size_t i = 0; i + 3 < rank; ++i) {
      if (order[i] + 1 != order[i + 1]) return std::nullopt;
    }
    joined.if_unread.insert(joined.if_unread.end(), nodes.begin(), nodes.end());
    return Operand{nodes.back()->input(0), order[rank - 2] == last, rank >= 3 && order[0] == 1};
  }

  const OnnxModel& model_;
  const QuantizationReader reader_;
  const GraphLinks links_;
  std::set<const NodeProto*> taken_;  // scales after products
};

}  // namespace

OnnxModel fuse_products(OnnxModel model, const ImportOptions& import) {
  return fuse_by<ProductJoiner>(std::move(model), import);
}

}  // namespace gemm64
