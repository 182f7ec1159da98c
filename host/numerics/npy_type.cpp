// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/npy_type.hpp"

#include <fmt/format.h>

#include <charconv>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

using Element = NpyType::Element;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr char kOwnOrder = '<';
#else
constexpr char kOwnOrder = '>';
#endif

struct Code {
  Element element;
  char kind;
  std::size_t bytes;
  const char* name;
};

constexpr Code kCodes[] = {
    {Element::kBool, 'b', 1, "bool"},          {Element::kInt8, 'i', 1, "int8"},
    {Element::kInt16, 'i', 2, "int16"},        {Element::kInt32, 'i', 4, "int32"},
    {Element::kInt64, 'i', 8, "int64"},        {Element::kUint8, 'u', 1, "uint8"},
    {Element::kUint16, 'u', 2, "uint16"},      {Element::kUint32, 'u', 4, "uint32"},
    {Element::kUint64, 'u', 8, "uint64"},      {Element::kFloat16, 'f', 2, "float16"},
    {Element::kFloat32, 'f', 4, "float32"},    {Element::kFloat64, 'f', 8, "float64"},
    {Element::kNone, 'f', 16, "float128"},     {Element::kNone, 'c', 8, "complex64"},
    {Element::kNone, 'c', 16, "complex128"},   {Element::kNone, 'c', 32, "complex256"},
    {Element::kNone, 'm', 8, "timedelta64"},   {Element::kNone, 'M', 8, "datetime64"},
    {Element::kNone, 'O', 8, "Python objects"}};

const Code& code_of(Element element) {
  for (const Code& code : kCodes) {
    if (code.element == element) return code;
  }
  return kCodes[0];
}

}  // namespace

NpyType npy_type(const std::string& descr) {
  const auto unknown = [&descr] {
    return UsageError(fmt::format("NumPy has no type '{}'", descr));
  };
  std::size_t at = 0;
  char order = '|';
  if (!descr.empty() && std::string("<>|=").find(descr[0]) != std::string::npos) {
    order = descr[at++];
  }
  if (at == descr.size()) throw unknown();
  const char kind = descr[at++];
  std::size_t bytes = kind == 'O' ? 8 : 0;
  const char* const end = descr.data() + descr.size();
  const auto [next, error] = std::from_chars(descr.data() + at, end, bytes);
  const bool no_number = next == descr.data() + at;
  // datetime64 has its unit as a suffix: "<M8[ns]".
  const bool tail = next != end && !((kind == 'M' || kind == 'm') && *next == '[');
  if (tail || (no_number && kind != 'O') || (error != std::errc() && !no_number)) throw unknown();
  const bool swapped = (order == '<' || order == '>') && order != kOwnOrder && bytes > 1;
  if (kind == 'S') {
    return {Element::kNone, fmt::format("bytes of length {}", bytes), bytes, false, kind};
  }
  if (kind == 'U') {
    return {Element::kNone, fmt::format("text of {} characters", bytes), 4 * bytes, swapped, kind};
  }
  if (kind == 'V') return {Element::kNone, fmt::format("void of {} bytes", bytes), bytes};
  for (const Code& code : kCodes) {
    if (code.kind == kind && code.bytes == bytes) return {code.element, code.name, bytes, swapped};
  }
  throw unknown();
}

const char* numpy_name(Element element) { return code_of(element).name; }

std::size_t bytes_of(Element element) { return code_of(element).bytes; }

std::string descr_of(Element element) {
  const Code& code = code_of(element);
  return fmt::format("{}{}{}", code.bytes == 1 ? '|' : kOwnOrder, code.kind, code.bytes);
}

}  // namespace gemm64
