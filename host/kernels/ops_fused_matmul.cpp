// SPDX-License-Identifier: Apache-2.0
// FusedMatMul: a product of stacks of matrices, transposed where asked, times a number.
#include <algorithm>

#include "host/kernels/gemm.hpp"
#include "host/kernels/strided.hpp"

namespace gemm64 {
namespace host {

namespace {

/// The first axis behind those of the batch where the node says so.
Tensor with_batch_in_front(const NodeContext& node, const Tensor& x, const char* name) {
  if (x.rank() < 2 || attribute(*node.node, name, std::int64_t{0}) == 0) return x;
  Dims dims = x.dims(), strides = row_major_strides(dims);
  for (Dims* const each : {&dims, &strides}) {
    std::rotate(each->begin(), each->begin() + 1, each->end() - 1);
  }
  Tensor result(x.type(), dims);
  copy_strided(result.mutable_raw(), x.raw(), dims, strides, x.element_size());
  return result;
}

}  // namespace

Tensors fused_matmul(const NodeContext& node, const Tensors& inputs) {
  const Tensor a = with_batch_in_front(node, input(node, inputs, 0), "transBatchA");
  const Tensor b = with_batch_in_front(node, input(node, inputs, 1), "transBatchB");
  GemmForm form = gemm_form(node);
  form.beta = 0;
  form.transpose_a = form.transpose_a && a.rank() > 1;
  form.transpose_b = form.transpose_b && b.rank() > 1;
  return {multiply_stacks(node, a, b, form)};
}

}  // namespace host
}  // namespace gemm64
