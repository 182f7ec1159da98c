// SPDX-License-Identifier: Apache-2.0
// Characters of UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace gemm64 {

struct Character {
  std::size_t bytes = 0;  // 0: no valid UTF-8
  char32_t code = 0;
};

/// Returns the first character of `text`, which must not be empty.
inline Character first_character(std::string_view text) {
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

}  // namespace gemm64
