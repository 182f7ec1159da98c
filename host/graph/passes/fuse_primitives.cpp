// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_primitives.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/passes/fusion.hpp"
#include "host/graph/proto/attribute.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

class Joiner {
 public:
  explicit Joiner(const OnnxModel& model)
      : model_(model), reader_(model), links_(model.graph()), reads_(count_reads(model.graph())) {}

  /// The node that `last` ends, with all that it replaces.
  std::optional<Joined> join(const NodeProto& last) {
    for (const auto rule : {&Joiner::layer_normalization, &Joiner::rms_normalization,
                            &Joiner::fast_gelu, &Joiner::gelu}) {
      parts_.clear();
      std::optional<NodeProto> node = (this->*rule)(last);
      // ONNX Runtime gives each reader a DequantizeLinear of its own, and then sees no one value.
      const NodeProto* const from = node ? links_.producer(node->input(0)) : nullptr;
      if (!node || (from != nullptr && is_dequantize(*from))) continue;
      node->set_name(last.name());
      *node->mutable_output() = last.output();
      return Joined{{*std::move(node)}, parts_};
    }
    return quotient(last);
  }

 private:
  /// A value without Casts that leave it float32.
  std::string plain(std::string name) const {
    for (;;) {
      const NodeProto* const cast = links_.producer(name);
      if (!is_onnx(cast, "Cast")) return name;
      const auto from = model_.type(cast->input(0)), to = model_.type(name);
      if (!from || !to || from->data_type != to->data_type) return name;
      name = cast->input(0);
    }
  }

  /// The node of a kind that computes a value, which is read `reads` times in all: it becomes a
  /// part, as do Casts after it.
  const NodeProto* part(const std::string& name, const char* type, int reads = 1) {
    std::vector<const NodeProto*> found;
    const std::string end = plain(name);
    for (std::string value = name;; value = found.back()->input(0)) {
      const NodeProto* const node = links_.producer(value);
      const auto count = reads_.find(value);
      if (node == nullptr || links_.is_output(value) || count == reads_.end() ||
          count->second != reads) {
        return nullptr;
      }
      found.push_back(node);
      if (value == end) break;
    }
    if (!is_onnx(found.back(), type)) return nullptr;
    parts_.insert(parts_.end(), found.begin(), found.end());
    return found.back();
  }

  bool is_number(const std::string& name, double wanted) const {
    const auto value = reader_.floats(name);
    return value && value->size() == 1 &&
           std::fabs((*value)[0] - wanted) <= 1e-8 + 1e-5 * std::fabs(wanted);
  }

  std::optional<float> number(const std::string& name) const {
    const auto value = reader_.floats(name);
    if (!value || value->size() != 1) return std::nullopt;
    return (*value)[0];
  }

  /// A constant vector as long as the last axis of `of`.
  bool is_vector(const std::string& name, const std::string& of) const {
    const auto type = model_.type(name), whole = model_.type(of);
    return model_.constant(name) != nullptr && type && whole && type->dims.size() == 1 &&
           !whole->dims.empty() && type->dims[0] == whole->dims.back() &&
           whole->data_type == TensorProto::FLOAT && type->data_type == TensorProto::FLOAT;
  }

  /// Does the node reduce the last axis, and keep it?
  bool reduces_last_axis(const NodeProto& node) const {
    const auto type = model_.type(node.input(0));
    if (!type || attribute(node, "keepdims", std::int64_t{1}) != 1) return false;
    std::vector<std::int64_t> axes = attribute(node, "axes", std::vector<std::int64_t>{});
    if (!input_name(node, 1).empty()) {
      const auto given = model_.integers(node.input(1));
      if (!given) return false;
      axes = *given;
    }
    const auto rank = static_cast<std::int64_t>(type->dims.size());
    return axes.size() == 1 && (axes[0] == -1 || axes[0] == rank - 1);
  }

