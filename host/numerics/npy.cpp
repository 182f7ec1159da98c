// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>

#include "host/numerics/npy_header.hpp"
#include "host/util/error.hpp"
#include "host/util/file_kind.hpp"
#include "host/util/text.hpp"
#include "host/util/utf8.hpp"

namespace gemm64 {
namespace {

using Element = NpyType::Element;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kPrefix = 8;             // the magic and two bytes of version
constexpr std::uint32_t kMaxHeader = 1 << 16;  // NumPy itself stops at 10,000 bytes
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;
constexpr std::size_t kAlignment = 64;  // of the first value, counted from the file's beginning

std::size_t length_bytes(unsigned version) { return version == 1 ? 2 : 4; }

void swap_bytes(char* values, std::uint64_t count, std::size_t bytes) {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::reverse(values + i * bytes, values + (i + 1) * bytes);
  }
}

/// Appends a character in UTF-8; one that is none becomes U+FFFD.
void append_character(std::string& text, char32_t code) {
  constexpr char32_t kReplacement = 0xfffd;
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = kReplacement;
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first
  text += static_cast<char>(0xff00U >> (more + 1) | code >> 6 * more);
  for (unsigned i = more; i-- > 0;) text += static_cast<char>(0x80 | (code >> 6 * i & 0x3f));
}

/// The characters of a text in UTF-8; U+FFFD for a byte that belongs to none.
std::u32string characters(std::string_view text) {
  std::u32string found;
  while (!text.empty()) {
    const Character next = first_character(text);
    found += next.bytes == 0 ? U'\ufffd' : next.code;
    text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
  return found;
}

/// Values that stand column by column, at `from`, row by row to `to`.
template <std::size_t kBytes>
void reorder(const char* from, char* to, const std::vector<std::int64_t>& shape,
             std::uint64_t elements, std::size_t bytes) {
  if (kBytes != 0) bytes = kBytes;  // known when it is compiled
  std::vector<std::uint64_t> steps(shape.size());
  std::uint64_t step = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    steps[axis] = step;
    step *= static_cast<std::uint64_t>(shape[axis]);
  }
  std::vector<std::int64_t> index(shape.size());
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < elements; ++i) {
    std::memcpy(to + i * bytes, from + at * bytes, bytes);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      at += steps[axis];
      if (++index[axis] < shape[axis]) break;
      at -= steps[axis] * static_cast<std::uint64_t>(shape[axis]);
      index[axis] = 0;
    }
  }
}

}  // namespace

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

NpyFile::NpyFile(const std::string& path) : file_(path) {
  std::array<char, kPrefix + 4> head{};
  const std::size_t got = file_.read_some(head.data(), kPrefix + 2);
  const std::string_view start(head.data(), got);
  if (start.substr(0, kMagic.size()) != kMagic) {
    throw UsageError(fmt::format("{}: not a .npy file, as numpy.save writes it: the file is {}",
                                 name(), file_kind(start)));
  }
  const auto byte = [&head](std::size_t i) { return static_cast<std::uint8_t>(head.at(i)); };
  const unsigned version = byte(6);
  if (got == kPrefix + 2 && (version < 1 || version > 3)) {
    throw UsageError(fmt::format("{}: is a .npy file of version {}; versions 1 to 3 are supported",
                                 name(), version));
  }
  const std::size_t more = length_bytes(version) - 2;
  std::uint32_t length = 0;
  std::string header;
  bool whole = got == kPrefix + 2 && file_.read_some(&head[kPrefix + 2], more) == more;
  if (whole) {
    for (std::size_t i = length_bytes(version); i-- > 0;) length = length << 8 | byte(kPrefix + i);
    if (length > kMaxHeader) {
      throw UsageError(fmt::format("{}: its header has {} bytes; NumPy's have at most {}", name(),
                                   length, kMaxHeader));
    }
    header = file_.read_up_to(length);
    whole = header.size() == length;
  }
  if (!whole) throw UsageError(fmt::format("{}: ends within the header of its array", name()));
  try {
    parse_header(header);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", name(), error.what()));
  }
  check_size();
}

void NpyFile::parse_header(const std::string& header) {
  const NpyHeader parsed = parse_npy_header(header);
  type_ = parsed.structured ? NpyType{Element::kNone, "a structured type", 0, false}
                            : npy_type(parsed.descr);
  fortran_ = parsed.fortran_order;
  shape_ = parsed.shape;
  // Zeros apart, so that no order of the sizes hides an overflow.
  const std::uint64_t most = kMaxBytes / std::max<std::size_t>(type_.bytes, 1);
  std::uint64_t product = 1;
  for (const std::int64_t dim : shape_) {
    const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(dim, 1));
    if (product > most / size) {
      throw UsageError(
          fmt::format("the array's shape {} is too large for any memory", shape_text(shape_)));
    }
    product *= size;
  }
  const bool empty = std::find(shape_.begin(), shape_.end(), 0) != shape_.end();
  elements_ = empty ? 0 : product;
}

void NpyFile::check_size() {
  const std::uint64_t wanted = elements_ * type_.bytes;
  // The size of a pipe is unknown before it was read.
  if (!file_.left()) piped_ = file_.read_up_to(wanted);
  need(wanted, file_.left().value_or(piped_.size()));
}

