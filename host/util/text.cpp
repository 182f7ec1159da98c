// SPDX-License-Identifier: Apache-2.0
#include "host/util/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "host/util/utf8.hpp"

namespace gemm64 {
namespace {

/// Bytes of the character of UTF-8 that begins at `at`; 0 where none does, or one that steers a
/// terminal.
std::size_t character_length(const std::string& text, std::size_t at) {
  const Character character = first_character(std::string_view(text).substr(at));
  const bool control = character.code < 0x20 || (character.code >= 0x7f && character.code < 0xa0);
  return control ? 0 : character.bytes;
}

}  // namespace

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string percent(double fraction) {
  // What is not all must not read as all.
  constexpr double kNearlyAll = 0.9999;
  if (fraction > kNearlyAll && fraction < 1) fraction = kNearlyAll;
  return fmt::format("{:.2f} %", 100 * fraction);
}

std::string share(std::uint64_t count, std::uint64_t of) {
  const std::string counts = fmt::format("{} of {}", grouped(count), grouped(of));
  if (of == 0) return counts;
  double tenths = std::round(1000.0 * static_cast<double>(count) / static_cast<double>(of));
  if (count < of) tenths = std::min(tenths, 999.0);
  if (count > 0) tenths = std::max(tenths, 1.0);
  return fmt::format("{:.1f} % ({})", tenths / 10, counts);
}

std::string counted(std::uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string bytes(std::uint64_t count) {
  constexpr double kKib = 1024;
  constexpr double kMib = kKib * kKib;
  const auto value = static_cast<double>(count);
  if (value >= kMib) return fmt::format("{:.3f} MiB", value / kMib);
  if (value >= kKib) return fmt::format("{:.3f} KiB", value / kKib);
  return fmt::format("{} B", count);
}

std::string printable(const std::string& text, std::size_t most) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size() && result.size() < most) {
    const std::size_t length = character_length(text, at);
    if (length == 0) {
      result += '?';
      ++at;
    } else {
      result.append(text, at, length);
      at += length;
    }
  }
  return at < text.size() ? result + "..." : result;
}

std::string dims_text(const std::vector<std::int64_t>& dims) {
  if (dims.empty()) return "scalar";
  if (dims.size() > 16) return fmt::format("of {} dimensions", dims.size());
  return fmt::format("{}", fmt::join(dims, "x"));
}

}  // namespace gemm64
