// SPDX-License-Identifier: Apache-2.0
#include "host/util/columns.hpp"

#include <algorithm>
#include <clocale>
#include <cwchar>

#include "host/util/utf8.hpp"

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

std::string end_in_columns(std::string_view text, std::size_t columns) {
  std::size_t used = columns_of(text);
  if (used <= columns) return std::string(text);
  constexpr std::string_view kCut = "...";
  if (columns < kCut.size()) return std::string(columns, '.');
  while (used > columns - kCut.size()) {
    const Step step = first_step(text);
    used -= step.columns;
    text.remove_prefix(step.bytes);
  }
  return std::string(kCut).append(text);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool indented = !line.empty() && line.front() == ' ';
    while (!indented && columns_of(line) > columns) {
      std::size_t cut = std::string_view::npos;  // the last space within the columns
      std::size_t used = 0;
      for (std::size_t at = 0; at < line.size() && used <= columns;) {
        if (line[at] == ' ') cut = at;
        const Step step = first_step(line.substr(at));
        used += step.columns;
        at += step.bytes;
      }
      if (cut == std::string_view::npos) break;
      lines.emplace_back(line.substr(0, cut));
      line.remove_prefix(cut + 1);
    }
    lines.emplace_back(line);
  }
  return lines;
}

}  // namespace gemm64
