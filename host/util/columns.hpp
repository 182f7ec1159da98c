// SPDX-License-Identifier: Apache-2.0
// Columns of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gemm64 {

/// Returns the number of columns of a line of UTF-8: wide characters (CJK, emoji) take two,
/// combining ones none.
std::size_t columns_of(std::string_view text);

/// Returns `text` in at most `columns` columns, with "..." at the end of what was cut. No character
/// is cut in two.
std::string cut_to_columns(std::string_view text, std::size_t columns);
/// The same, with "..." at the beginning: the end of a layer's name distinguishes it.
std::string end_in_columns(std::string_view text, std::size_t columns);

/// Returns `text` in lines of at most `columns` columns, cut at spaces. Line ends in it stay;
/// longer words and indented lines are not cut.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

}  // namespace gemm64
