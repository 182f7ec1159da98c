// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_gemm.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/graph/passes/file_shapes.hpp"
#include "host/graph/passes/fusion.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;

class GemmJoiner {
 public:
  explicit GemmJoiner(const OnnxModel& model)
      : model_(model), links_(model.graph()), shapes_(model) {}

  /// `last` is the Add.
  std::optional<Joined> join(const NodeProto& last) {
    if (!is_onnx(&last, "Add")) return std::nullopt;
    for (int i = 0; i < 2; ++i) {
      const NodeProto* const product = links_.producer(last.input(i));
      if (!is_onnx(product, "MatMul") || links_.only_reader(last.input(i)) == nullptr) continue;
      if (!is_float(model_, product->input(0))) continue;
      if (!fits(*product, last.input(1 - i))) continue;
      return joined(*product, last, last.input(1 - i));
    }
    return std::nullopt;
  }

 private:
  bool fits(const NodeProto& product, const std::string& bias) const {
    const FileDims *const a = shapes_.dims(product.input(0)),
                          *const b = shapes_.dims(product.input(1)), *const c = shapes_.dims(bias);
    if (a == nullptr || b == nullptr || c == nullptr || a->empty() || b->size() != 2) return false;
    const FileSize &n = (*b)[1], one{1};
    if (a->size() != 2 &&
        (!shapes_.is_fixed(product.input(0)) || !shapes_.is_fixed(product.input(1)))) {
      return false;
    }
    if (c->size() == 1) return (*c)[0] == n && n.is_known();
    if (a->size() != 2 || c->size() != 2 || !(*c)[0].is_known() || !(*c)[1].is_known())
      return false;
    if ((*c)[0] == one) return (*c)[1] == n;
    return (*c)[0] == (*a)[0] && ((*c)[1] == one || (*c)[1] == n);
  }

  Joined joined(const NodeProto& product, const NodeProto& last, const std::string& bias) {
    NodeProto gemm;
    gemm.set_op_type("Gemm");
    gemm.set_name(product.name());
    for (const std::string& name : {product.input(0), product.input(1), bias}) gemm.add_input(name);
    *gemm.mutable_output() = last.output();
    Joined result{{}, {&product}};
    const auto type = model_.type(product.input(0));
    if (type->dims.size() == 2) {
      result.nodes = {gemm};
      return result;
    }
    const std::int64_t k = type->dims.back();
    std::vector<std::int64_t> dims = type->dims;
    dims.front() = -1;  // as many as there are, should the batch be another
    dims.back() = model_.type(product.input(1))->dims[1];
    gemm.set_input(0, links_.new_name(product.input(0) + " as rows"));
    gemm.set_output(0, links_.new_name(last.output(0) + " as rows"));
    result.nodes = {reshape(product.input(0), {-1, k}, gemm.input(0), result), gemm,
                    reshape(gemm.output(0), dims, last.output(0), result)};
    return result;
  }

  /// A Reshape of `from` to `to`.
  NodeProto reshape(const std::string& from, const std::vector<std::int64_t>& dims,
                    const std::string& to, Joined& joined) {
    const std::string shape = links_.new_name(to + " shape");
    onnx::TensorProto& tensor = joined.constants.emplace_back();
    tensor.set_name(shape);
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(dims.size()));
    tensor.mutable_int64_data()->Add(dims.begin(), dims.end());
    NodeProto node;
    node.set_op_type("Reshape");
    node.set_name(to);
    node.add_input(from);
    node.add_input(shape);
    node.add_output(to);
    return node;
  }

  const OnnxModel& model_;
  GraphLinks links_;
  const FileShapes shapes_;
};

}  // namespace

OnnxModel fuse_gemms(OnnxModel model, const ImportOptions& import) {
  return fuse_by<GemmJoiner>(std::move(model), import);
}

}  // namespace gemm64
