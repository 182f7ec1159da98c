// SPDX-License-Identifier: Apache-2.0
// FusedMatMul: a product of stacks of matrices, transposed where asked, times a number.
#include <algorithm>

#include "host/kernels/operators.hpp"
#include "host/kernels/strided.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {

OperatorFunction matmul;

namespace {

/// The first axis behind those of the batch, then the last two swapped, where the node says so.
Tensor transposed(const NodeContext& node, const Tensor& x, const char* trans, const char* batch) {
  const bool swaps = attribute(*node.node, trans, std::int64_t{0}) != 0;
  const bool moves = attribute(*node.node, batch, std::int64_t{0}) != 0;
  if (x.rank() < 2 || (!swaps && !moves)) return x;
  Dims dims = x.dims(), strides = row_major_strides(dims);
  for (Dims* const each : {&dims, &strides}) {
    if (moves) std::rotate(each->begin(), each->begin() + 1, each->end() - 1);
    if (swaps) std::swap(*(each->end() - 1), *(each->end() - 2));
  }
  Tensor result(x.type(), dims);
  copy_strided(result.mutable_raw(), x.raw(), dims, strides, x.element_size());
  return result;
}

}  // namespace

Tensors fused_matmul(const NodeContext& node, const Tensors& inputs) {
  const Tensor a = transposed(node, input(node, inputs, 0), "transA", "transBatchA");
  const Tensor b = transposed(node, input(node, inputs, 1), "transB", "transBatchB");
  Tensors results = matmul(node, {a, b});
  const float alpha = attribute(*node.node, "alpha", 1.0F);
  visit_floats(node, a.type(), [&](auto zero) {
    auto* const values = results[0].mutable_values<decltype(zero)>();
    std::for_each(values, values + results[0].elements(), [&](auto& value) { value *= alpha; });
    return 0;
  });
  return results;
}

}  // namespace host
}  // namespace gemm64
