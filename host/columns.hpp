// SPDX-License-Identifier: Apache-2.0
// Columns of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gemm64 {

/// Returns the number of columns of a line of UTF-8: wide characters (CJK, emoji) take two,
/// combining ones none.
std::size_t columns_of(std::string_view text);

/// Returns `text` in at most `columns` columns, with "..." at the end of what was cut. No character
/// is cut in two.
std::string cut_to_columns(std::string_view text, std::size_t columns);

}  // namespace gemm64
