// SPDX-License-Identifier: Apache-2.0
// Tensors as NumPy's .npy files.
#pragma once

#include <filesystem>

#include "host/execute/tensor.hpp"

namespace gemm64 {

/// Reads an array of any sizes whose elements are of `type` (no 16-bit float). Throws UsageError
/// where the file cannot be read or holds another type.
Tensor load_tensor(const std::filesystem::path& path, DataType type);

/// Writes an array; 16-bit floats, of which NumPy knows one, are written as float32. Throws
/// UsageError where the file cannot be written.
void save_tensor(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace gemm64
