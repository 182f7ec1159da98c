// SPDX-License-Identifier: Apache-2.0
// What images show: the right classes, and the names of classes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gemm64 {

/// The class of each image, counted from 0: from a .npy file of integers in one dimension, an idx
/// file, or text with a number a line. Throws UsageError if the file cannot be read, is damaged,
/// or holds what is no class.
std::vector<std::int64_t> read_labels(const std::filesystem::path& path);

/// The names of classes, one a line. Throws UsageError if the file cannot be read, is empty or
/// holds an empty line before its end.
std::vector<std::string> read_class_names(const std::filesystem::path& path);

}  // namespace gemm64
