// SPDX-License-Identifier: Apache-2.0
// Tensors as NumPy's .npy files.
#pragma once

#include <string>

#include "host/kernels/tensor.hpp"
#include "host/util/output_file.hpp"

namespace gemm64 {

/// Reads an array of any sizes whose elements are of `type`. Types that NumPy does not know
/// (bfloat16, 8-bit floats, integers of 4 and 2 bits) are read from float32 or 8-bit integers, of
/// which only bfloat16 rounds. Throws UsageError if the file cannot be read or holds another type.
Tensor load_tensor(const std::string& path, DataType type);
/// Reads the tensors of a sequence from 0.npy, 1.npy and so on of a folder.
Tensor load_sequence(const std::string& folder, DataType type);

/// Writes an array and commits the file. A type that NumPy does not know is written as float32 or
/// 8-bit integers, and a line says so. Throws OutputError if the file is lost.
void save_tensor(OutputFile& file, const Tensor& tensor);

/// The name of a node or value as that of a file: '/' becomes '_'.
std::string file_name(std::string name);

}  // namespace gemm64
