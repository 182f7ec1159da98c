// SPDX-License-Identifier: Apache-2.0
// Text of unknown origin, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace gemm64 {

/// `text` on one line, without anything that a terminal acts upon: control characters and bytes
/// that are no UTF-8 become \n, \t or \xNN, marks that turn the direction of writing \u{NNNN}.
std::string escaped(std::string_view text);

/// The same for a text of several lines, which stay lines.
std::string escaped_lines(std::string_view text);

}  // namespace gemm64
