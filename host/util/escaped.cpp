// SPDX-License-Identifier: Apache-2.0
#include "host/util/escaped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "host/util/utf8.hpp"

namespace gemm64 {
namespace {

/// C1's controls, line and paragraph separators, and marks of direction.
bool acts_on_terminals(char32_t code) {
  return (code >= 0x80 && code < 0xa0) || code == 0x061c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    Character character = first_character(text);
    if (character.bytes == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
      character.bytes = 1;
    } else if (character.code == '\n') {
      result += "\\n";
    } else if (character.code == '\t') {
      result += "\\t";
    } else if (character.code < 0x20 || character.code == 0x7f) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(character.code));
    } else if (acts_on_terminals(character.code)) {
      result += fmt::format("\\u{{{:x}}}", static_cast<unsigned>(character.code));
    } else {
      result += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return result;
}

std::string escaped_lines(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    result += escaped(text.substr(0, end));
    if (end == text.size()) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace gemm64
