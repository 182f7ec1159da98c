// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_scaled_sums.hpp"

#include <optional>
#include <string>
#include <utility>

#include "host/graph/passes/fusion.hpp"
#include "host/graph/proto/attribute.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

constexpr int kBias = 6;  // among the inputs

class ScaledSumsJoiner {
 public:
  explicit ScaledSumsJoiner(const OnnxModel& model) : model_(model), links_(model.graph()) {}

  /// The node takes the place of the MatMulInteger.
  std::optional<Joined> join(const NodeProto& sums) {
    if (!is_onnx(&sums, "MatMulInteger")) return std::nullopt;
    const NodeProto* const cast = reader(sums, "Cast");
    if (cast == nullptr || attribute(*cast, "to", std::int64_t{0}) != TensorProto::FLOAT) {
      return std::nullopt;
    }
    const NodeProto* const mul = reader(*cast, "Mul");
    if (mul == nullptr) return std::nullopt;
    const std::string& scale = other_input(*mul, *cast);
    if (!fits(scale, columns(sums), true)) return std::nullopt;
    TensorProto one;
    one.set_name(links_.new_name(sums.output(0) + "_scale"));
    one.set_data_type(TensorProto::FLOAT);
    one.add_float_data(1);
    NodeProto node;
    node.set_name(sums.name());
    node.set_domain("com.microsoft");
    node.set_op_type("MatMulIntegerToFloat");
    for (const std::string& input : {sums.input(0), sums.input(1), one.name(), scale}) {
      node.add_input(input);
    }
    for (int zero = 2; zero < sums.input_size(); ++zero) node.add_input(sums.input(zero));
    *node.mutable_output() = mul->output();
    Joined joined{{}, {cast, mul}, {one}};
    const NodeProto* const add = reader(*mul, "Add");
    if (add != nullptr && is_bias(other_input(*add, *mul), columns(sums))) {
      while (node.input_size() < kBias) node.add_input("");
      node.add_input(other_input(*add, *mul));
      *node.mutable_output() = add->output();
      joined.parts.push_back(add);
    }
    joined.nodes.push_back(std::move(node));
    return joined;
  }

 private:
  /// The only node that reads the node's results, if it is of this type.
  const NodeProto* reader(const NodeProto& node, const char* type) const {
    const NodeProto* const found = links_.only_reader(node.output(0));
    return is_onnx(found, type) ? found : nullptr;
  }

  /// Of a node of two inputs.
  static const std::string& other_input(const NodeProto& node, const NodeProto& producer) {
    return node.input(node.input(0) == producer.output(0) ? 1 : 0);
  }

  bool is_bias(const std::string& value, std::int64_t columns) const {
    return model_.is_constant(value) && fits(value, columns, false);
  }

  /// Those of a product's results; 0 if they are not known.
  std::int64_t columns(const NodeProto& product) const {
    const auto type = model_.type(product.input(1));
    return type && type->dims.size() > 1 ? type->dims.back() : 0;
  }

  /// Is it a float for each of the columns, or, if `or_one`, one for all?
  bool fits(const std::string& value, std::int64_t columns, bool or_one) const {
    const auto type = model_.type(value);
    if (!type || type->data_type != TensorProto::FLOAT || type->dims.size() > 1) return false;
    return (columns != 0 && type->dims.size() == 1 && type->dims[0] == columns) ||
           (or_one && type->elements() == 1);
  }

  const OnnxModel& model_;
  GraphLinks links_;
};

}  // namespace

OnnxModel fuse_scaled_sums(OnnxModel model, const ImportOptions& import) {
  return fuse_by<ScaledSumsJoiner>(std::move(model), import);
}

}  // namespace gemm64
