// SPDX-License-Identifier: Apache-2.0
// One Linear layer of a network, as PyTorch stores it.
#pragma once

#include <Eigen/Core>
#include <string>

#include "host/numerics/matrix.hpp"

namespace gemm64 {

/// y = x * weights^T + bias, then max(y, 0) where `relu`. Weights are [N x K]: out features by in.
struct LinearLayer {
  std::string name;
  MatrixF weights;
  Eigen::VectorXf bias;
  bool relu = false;
};

}  // namespace gemm64
