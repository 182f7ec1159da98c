// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/labels.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "host/numerics/idx.hpp"
#include "host/numerics/npy.hpp"
#include "host/util/error.hpp"
#include "host/util/escaped.hpp"
#include "host/util/file_kind.hpp"
#include "host/util/input_file.hpp"

namespace gemm64 {
namespace {

using Element = NpyType::Element;

constexpr std::string_view kNpyKind = "a NumPy array (.npy)";
constexpr std::uint64_t kMaxText = std::uint64_t{1} << 26;
constexpr std::uint64_t kMaxLabels = std::uint64_t{1} << 27;
constexpr std::size_t kShown = 40;  // of a line that is wrong

/// Lines without their ends; nothing after the last one's.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

UsageError bad_label(const std::filesystem::path& path, const std::string& where,
                     std::string_view found) {
  return UsageError(fmt::format("{}: {} is '{}'; a label is a class, counted from 0", path.string(),
                                where, escaped(found.substr(0, kShown))));
}

template <class T>
std::vector<std::int64_t> read_values(NpyFile& file) {
  std::vector<T> values(static_cast<std::size_t>(file.elements()));
  file.read(values.data());
  std::vector<std::int64_t> labels;
  labels.reserve(values.size());
  for (const T value : values) {
    labels.push_back(static_cast<std::int64_t>(value));
    if (labels.back() < 0) {
      throw bad_label(file.name(), fmt::format("label {}", labels.size() - 1),
                      std::to_string(value));
    }
  }
  return labels;
}

std::vector<std::int64_t> read_npy_labels(const std::string& path) {
  NpyFile file(path);
  if (file.shape().size() != 1 || file.elements() > kMaxLabels) {
    throw UsageError(fmt::format("{}: is {}; labels are one dimension of at most {} integers", path,
                                 file.describe(), kMaxLabels));
  }
  switch (file.type().element) {
    case Element::kInt8:
      return read_values<std::int8_t>(file);
    case Element::kInt16:
      return read_values<std::int16_t>(file);
    case Element::kInt32:
      return read_values<std::int32_t>(file);
    case Element::kInt64:
      return read_values<std::int64_t>(file);
    case Element::kUint8:
      return read_values<std::uint8_t>(file);
    case Element::kUint16:
      return read_values<std::uint16_t>(file);
    case Element::kUint32:
      return read_values<std::uint32_t>(file);
    case Element::kUint64:
      return read_values<std::uint64_t>(file);
    default:
      throw UsageError(fmt::format("{}: is {}; labels are integers", path, file.describe()));
  }
}

/// The text of a file of lines. Throws UsageError where it is something else.
std::string read_text(const std::filesystem::path& path, const char* wanted) {
  std::string text = read_file(path.string(), kMaxText);
  if (text.empty() || text.find('\0') != std::string::npos) {
    const std::string_view kind = file_kind(std::string_view(text).substr(0, kKindBytes));
    throw UsageError(fmt::format("{}: give {}; the file is {}", path.string(), wanted,
                                 kind == "text" ? "of an unknown kind" : kind));
  }
  return text;
}

}  // namespace

std::vector<std::int64_t> read_labels(const std::filesystem::path& path) {
  if (is_idx_file(path)) {
    IdxFile file(path, 1);
    const std::vector<std::uint8_t> labels = file.read(kMaxLabels);
    return {labels.begin(), labels.end()};
  }
  if (file_kind(file_head(path)) == kNpyKind) return read_npy_labels(path.string());
  const std::string text =
      read_text(path, "labels as a .npy file, an idx file, or text with a number a line");
  std::vector<std::int64_t> labels;
  for (const std::string_view line : lines_of(text)) {
    std::int64_t label = -1;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), label);
    if (error != std::errc() || end != line.data() + line.size() || label < 0) {
      throw bad_label(path, fmt::format("line {}", labels.size() + 1), line);
    }
    labels.push_back(label);
  }
  return labels;
}

std::vector<std::string> read_class_names(const std::filesystem::path& path) {
  const std::string text = read_text(path, "names as text, one a line");
  std::vector<std::string> names;
  for (const std::string_view line : lines_of(text)) {
    names.emplace_back(line);
    if (line.empty()) {
      throw UsageError(fmt::format("{}: line {} is empty; each line names a class", path.string(),
                                   names.size()));
    }
  }
  return names;
}

}  // namespace gemm64