  /// √(mean(v²) + ε): v, and ε.
  struct Root {
    std::string value;
    float epsilon;
    int reads;  // of v by the square
  };
  std::optional<Root> root_mean_square(const std::string& name) {
    const NodeProto* const root = part(name, "Sqrt");
    const NodeProto* const sum = root == nullptr ? nullptr : part(root->input(0), "Add");
    if (sum == nullptr) return std::nullopt;
    for (int i = 0; i < 2; ++i) {
      const std::optional<float> epsilon = number(sum->input(1 - i));
      const NodeProto* const mean = epsilon ? part(sum->input(i), "ReduceMean") : nullptr;
      if (mean == nullptr) continue;
      if (!reduces_last_axis(*mean)) return std::nullopt;
      const NodeProto* square = part(mean->input(0), "Pow");
      if (square != nullptr && !is_number(square->input(1), 2)) return std::nullopt;
      if (square == nullptr) square = part(mean->input(0), "Mul");
      if (square == nullptr) return std::nullopt;
      if (square->op_type() == "Mul" && square->input(0) != square->input(1)) return std::nullopt;
      return Root{square->input(0), *epsilon, square->op_type() == "Mul" ? 2 : 1};
    }
    return std::nullopt;
  }

  std::optional<NodeProto> rms_normalization(const NodeProto& last) {
    if (!is_onnx(&last, "Mul")) return std::nullopt;
    for (int i = 0; i < 2; ++i) {
      parts_.clear();
      std::string x;
      std::optional<Root> root;
      const NodeProto* const quotient = part(last.input(i), "Div");
      const NodeProto* const product = quotient == nullptr ? part(last.input(i), "Mul") : nullptr;
      if (quotient != nullptr) {
        x = plain(quotient->input(0));
        root = root_mean_square(quotient->input(1));
      }
      for (int j = 0; product != nullptr && !root && j < 2; ++j) {
        const std::vector<const NodeProto*> before = parts_;
        const NodeProto* const inverse = part(product->input(j), "Div");
        if (inverse != nullptr && is_number(inverse->input(0), 1)) {
          x = plain(product->input(1 - j));
          root = root_mean_square(inverse->input(1));
        }
        if (!root) parts_ = before;
      }
      if (!root || plain(root->value) != x || !is_vector(last.input(1 - i), x)) continue;
      NodeProto node;
      node.set_op_type("SimplifiedLayerNormalization");
      node.add_input(x);
      node.add_input(last.input(1 - i));
      set_integer(node, "axis", -1);
      set_float(node, "epsilon", root->epsilon);
      return node;
    }
    return std::nullopt;
  }

  /// x · (1 / y): x / y.
  std::optional<Joined> quotient(const NodeProto& last) {
    if (!is_onnx(&last, "Mul")) return std::nullopt;
    for (int i = 0; i < 2; ++i) {
      const NodeProto* const inverse = links_.producer(last.input(i));
      if (!is_onnx(inverse, "Div") || !is_number(inverse->input(0), 1) ||
          links_.only_reader(last.input(i)) == nullptr) {
        continue;
      }
      NodeProto node = last;
      node.set_op_type("Div");
      node.set_input(0, last.input(1 - i));
      node.set_input(1, inverse->input(1));
      return Joined{{node}, {inverse}};
    }
    return std::nullopt;
  }

  std::optional<NodeProto> layer_normalization(const NodeProto& last) {
    if (!is_onnx(&last, "Add")) return std::nullopt;
    for (int i = 0; i < 2; ++i) {
      parts_.clear();
      const NodeProto* const scaled = part(last.input(i), "Mul");
      for (int j = 0; scaled != nullptr && j < 2; ++j) {
        const NodeProto* const quotient = part(scaled->input(j), "Div");
        const auto root = quotient == nullptr ? std::nullopt : root_mean_square(quotient->input(1));
        if (!root || quotient->input(0) != root->value) continue;
        const NodeProto* const distance = part(root->value, "Sub", root->reads + 1);
        const NodeProto* const mean =
            distance == nullptr ? nullptr : part(distance->input(1), "ReduceMean");
        if (mean == nullptr || !reduces_last_axis(*mean)) continue;
        const std::string x = plain(distance->input(0));
        if (plain(mean->input(0)) != x || !is_vector(scaled->input(1 - j), x) ||
            !is_vector(last.input(1 - i), x)) {
          continue;
        }
        NodeProto node;
        node.set_op_type("LayerNormalization");
        node.add_input(x);
        node.add_input(scaled->input(1 - j));
        node.add_input(last.input(1 - i));
        set_integer(node, "axis", -1);
        set_float(node, "epsilon", root->epsilon);
        return node;
      }
    }
    return std::nullopt;
  }

