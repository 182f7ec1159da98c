// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_block_bias.hpp"

#include <optional>
#include <string>
#include <utility>

#include "host/graph/passes/fusion.hpp"
#include "host/graph/proto/attribute.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;

constexpr int kBias = 5;  // among the inputs

class BlockBiasJoiner {
 public:
  explicit BlockBiasJoiner(const OnnxModel& model) : model_(model), links_(model.graph()) {}

  /// `last` is the Add.
  std::optional<Joined> join(const NodeProto& last) {
    if (!is_onnx(&last, "Add") || is_before_gelu(last)) return std::nullopt;
    for (int i = 0; i < 2; ++i) {
      const NodeProto* const product = links_.producer(last.input(i));
      if (!is_product(product) || links_.only_reader(last.input(i)) == nullptr) continue;
      if (!fits(*product, last.input(1 - i))) continue;
      NodeProto node = *product;
      while (node.input_size() < kBias) node.add_input("");
      node.add_input(last.input(1 - i));
      *node.mutable_output() = last.output();
      return Joined{{node}, {product}};
    }
    return std::nullopt;
  }

 private:
  static bool is_product(const NodeProto* node) {
    return node != nullptr && node->domain() == "com.microsoft" &&
           node->op_type() == "MatMulNBits" && node->input_size() <= kBias;
  }

  bool is_before_gelu(const NodeProto& last) const {
    const NodeProto* const reader = links_.only_reader(last.output(0));
    return reader != nullptr && (reader->op_type() == "Gelu" || reader->op_type() == "FastGelu");
  }

  bool fits(const NodeProto& product, const std::string& bias) const {
    if (!is_float(model_, product.input(0)) || !model_.is_constant(bias)) return false;
    const auto type = model_.type(bias);
    return type && type->data_type == onnx::TensorProto::FLOAT && type->dims.size() == 1 &&
           type->dims[0] == attribute(product, "N", std::int64_t{0});
  }

  const OnnxModel& model_;
  GraphLinks links_;
};

}  // namespace

OnnxModel fuse_block_biases(OnnxModel model, const ImportOptions& import) {
  return fuse_by<BlockBiasJoiner>(std::move(model), import);
}

}  // namespace gemm64
