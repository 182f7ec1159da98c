// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/npy_header.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kMaxDimensions = 64;  // as NumPy 2 has them

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  NpyHeader header() {
    NpyHeader header;
    unsigned seen = 0;
    expect('{');
    while (!take('}')) {
      const std::string key = text();
      expect(':');
      unsigned bit = 0;
      if (key == "descr") {
        bit = 1;
        header.structured = take_list();
        if (!header.structured) header.descr = text();
      } else if (key == "fortran_order") {
        bit = 2;
        header.fortran_order = truth();
      } else if (key == "shape") {
        bit = 4;
        header.shape = shape();
      } else {
        fail(fmt::format("has a key '{}'", key));
      }
      if ((seen & bit) != 0) fail(fmt::format("has its key '{}' twice", key));
      seen |= bit;
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    space();
    if (!rest_.empty()) fail("continues after its dictionary");
    if (seen != 7) fail("lacks one of its keys descr, fortran_order and shape");
    return header;
  }

 private:
  [[noreturn]] static void fail(const std::string& what) {
    throw UsageError("the header of the array " + what);
  }

  void space() {
    const std::size_t next = rest_.find_first_not_of(" \t\n\r");
    rest_.remove_prefix(next == std::string_view::npos ? rest_.size() : next);
  }

  bool take(char wanted) {
    space();
    if (rest_.empty() || rest_[0] != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) fail(fmt::format("lacks a '{}'", wanted));
  }

  std::string text() {
    space();
    const char quote = rest_.empty() ? '\0' : rest_[0];
    if (quote != '\'' && quote != '"') fail("lacks a text in quotes");
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) fail("has an unterminated string");
    const std::string result(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return result;
  }

  /// Passes over a list, where there is one.
  bool take_list() {
    space();
    if (rest_.empty() || rest_[0] != '[') return false;
    int depth = 0;
    do {
      space();
      if (rest_.empty()) fail("has an unterminated list");
      const char c = rest_[0];
      if (c == '\'' || c == '"') {
        text();
        continue;
      }
      if (c == '[' || c == '(') ++depth;
      if (c == ']' || c == ')') --depth;
      rest_.remove_prefix(1);
    } while (depth > 0);
    return true;
  }

  bool truth() {
    space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (rest_.substr(0, word.size()) != word) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    fail("has neither True nor False as its fortran_order");
  }

  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> dims;
    expect('(');
    while (!take(')')) {
      space();
      std::int64_t dim = -1;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), dim);
      if (error == std::errc::result_out_of_range) fail("has a size too large for any memory");
      if (error != std::errc()) fail("has a shape that is not a tuple of numbers");
      if (dim < 0) fail(fmt::format("has a negative size, {}", dim));
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      if (!rest_.empty() && rest_[0] == 'L') rest_.remove_prefix(1);  // Python 2's long integers
      dims.push_back(dim);
      if (dims.size() > kMaxDimensions) {
        fail(fmt::format("has more than {} dimensions", kMaxDimensions));
      }
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return dims;
  }

  std::string_view rest_;
};

}  // namespace

NpyHeader parse_npy_header(const std::string& text) { return Parser(text).header(); }

}  // namespace gemm64
