// SPDX-License-Identifier: Apache-2.0
// What a file is, by its first bytes: for messages about files that are something else.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace gemm64 {

/// As many bytes as tell the kinds apart.
inline constexpr std::size_t kKindBytes = 24;

/// What file_kind() calls bytes that it does not know.
inline constexpr std::string_view kUnknownKind = "of an unknown kind";

/// "a PNG image", "a ZIP archive (.npz, .pt)", "text", "empty", "of an unknown kind": continues
/// "the file is ...". `head` are the file's first kKindBytes, or fewer where it has fewer.
const char* file_kind(std::string_view head);

/// The first kKindBytes of a file, or fewer; none where it is no regular file that can be read.
std::string file_head(const std::filesystem::path& path);

}  // namespace gemm64
