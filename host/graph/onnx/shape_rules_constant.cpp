// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "host/graph/onnx/shape_rules.hpp"
#include "host/graph/proto/tensor_data.hpp"

namespace gemm64 {
namespace shapes {

using onnx::TensorProto;

void constant(RuleNode& node) {
  for (const onnx::AttributeProto& attribute : node.proto().attribute()) {
    const std::string& name = attribute.name();
    if (name == "value") {
      const onnx::TensorProto& tensor = attribute.t();
      node.set(0, tensor.data_type(), {tensor.dims().begin(), tensor.dims().end()});
      // Its values were taken with all other constants.
    } else if (name == "sparse_value") {
      const onnx::SparseTensorProto& tensor = attribute.sparse_tensor();
      node.set(0, tensor.values().data_type(), {tensor.dims().begin(), tensor.dims().end()});
    } else if (name == "value_float") {
      node.set(0, TensorProto::FLOAT, {});
    } else if (name == "value_floats") {
      node.set(0, TensorProto::FLOAT, {attribute.floats_size()});
    } else if (name == "value_int") {
      node.set(0, TensorProto::INT64, {});
      node.set_integers(0, {attribute.i()});
    } else if (name == "value_ints") {
      node.set(0, TensorProto::INT64, {attribute.ints_size()});
      node.set_integers(0, {attribute.ints().begin(), attribute.ints().end()});
    } else if (name == "value_string") {
      node.set(0, TensorProto::STRING, {});
    } else if (name == "value_strings") {
      node.set(0, TensorProto::STRING, {attribute.strings_size()});
    }
  }
}

void constant_of_shape(RuleNode& node) {
  const Dims dims = node.needed_integers(0);
  int type = TensorProto::FLOAT;
  for (const onnx::AttributeProto& attribute : node.proto().attribute()) {
    if (attribute.name() != "value") continue;
    type = attribute.t().data_type();
    const auto value = integer_values(attribute.t(), 1);
    std::int64_t elements = 1;
    for (const std::int64_t dim : dims) {
      const auto product = checked_product(elements, dim);
      elements = product ? std::min<std::int64_t>(*product, 4097) : 4097;
    }
    if (value && value->size() == 1 && elements <= 4096) {
      node.set_integers(
          0, std::vector<std::int64_t>(static_cast<std::size_t>(elements), value->front()));
    }
  }
  node.set(0, type, dims);
}

void shape(RuleNode& node) {
  const Dims& x = node.dims(0);
  const auto rank = static_cast<std::int64_t>(x.size());
  const auto position = [rank](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? std::max(at, -rank) + rank : at, 0, rank);
  };
  const std::int64_t begin = position(node.integer("start", 0));
  const std::int64_t end = std::max(begin, position(node.integer("end", rank)));
  node.set(0, TensorProto::INT64, {end - begin});
  node.set_integers(0, {x.begin() + begin, x.begin() + end});
}

void size(RuleNode& node) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : node.dims(0)) {
    const auto product = checked_product(elements, dim);
    node.require(product.has_value(), "its input is too large");
    elements = *product;
  }
  node.set(0, TensorProto::INT64, {});
  node.set_integers(0, {elements});
}

void range(RuleNode& node) {
  const Dims start = node.needed_integers(0);
  const Dims limit = node.needed_integers(1);
  const Dims delta = node.needed_integers(2);
  constexpr std::int64_t kMax = std::int64_t{1} << 40;
  const auto fits = [](const Dims& values) {
    return values.size() == 1 && values[0] >= -kMax && values[0] <= kMax;
  };
  node.require(fits(start) && fits(limit) && fits(delta) && delta[0] != 0,
               "its start, limit and step are not single numbers of reasonable size");
  const std::int64_t span = delta[0] > 0 ? limit[0] - start[0] : start[0] - limit[0];
  const std::int64_t step = std::abs(delta[0]);
  const std::int64_t count = span <= 0 ? 0 : (span - 1) / step + 1;
  node.set(0, node.input(0).data_type, {count});
  if (count > 4096) return;
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(start[0] + i * delta[0]);
  node.set_integers(0, std::move(values));
}

void eye_like(RuleNode& node) {
  node.set(0, static_cast<int>(node.integer("dtype", node.input(0).data_type)), node.dims(0));
}

/// Random tensors: of a shape that the node says, or of another tensor's.
void random(RuleNode& node) {
  node.set(0, static_cast<int>(node.integer("dtype", TensorProto::FLOAT)), node.list("shape"));
}

}  // namespace shapes
}  // namespace gemm64
