// SPDX-License-Identifier: Apache-2.0
// Matrices as the accelerator's blocks, and blocks of results as a matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "host/numerics/matrix.hpp"
#include "host/tiling/job.hpp"

namespace gemm64 {

/// W[N x K] as tiles of array x array bytes, in the order in which they are used: tiles of N, in
/// each the tiles of K. A tile holds its columns (outputs) one after the other, array values of K
/// each; values outside W are zero. Of a stack W has the rows of all products, one after the
/// other. Of a convolution as pack_window_weights() does it. Throws std::invalid_argument if W has
/// another shape.
std::vector<std::uint8_t> pack_weights(const Job& job, const MatrixI8& weights);

/// A[M x K] as tiles of K, in each all rows of `array` values. Of a convolution A has a row for
/// each pixel, with all channels.
std::vector<std::uint8_t> pack_activations(const Job& job, const MatrixI8& activations);

/// The parameters of 8-bit results, tile of N by tile: `array` biases, then as many scales. Columns
/// past N get the bias 0 and the scale 0. After them the table of results, where the job takes
/// one. Throws UsageError, naming the column, if a scale is negative, infinite or not a number;
/// std::invalid_argument where there are not N of each (of a stack N for each product), or not all
/// 256 bytes of the table.
std::vector<std::uint8_t> pack_parameters(const Job& job, const std::vector<std::int32_t>& bias,
                                          const std::vector<float>& scales,
                                          const std::vector<std::uint8_t>& table = {});

/// The second operands [M x N] of a job's results, which lie as these do, or [1 x N], one for each
/// column; 0 past N.
std::vector<std::uint8_t> pack_operands(const Job& job, const MatrixI8& operands);

/// The values of results, as STORE wrote them.
std::vector<std::int32_t> result_values(ResultFormat format,
                                        const std::vector<std::uint8_t>& blocks);

/// C[M x N] from the values of all tiles of results, in the order in which they lie in memory.
/// Where the device did not add the tiles of K, they are added here, modulo 2^32 as the device
/// does.
MatrixI32 unpack_results(const Job& job, const std::vector<std::int32_t>& results);

}  // namespace gemm64