void NpyFile::need(std::uint64_t wanted, std::uint64_t found) const {
  if (found >= wanted) return;
  throw UsageError(fmt::format("{}: ends {} early: its header promises {}", name(),
                               counted(wanted - found, "byte"), describe()));
}

std::string NpyFile::describe() const {
  return fmt::format("{} of shape {}", type_.name, shape_text(shape_));
}

void NpyFile::require(Element element) const {
  if (type_.element == element) return;
  const bool convertible = type_.element != Element::kNone;
  throw UsageError(fmt::format(
      "{}: holds {}; {} is needed{}", name(), describe(), numpy_name(element),
      convertible ? fmt::format(": numpy.save(file, array.astype('{}'))", numpy_name(element))
                  : ""));
}

void NpyFile::read(void* to) {
  const std::uint64_t wanted = elements_ * type_.bytes;
  char* const values = static_cast<char*>(to);
  if (fortran_ && shape_.size() > 1 && elements_ != 0) {
    const std::string columns = piped_.empty() ? file_.read_up_to(wanted) : std::move(piped_);
    need(wanted, columns.size());
    const auto move = type_.bytes == 1   ? reorder<1>
                      : type_.bytes == 2 ? reorder<2>
                      : type_.bytes == 4 ? reorder<4>
                      : type_.bytes == 8 ? reorder<8>
                                         : reorder<0>;
    move(columns.data(), values, shape_, elements_, type_.bytes);
  } else if (!piped_.empty()) {
    std::memcpy(values, piped_.data(), static_cast<std::size_t>(wanted));
  } else {
    need(wanted, file_.read_some(values, static_cast<std::size_t>(wanted)));
  }
  if (type_.swapped) {
    const std::size_t word = type_.text != '\0' ? sizeof(char32_t) : type_.bytes;
    swap_bytes(values, wanted / word, word);
  }
  if (type_.element == Element::kBool) {
    std::transform(values, values + elements_, values, [](char c) { return c != 0 ? '\1' : '\0'; });
  }
}

std::vector<std::string> NpyFile::read_texts() {
  if (type_.text == '\0') {
    throw UsageError(fmt::format("{}: holds {}; texts are needed", name(), describe()));
  }
  std::string all(elements_ * type_.bytes, '\0');
  read(all.data());
  std::vector<std::string> texts(elements_);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const char* const begin = all.data() + i * type_.bytes;
    if (type_.text == 'S') {
      texts[i].assign(begin, type_.bytes);
    } else {
      for (std::size_t at = 0; at < type_.bytes; at += sizeof(char32_t)) {
        char32_t code = 0;
        std::memcpy(&code, begin + at, sizeof code);
        append_character(texts[i], code);
      }
    }
    texts[i].erase(texts[i].find_last_not_of('\0') + 1);
  }
  return texts;
}

namespace {

void write_header(OutputFile& file, const std::string& descr,
                  const std::vector<std::int64_t>& shape) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                   descr, shape_text(shape));
  const std::size_t before = kPrefix + length_bytes(1);
  const std::size_t end = (before + header.size() + kAlignment) / kAlignment * kAlignment;
  header.resize(end - before - 1, ' ');
  header += '\n';
  std::string prefix(kMagic);
  prefix += '\1';
  prefix += '\0';
  prefix += static_cast<char>(header.size() & 0xffU);
  prefix += static_cast<char>(header.size() >> 8);
  file.stream() << prefix << header;
}

}  // namespace

void write_npy(OutputFile& file, const std::vector<std::int64_t>& shape,
               const std::vector<std::string>& texts) {
  std::vector<std::u32string> rows;
  std::size_t most = 1;  // NumPy has no text of no characters
  for (const std::string& text : texts) {
    rows.push_back(characters(text));
    most = std::max(most, rows.back().size());
  }
  write_header(file, fmt::format("{}U{}", descr_of(Element::kFloat32)[0], most), shape);
  for (std::u32string& row : rows) {
    row.resize(most);
    file.stream().write(reinterpret_cast<const char*>(row.data()),
                        static_cast<std::streamsize>(most * sizeof(char32_t)));
  }
  file.commit();
}

void write_npy(OutputFile& file, Element element, const std::vector<std::int64_t>& shape,
               const void* values) {
  write_header(file, descr_of(element), shape);
  const auto elements =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  const auto bytes = elements * static_cast<std::int64_t>(bytes_of(element));
  file.stream().write(static_cast<const char*>(values), bytes);
  file.commit();
}

template <class T>
Matrix<T> load_npy(const std::string& path) {
  NpyFile file(path);
  file.require(std::is_same_v<T, float> ? Element::kFloat32 : Element::kInt8);
  if (file.shape().size() != 2 || file.elements() == 0) {
    throw UsageError(fmt::format("{}: holds {}; a matrix is needed: two sizes, none of them 0",
                                 file.name(), file.describe()));
  }
  Matrix<T> matrix(file.shape()[0], file.shape()[1]);
  file.read(matrix.data());
  return matrix;
}

template Matrix<std::int8_t> load_npy(const std::string& path);
template Matrix<float> load_npy(const std::string& path);

void save_npy(OutputFile& file, const MatrixI32& matrix) {
  write_npy(file, Element::kInt32, {matrix.rows(), matrix.cols()}, matrix.data());
}

void save_npy(OutputFile& file, const MatrixF& matrix) {
  write_npy(file, Element::kFloat32, {matrix.rows(), matrix.cols()}, matrix.data());
}

}  // namespace gemm64
