// SPDX-License-Identifier: Apache-2.0
#include "host/columns.hpp"

#include <clocale>
#include <cwchar>

#include "host/utf8.hpp"

namespace gemm64 {
namespace {

/// Returns the columns of a character, an upper bound where they are not known.
std::size_t columns_of(char32_t code) {
  constexpr std::size_t kWide = 2;
  if (code < 0x80) return 1;
  // The program runs in the C locale, in which wcwidth() knows ASCII only.
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 == nullptr) return kWide;
  const locale_t before = uselocale(utf8);
  const int columns = wcwidth(static_cast<wchar_t>(code));
  uselocale(before);
  return columns < 0 ? kWide : static_cast<std::size_t>(columns);
}

/// The bytes and columns of the first character; a byte that is none takes a column.
struct Step {
  std::size_t bytes, columns;
};
Step first_step(std::string_view text) {
  const Character character = first_character(text);
  if (character.bytes == 0) return {1, 1};
  return {character.bytes, columns_of(character.code)};
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Step step = first_step(text);
    columns += step.columns;
    text.remove_prefix(step.bytes);
  }
  return columns;
}

std::string cut_to_columns(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  constexpr std::string_view kCut = "...";
  if (columns < kCut.size()) return std::string(columns, '.');
  const std::size_t most = columns - kCut.size();
  std::size_t bytes = 0;
  std::size_t used = 0;
  while (bytes < text.size()) {
    const Step step = first_step(text.substr(bytes));
    if (used + step.columns > most) break;
    used += step.columns;
    bytes += step.bytes;
  }
  return std::string(text.substr(0, bytes)).append(kCut);
}

}  // namespace gemm64
