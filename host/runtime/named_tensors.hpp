// SPDX-License-Identifier: Apache-2.0
// Tensors by name, and as matrices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/kernels/tensor.hpp"
#include "host/numerics/matrix.hpp"

namespace gemm64 {

using Tensors = std::vector<Tensor>;
using NamedTensors = std::map<std::string, Tensor>;

/// A tensor of float32 as rows, one for each index of its first axis.
inline MatrixF as_rows(const Tensor& tensor) {
  const std::int64_t rows = tensor.rank() < 2 ? 1 : tensor.dim(0);
  return Eigen::Map<const MatrixF>(tensor.values<float>(), rows,
                                   tensor.elements() / std::max<std::int64_t>(rows, 1));
}

}  // namespace gemm64
