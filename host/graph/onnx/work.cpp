// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/work.hpp"

#include <algorithm>

#include "host/graph/onnx/checked.hpp"
#include "host/graph/onnx/linear_layer.hpp"
#include "host/kernels/matmul_bits.hpp"

namespace gemm64 {
namespace {

constexpr int kNoInput = -1;

using Dims = std::vector<std::int64_t>;

std::uint64_t size(std::int64_t dim) { return static_cast<std::uint64_t>(dim); }

std::uint64_t product(Dims::const_iterator begin, Dims::const_iterator end) {
  std::uint64_t result = 1;
  for (; begin != end; ++begin) result = times(result, size(*begin));
  return result;
}

std::uint64_t product(const Dims& dims) { return product(dims.begin(), dims.end()); }

Work from_products(const ProductSizes& shape, std::uint64_t count) {
  Work work;
  work.macs = times(times(times(shape.m, shape.k), shape.n), count);
  if (work.macs != 0) work.products = Products{shape, count};
  return work;
}

/// Conv and its integer forms, with weights [N x K/groups x kernel...] at input `w`.
std::optional<Work> convolution(const NodeShapes& shapes, int w, int bias) {
  const std::optional<Dims> weights = shapes.input(w, 3);
  const std::optional<Dims> y = shapes.output(3);
  const std::uint64_t groups = shapes.groups();
  if (!weights || !y || groups == 0) return std::nullopt;
  const ProductSizes shape{times(size((*y)[0]), product(y->begin() + 2, y->end())),
                           product(weights->begin() + 1, weights->end()),
                           size((*weights)[0]) / groups};
  Work work = from_products(shape, groups);
  if (shapes.has(bias)) work.bias_adds = product(*y);
  return work;
}

/// Each value of the input is multiplied into a window of the output, weights [K x N/groups x ...].
std::optional<Work> transposed_convolution(const NodeShapes& shapes) {
  const std::optional<Dims> x = shapes.input(0, 3);
  const std::optional<Dims> weights = shapes.input(1, 3);
  const std::optional<Dims> y = shapes.output(3);
  const std::uint64_t groups = shapes.groups();
  if (!x || !weights || !y || groups == 0) return std::nullopt;
  const ProductSizes shape{times(size((*x)[0]), product(x->begin() + 2, x->end())),
                           size((*weights)[0]) / groups,
                           product(weights->begin() + 1, weights->end())};
  Work work = from_products(shape, groups);
  if (shapes.has(2)) work.bias_adds = product(*y);
  return work;
}

std::optional<Work> product_of_matrices(const NodeShapes& shapes, int left, int bias) {
  const std::optional<Dims> a = shapes.input(left, 2);
  const std::optional<Dims> y = shapes.output(2);
  if (!a || !y) return std::nullopt;
  const bool transposed = attribute(shapes.node(), "transA", std::int64_t{0}) != 0;
  Work work = from_products({size((*y)[0]), size((*a)[transposed ? 0 : 1]), size((*y)[1])}, 1);
  if (shapes.has(bias)) work.bias_adds = product(*y);
  return work;
}

/// NumPy's matmul of a and b. Where b is a single matrix (or a stack of one), all rows of a share
/// it: one product.
std::optional<Work> numpy_product(const std::optional<Dims>& a, const std::optional<Dims>& b,
                                  const std::optional<Dims>& y) {
  if (!a || !b || !y || a->empty() || b->empty()) return std::nullopt;
  const std::uint64_t k = size(a->back());
  const std::uint64_t m = a->size() == 1 ? 1 : size((*a)[a->size() - 2]);
  const std::uint64_t n = b->size() == 1 ? 1 : size(b->back());
  if (k == 0 || m == 0 || n == 0) return Work{};
  const std::uint64_t matrices = product(*y) / times(m, n);
  if (b->size() <= 2 || product(b->begin(), b->end() - 2) == 1)
    return from_products({times(m, matrices), k, n}, 1);
  return from_products({m, k, n}, matrices);
}

/// The same of inputs `left` and `right`.
std::optional<Work> numpy_product(const NodeShapes& shapes, int left, int right) {
  return numpy_product(shapes.input(left, 1), shapes.input(right, 1), shapes.output(0));
}

/// Gates of LSTM, GRU and RNN: each multiplies the input and the state, at each step, for each
/// direction. Steps depend on each other, so they are no single product.
std::optional<Work> recurrent(const NodeShapes& shapes, std::uint64_t gates) {
  const std::optional<Dims> x = shapes.input(0, 3);
  const std::optional<Dims> r = shapes.input(2, 3);
  if (!x || !r) return std::nullopt;
  const std::uint64_t hidden = size((*r)[2]);
  Work work;
  work.macs = times(times(times(size((*x)[0]), size((*x)[1])), times(size((*r)[0]), gates)),
                    times(hidden, plus(size((*x)[2]), hidden)));
  return work;
}

}  // namespace

std::optional<NodeShapes::Dims> NodeShapes::input(int i, std::size_t rank) const {
  return has(i) ? sizes(node_.input(i), rank) : std::nullopt;
}

std::optional<int> NodeShapes::type(int i) const {
  const std::optional<TensorType> type = has(i) ? model_.type(node_.input(i)) : std::nullopt;
  return type ? std::optional<int>(type->data_type) : std::nullopt;
}

std::optional<NodeShapes::Dims> NodeShapes::output(std::size_t rank) const {
  return node_.output_size() == 0 ? std::nullopt : sizes(node_.output(0), rank);
}

std::optional<NodeShapes::Dims> NodeShapes::sizes(const std::string& value,
                                                  std::size_t rank) const {
  const std::optional<TensorType> type = model_.type(value);
  if (!type || type->dims.size() < rank) return std::nullopt;
  return type->dims;
}

std::uint64_t NodeShapes::groups() const {
  const std::int64_t group = attribute(node_, "group", std::int64_t{1});
  return group < 1 ? 0 : size(group);
}

namespace work {

std::optional<Work> none(const NodeShapes& /*shapes*/) { return Work{}; }

/// Windows are added up or compared.
std::optional<Work> window(const NodeShapes& /*shapes*/) { return Work{}; }

/// Subgraphs, transforms and the like: their effort does not follow from shapes.
std::optional<Work> opaque(const NodeShapes& /*shapes*/) { return std::nullopt; }

std::optional<Work> conv(const NodeShapes& shapes) { return convolution(shapes, 1, 2); }
std::optional<Work> conv_integer(const NodeShapes& shapes) {
  return convolution(shapes, 1, kNoInput);
}
std::optional<Work> qlinear_conv(const NodeShapes& shapes) { return convolution(shapes, 3, 8); }
std::optional<Work> conv_transpose(const NodeShapes& shapes) {
  return transposed_convolution(shapes);
}
std::optional<Work> gemm(const NodeShapes& shapes) { return product_of_matrices(shapes, 0, 2); }
std::optional<Work> qgemm(const NodeShapes& shapes) { return product_of_matrices(shapes, 0, 6); }
std::optional<Work> matmul(const NodeShapes& shapes) { return numpy_product(shapes, 0, 1); }
/// Operands whose last two axes, or first and batch axes, may be swapped.
std::optional<Work> fused_matmul(const NodeShapes& shapes) {
  const auto seen = [&](int i, const char* trans, const char* batch) {
    std::optional<Dims> dims = shapes.input(i, 1);
    if (!dims || dims->size() < 2) return dims;
    if (attribute(shapes.node(), batch, std::int64_t{0}) != 0) {
      std::rotate(dims->begin(), dims->begin() + 1, dims->end() - 1);
    }
    if (attribute(shapes.node(), trans, std::int64_t{0}) != 0) {
      std::swap(dims->back(), *(dims->end() - 2));
    }
    return dims;
  };
  return numpy_product(seen(0, "transA", "transBatchA"), seen(1, "transB", "transBatchB"),
                       shapes.output(0));
}
std::optional<Work> qlinear_matmul(const NodeShapes& shapes) { return numpy_product(shapes, 0, 3); }
/// Weights of N x K in blocks of few bits: as many products as blocks where it multiplies integers.
std::optional<Work> matmul_of_bits(const NodeShapes& shapes) {
  const std::optional<Dims> a = shapes.input(0, 1);
  const std::int64_t k = attribute(shapes.node(), "K", std::int64_t{0});
  const std::int64_t n = attribute(shapes.node(), "N", std::int64_t{0});
  if (!a || k < 1 || n < 1 || a->back() != k) return std::nullopt;
  ProductSizes shape{product(a->begin(), a->end() - 1), size(k), size(n)};
  Work work = from_products(shape, 1);
  const auto zero_points = shapes.type(3);
  if (work.macs != 0 && multiplies_integers(shapes.node(), zero_points.value_or(0))) {
    shape.k = size(attribute(shapes.node(), "block_size", std::int64_t{0}));
    work.products = Products{shape, blocks_of_k(shapes.node())};
  }
  if (shapes.has(5)) work.bias_adds = times(shape.m, shape.n);
  return work;
}
/// Queries, keys and values of constant weights, which is one product; then each query with each
/// key, and what they say with each value.
std::optional<Work> quantized_attention(const NodeShapes& shapes) {
  const std::optional<Dims> x = shapes.input(0, 3);
  const std::optional<Dims> weights = shapes.input(1, 2);
  const std::optional<Dims> past = shapes.has(8) ? shapes.input(8, 5) : Dims(5);
  if (!x || !weights || !past) return std::nullopt;
  const std::uint64_t rows = times(size((*x)[0]), size((*x)[1])), columns = size((*weights)[1]);
  Work work = from_products({rows, size((*weights)[0]), columns}, 1);
  const std::uint64_t keys = plus(size((*x)[1]), size((*past)[3]));
  work.macs = plus(work.macs, times(times(rows, keys), 2 * (columns / 3)));
  work.bias_adds = times(rows, columns);
  return work;
}
std::optional<Work> lstm(const NodeShapes& shapes) { return recurrent(shapes, 4); }
std::optional<Work> gru(const NodeShapes& shapes) { return recurrent(shapes, 3); }
std::optional<Work> rnn(const NodeShapes& shapes) { return recurrent(shapes, 1); }

}  // namespace work

std::uint64_t values_of(const OnnxModel& model, const onnx::NodeProto& node) {
  const std::optional<Work> work = work_of(model, node);
  if (work && work->macs != 0) return 0;
  const bool reads_none = node.op_type() == "Shape" || node.op_type() == "Size";
  std::int64_t most = 0;
  for (const auto* names : {&node.input(), &node.output()}) {
    if (reads_none && names == &node.input()) continue;
    for (const std::string& name : *names) {
      if (name.empty() || model.is_constant(name)) continue;
      const std::optional<TensorType> type = model.type(name);
      if (!type) return 0;
      most = std::max(most, type->elements());
    }
  }
  return static_cast<std::uint64_t>(most);
}

std::optional<Work> work_of(const OnnxModel& model, const onnx::NodeProto& node) {
  const OperatorInfo* info = find_operator(node.domain(), node.op_type());
  return info == nullptr ? std::nullopt : info->work(NodeShapes(model, node));
}

}  // namespace gemm64
