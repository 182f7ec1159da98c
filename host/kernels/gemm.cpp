// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/gemm.hpp"

#include <fmt/format.h>

#include "host/kernels/strided.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {

GemmForm gemm_form(const NodeContext& node) {
  return {attribute(*node.node, "alpha", 1.0F), attribute(*node.node, "beta", 1.0F),
          attribute(*node.node, "transA", std::int64_t{0}) != 0,
          attribute(*node.node, "transB", std::int64_t{0}) != 0};
}

void add_bias(const NodeContext& node, const GemmForm& form, const Tensor& bias, Tensor& result) {
  if (!bias.present() || form.beta == 0) return;
  require_same_type(node, result, bias);
  Dims dims;
  if (!broadcast_dims(bias.dims(), result.dims(), dims) || dims != result.dims()) {
    throw failure(node, fmt::format("its bias, {}, does not broadcast to {}", describe(bias),
                                    dims_text(result.dims())));
  }
  Tensor addends(bias.type(), dims);
  copy_strided(addends.mutable_raw(), bias.raw(), dims, broadcast_strides(bias.dims(), dims),
               bias.element_size());
  for (std::int64_t i = 0; i < result.elements(); ++i) {
    result.mutable_values<float>()[i] += form.beta * addends.values<float>()[i];
  }
}

std::string operands_do_not_fit(const Tensor& a, const Tensor& b) {
  return fmt::format("its operands, {} and {}, do not fit together", describe(a), describe(b));
}

}  // namespace gemm64
