// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "host/graph/onnx/shape_rules.hpp"

namespace gemm64 {
namespace shapes {

using onnx::TensorProto;

namespace {

/// Shape of Gemm's product of inputs `left` and `right`, and the bias at `bias`.
Dims product_of_matrices(const RuleNode& node, int left, int right, int bias) {
  const Dims& a = node.dims(left);
  const Dims& b = node.dims(right);
  node.require(
      a.size() == 2 && b.size() == 2,
      fmt::format("A is {} and B is {}; both must be matrices", dims_text(a), dims_text(b)));
  const bool a_transposed = node.integer("transA", 0) != 0;
  const bool b_transposed = node.integer("transB", 0) != 0;
  const std::int64_t m = a[a_transposed ? 1 : 0];
  const std::int64_t k = a[a_transposed ? 0 : 1];
  const std::int64_t n = b[b_transposed ? 0 : 1];
  node.require(b[b_transposed ? 1 : 0] == k,
               fmt::format("A is {}{} and B is {}{}: their inner sizes differ", dims_text(a),
                           a_transposed ? " transposed" : "", dims_text(b),
                           b_transposed ? " transposed" : ""));
  const Dims result{m, n};
  if (node.has(bias) && node.opset() >= 7) {
    node.require(broadcast(node, node.dims(bias), result) == result,
                 fmt::format("C is {}; it does not fit a product of {}", dims_text(node.dims(bias)),
                             dims_text(result)));
  }
  return result;
}

/// Shape of NumPy's matmul.
Dims product(const RuleNode& node, Dims a, Dims b) {
  node.require(!a.empty() && !b.empty(), "a scalar cannot be multiplied as a matrix");
  const std::string inputs = fmt::format("inputs are {} and {}", dims_text(a), dims_text(b));
  const bool a_is_vector = a.size() == 1;
  const bool b_is_vector = b.size() == 1;
  if (a_is_vector) a.insert(a.begin(), 1);
  if (b_is_vector) b.push_back(1);
  node.require(a.back() == b[b.size() - 2], inputs + ": their inner sizes differ");
  Dims result = broadcast(node, Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  if (!a_is_vector) result.push_back(a[a.size() - 2]);
  if (!b_is_vector) result.push_back(b.back());
  return result;
}

/// The same of inputs `left` and `right`.
Dims product(const RuleNode& node, int left, int right) {
  return product(node, node.dims(left), node.dims(right));
}

}  // namespace

void gemm(RuleNode& node) {
  const Dims result = product_of_matrices(node, 0, 1, 2);
  node.set(0, node.input(0).data_type, result);
}

/// Without an output scale the result is float32.
void qgemm(RuleNode& node) {
  const Dims result = product_of_matrices(node, 0, 3, 6);
  node.set(0, node.has(7) ? node.input(0).data_type : int{TensorProto::FLOAT}, result);
}

/// Integer operands, a float32 result.
void matmul_to_float(RuleNode& node) { node.set(0, TensorProto::FLOAT, product(node, 0, 1)); }

/// Weights of N x K in blocks of few bits.
void matmul_of_bits(RuleNode& node) {
  Dims result = node.dims(0);
  node.require(
      !result.empty() && result.back() == node.integer("K", -1),
      fmt::format("its input is {} and K is {}", dims_text(result), node.integer("K", -1)));
  result.back() = node.integer("N", 0);
  node.set(0, node.input(0).data_type, result);
}

void matmul(RuleNode& node) { node.set(0, node.input(0).data_type, product(node, 0, 1)); }

/// Operands whose last two axes, or first and batch axes, may be swapped: transBatch moves the
/// first axis behind the batch, trans then swaps the last two.
void fused_matmul(RuleNode& node) {
  const auto seen = [&](int i, const char* trans, const char* batch) {
    Dims dims = node.dims(i);
    if (dims.size() < 2) return dims;
    if (node.integer(batch, 0) != 0) std::rotate(dims.begin(), dims.begin() + 1, dims.end() - 1);
    if (node.integer(trans, 0) != 0) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    return dims;
  };
  node.set(0, node.input(0).data_type,
           product(node, seen(0, "transA", "transBatchA"), seen(1, "transB", "transBatchB")));
}

void matmul_integer(RuleNode& node) { node.set(0, TensorProto::INT32, product(node, 0, 1)); }

void qlinear_matmul(RuleNode& node) { node.set(0, node.input(7).data_type, product(node, 0, 3)); }

/// LSTM, GRU and RNN: outputs Y, Y_h and, of LSTM, Y_c.
void recurrent(RuleNode& node) {
  const Dims& x = node.dims(0);
  const Dims& r = node.dims(2);
  node.require(
      x.size() == 3 && r.size() == 3,
      fmt::format("X is {} and R is {}; both must have 3 dimensions", dims_text(x), dims_text(r)));
  const bool batch_first = node.integer("layout", 0) != 0;
  const std::int64_t directions = r[0];
  const std::int64_t hidden = r[2];
  const std::int64_t batch = x[batch_first ? 0 : 1];
  const std::int64_t length = x[batch_first ? 1 : 0];
  const int type = node.input(0).data_type;
  const Dims last = batch_first ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden};
  const Dims all = batch_first ? Dims{batch, length, directions, hidden}
                               : Dims{length, directions, batch, hidden};
  node.set(0, type, all);
  node.set(1, type, last);
  node.set(2, type, last);
}

}  // namespace shapes
}  // namespace gemm64