  /// Of x / 2 · (1 + f), in one of the orders in which it is written: f and x.
  struct Half {
    std::string function, x;
  };
  std::optional<Half> half_of_one_more(const NodeProto& last) {
    if (!is_onnx(&last, "Mul")) return std::nullopt;
    const auto one_more = [this](const std::string& name) -> const NodeProto* {
      const NodeProto* const sum = part(name, "Add");
      return sum != nullptr && (is_number(sum->input(0), 1) || is_number(sum->input(1), 1))
                 ? sum
                 : nullptr;
    };
    const auto other_than = [this](const NodeProto& node, double wanted) -> std::string {
      if (is_number(node.input(0), wanted)) return node.input(1);
      return is_number(node.input(1), wanted) ? node.input(0) : "";
    };
    for (int i = 0; i < 2; ++i) {
      parts_.clear();
      // (x · 0.5) · (1 + f)
      const NodeProto* const half = part(last.input(i), "Mul");
      const NodeProto* const sum = half == nullptr ? nullptr : one_more(last.input(1 - i));
      if (sum != nullptr && !other_than(*half, 0.5).empty()) {
        return Half{other_than(*sum, 1), plain(other_than(*half, 0.5))};
      }
      // (x · (1 + f)) · 0.5
      parts_.clear();
      const NodeProto* const product =
          is_number(last.input(i), 0.5) ? part(last.input(1 - i), "Mul") : nullptr;
      for (int j = 0; product != nullptr && j < 2; ++j) {
        const NodeProto* const more = one_more(product->input(j));
        if (more != nullptr) return Half{other_than(*more, 1), plain(product->input(1 - j))};
      }
    }
    return std::nullopt;
  }

  std::optional<NodeProto> node_of(const char* type, const std::string& x) const {
    const auto given = model_.type(x);
    if (!given || given->data_type != TensorProto::FLOAT) return std::nullopt;
    NodeProto node;
    node.set_domain("com.microsoft");
    node.set_op_type(type);
    node.add_input(x);
    return node;
  }

  std::optional<NodeProto> fast_gelu(const NodeProto& last) {
    const std::optional<Half> half = half_of_one_more(last);
    const NodeProto* const tanh = half ? part(half->function, "Tanh") : nullptr;
    const NodeProto* const scaled = tanh == nullptr ? nullptr : part(tanh->input(0), "Mul");
    if (scaled == nullptr) return std::nullopt;
    for (int i = 0; i < 2; ++i) {
      const NodeProto* const sum =
          is_number(scaled->input(i), 0.7978845608) ? part(scaled->input(1 - i), "Add") : nullptr;
      for (int j = 0; sum != nullptr && j < 2; ++j) {
        const NodeProto* const cubic = part(sum->input(j), "Mul");
        if (cubic == nullptr || plain(sum->input(1 - j)) != half->x) continue;
        for (int k = 0; k < 2; ++k) {
          const NodeProto* const cube =
              is_number(cubic->input(k), 0.044715) ? part(cubic->input(1 - k), "Pow") : nullptr;
          if (cube != nullptr && is_number(cube->input(1), 3) && plain(cube->input(0)) == half->x) {
            return node_of("FastGelu", half->x);
          }
        }
      }
    }
    return std::nullopt;
  }

  std::optional<NodeProto> gelu(const NodeProto& last) {
    const std::optional<Half> half = half_of_one_more(last);
    const NodeProto* const erf = half ? part(half->function, "Erf") : nullptr;
    if (erf == nullptr) return std::nullopt;
    if (const NodeProto* const quotient = part(erf->input(0), "Div")) {
      const bool fits =
          is_number(quotient->input(1), std::sqrt(2.0)) && plain(quotient->input(0)) == half->x;
      return fits ? node_of("Gelu", half->x) : std::nullopt;
    }
    const NodeProto* const product = part(erf->input(0), "Mul");
    for (int i = 0; product != nullptr && i < 2; ++i) {
      if (is_number(product->input(i), std::sqrt(0.5)) && plain(product->input(1 - i)) == half->x) {
        return node_of("Gelu", half->x);
      }
    }
    return std::nullopt;
  }

  const OnnxModel& model_;
  const QuantizationReader reader_;
  const GraphLinks links_;
  const std::map<std::string, int> reads_;  // of each value, how many
  std::vector<const NodeProto*> parts_;     // of the current function, but its last node
};

}  // namespace

OnnxModel fuse_primitives(OnnxModel model, const ImportOptions& import) {
  return fuse_by<Joiner>(std::move(model), import);
}

}  // namespace gemm64
