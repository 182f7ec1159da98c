// SPDX-License-Identifier: Apache-2.0
// Matrices as NumPy's .npy files.
#pragma once

#include <filesystem>

#include "host/numerics/matrix.hpp"

namespace gemm64 {

/// Reads a two-dimensional array of T (std::int8_t or float). Throws UsageError where the file
/// cannot be read, or holds another type or number of dimensions.
template <class T>
Matrix<T> load_npy(const std::filesystem::path& path);

/// Writes a two-dimensional array. Throws UsageError where the file cannot be written.
void save_npy(const std::filesystem::path& path, const MatrixI32& matrix);
void save_npy(const std::filesystem::path& path, const MatrixF& matrix);

}  // namespace gemm64
