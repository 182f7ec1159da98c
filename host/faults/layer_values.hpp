// SPDX-License-Identifier: Apache-2.0
// What the layers of a campaign's program take, and what they must give: by the definitions, in
// plain loops that share no code with plans, devices or the host's kernels.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "host/faults/fault_layers.hpp"
#include "host/numerics/matrix.hpp"

namespace gemm64 {

/// What a layer takes from the host.
struct LayerValues {
  MatrixI8 a;                       // empty where another layer gives it
  MatrixI8 w;                       // a row a column of results; of a pool no columns
  std::vector<std::int32_t> bias;   // of 8-bit results
  std::vector<float> scale;         // the same
  std::vector<std::uint8_t> table;  // where results take one
  MatrixI8 operands;                // where they take some that no layer gives
};

/// At random; scales bring most sums into 8 bits.
LayerValues draw_values(const FaultLayer& layer, std::mt19937& random);

/// [rows x columns]: what the layer gives of activations `a` [rows read x columns read], and of
/// second operands where it takes some.
MatrixI32 layer_results(const FaultLayer& layer, const LayerValues& values, const MatrixI8& a,
                        const MatrixI8& operands);

}  // namespace gemm64
