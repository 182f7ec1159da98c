// SPDX-License-Identifier: Apache-2.0
// Damage that an image decoder does not look for: stb_image skips checksums and fills what is cut
// off.
#pragma once

#include <string>
#include <string_view>

namespace gemm64 {

/// What is wrong with a PNG file: a chunk whose checksum is wrong, an early end; empty where
/// nothing is. Continues "the image ...".
std::string png_damage(std::string_view file);

/// The same of a JPEG file, which has no checksums: its segments must be whole, and its last one
/// its end.
std::string jpeg_damage(std::string_view file);

}  // namespace gemm64
