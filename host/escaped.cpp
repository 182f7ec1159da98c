// SPDX-License-Identifier: Apache-2.0
#include "host/escaped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace gemm64 {
namespace {

struct Character {
  std::size_t bytes = 0;  // 0: no valid UTF-8
  char32_t code = 0;
};

Character decode(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (overlong || surrogate || code > 0x10ffff) return {};
  return {bytes, code};
}

/// C1's controls, line and paragraph separators, and marks of direction.
bool acts_on_terminals(char32_t code) {
  return (code >= 0x80 && code < 0xa0) || code == 0x061c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    Character character = decode(text);
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
