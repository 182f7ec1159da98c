// SPDX-License-Identifier: Apache-2.0
// Images from PNG and JPEG files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "host/numerics/image.hpp"

namespace gemm64 {

/// Is the file, by its first bytes, an image, be it of a kind that load_image() reads or not?
bool is_image_file(const std::filesystem::path& path);

/// Reads an image as `channels` of 1 or 3: colours become grey by their brightness, grey becomes
/// three equal channels; what is transparent is read as if it were not. Throws UsageError if the
/// file cannot be read, is cut off or visibly damaged, or has a side of more than
/// 16384 or more than 2^26 pixels in all.
Image load_image(const std::filesystem::path& path, std::size_t channels);

/// The contents of an image file, whatever they are. Throws UsageError if the file cannot be
/// read or is longer than any image.
std::string read_image_file(const std::filesystem::path& path);

/// load_image() of contents that were read elsewhere; messages name `file`.
Image decode_image(std::string_view contents, const std::string& file, std::size_t channels);

}  // namespace gemm64
