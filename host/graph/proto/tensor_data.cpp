// SPDX-License-Identifier: Apache-2.0
#include "host/graph/proto/tensor_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>

#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using onnx::TensorProto;

constexpr std::int64_t kMax = std::int64_t{1} << 62;
// Twice as many as NumPy's arrays have: a bound on what a shape may cost.
constexpr std::size_t kMaxDimensions = 64;

struct TypeInfo {
  int type;
  const char* name;
  std::int64_t bits;
};

constexpr TypeInfo kTypes[] = {
    {TensorProto::FLOAT, "float32", 32},
    {TensorProto::UINT8, "uint8", 8},
    {TensorProto::INT8, "int8", 8},
    {TensorProto::UINT16, "uint16", 16},
    {TensorProto::INT16, "int16", 16},
    {TensorProto::INT32, "int32", 32},
    {TensorProto::INT64, "int64", 64},
    {TensorProto::STRING, "string", 0},
    {TensorProto::BOOL, "bool", 8},
    {TensorProto::FLOAT16, "float16", 16},
    {TensorProto::DOUBLE, "float64", 64},
    {TensorProto::UINT32, "uint32", 32},
    {TensorProto::UINT64, "uint64", 64},
    {TensorProto::COMPLEX64, "complex64", 64},
    {TensorProto::COMPLEX128, "complex128", 128},
    {TensorProto::BFLOAT16, "bfloat16", 16},
    {TensorProto::FLOAT8E4M3FN, "float8e4m3fn", 8},
    {TensorProto::FLOAT8E4M3FNUZ, "float8e4m3fnuz", 8},
    {TensorProto::FLOAT8E5M2, "float8e5m2", 8},
    {TensorProto::FLOAT8E5M2FNUZ, "float8e5m2fnuz", 8},
    {TensorProto::FLOAT8E8M0, "float8e8m0", 8},
    {TensorProto::UINT4, "uint4", 4},
    {TensorProto::INT4, "int4", 4},
    {TensorProto::FLOAT4E2M1, "float4e2m1", 4},
    {TensorProto::UINT2, "uint2", 2},
    {TensorProto::INT2, "int2", 2},
};

const TypeInfo* find(int data_type) {
  for (const TypeInfo& info : kTypes) {
    if (info.type == data_type) return &info;
  }
  return nullptr;
}

/// Entries of the field that belongs to the tensor's type.
std::int64_t typed_values(const TensorProto& tensor) {
  switch (tensor.data_type()) {
    case TensorProto::FLOAT:
      return tensor.float_data_size();
    case TensorProto::COMPLEX64:
      return tensor.float_data_size() / 2;
    case TensorProto::DOUBLE:
      return tensor.double_data_size();
    case TensorProto::COMPLEX128:
      return tensor.double_data_size() / 2;
    case TensorProto::INT64:
      return tensor.int64_data_size();
    case TensorProto::UINT32:
    case TensorProto::UINT64:
      return tensor.uint64_data_size();
    case TensorProto::STRING:
      return tensor.string_data_size();
    default:
      return tensor.int32_data_size();
  }
}

bool is_external(const TensorProto& tensor) {
  return tensor.data_location() == TensorProto::EXTERNAL;
}

template <class T>
std::vector<T> from_raw(const std::string& raw) {
  std::vector<T> values(raw.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), raw.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace

std::int64_t TensorType::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) product *= dim;
  return product;
}

std::int64_t TensorType::bytes() const {
  // Of types smaller than a byte, the last byte may be filled in part.
  const std::int64_t bits = element_bits(data_type);
  return elements() / 8 * bits + (elements() % 8 * bits + 7) / 8;
}

std::int64_t element_bits(int data_type) {
  const TypeInfo* info = find(data_type);
  return info == nullptr ? 0 : info->bits;
}

std::int64_t element_bytes(int data_type) { return element_bits(data_type) / 8; }

bool is_computable(int data_type) {
  return element_bits(data_type) != 0 && data_type != TensorProto::COMPLEX64 &&
         data_type != TensorProto::COMPLEX128;
}

std::string data_type_name(int data_type) {
  const TypeInfo* info = find(data_type);
  return info == nullptr ? fmt::format("type {}", data_type) : info->name;
}

std::optional<std::int64_t> checked_product(std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0) return std::nullopt;
  if (a != 0 && b > kMax / a) return std::nullopt;
  return a * b;
}

TensorType checked_type(int data_type, const std::vector<std::int64_t>& dims,
                        const std::string& where) {
  if (find(data_type) == nullptr) {
    throw UsageError(fmt::format("{}: its element type {} is unknown", where, data_type));
  }
  if (dims.size() > kMaxDimensions) {
    throw UsageError(fmt::format("{}: has {} dimensions; at most {} are supported", where,
                                 dims.size(), kMaxDimensions));
  }
  // Zeros apart, so that no order of the dimensions hides an overflow.
  std::optional<std::int64_t> bytes = std::max<std::int64_t>(element_bytes(data_type), 1);
  for (const std::int64_t dim : dims) {
    if (dim < 0) {
      throw UsageError(
          fmt::format("{}: its shape {} has a negative dimension", where, dims_text(dims)));
    }
    bytes = checked_product(*bytes, std::max<std::int64_t>(dim, 1));
    if (!bytes) {
      throw UsageError(
          fmt::format("{}: its shape {} is too large for any memory", where, dims_text(dims)));
    }
  }
  return {data_type, dims};
}

TensorType checked_type(const TensorProto& tensor, const std::string& where) {
  return checked_type(tensor.data_type(), {tensor.dims().begin(), tensor.dims().end()}, where);
}

bool has_data(const TensorProto& tensor) {
  return tensor.has_raw_data() || is_external(tensor) || typed_values(tensor) > 0 ||
         std::find(tensor.dims().begin(), tensor.dims().end(), 0) != tensor.dims().end();
}

void check_data(const TensorProto& tensor, bool shapes_only, const std::string& where) {
  const TensorType type = checked_type(tensor, where);
  if (is_external(tensor)) return;
  const std::int64_t typed = typed_values(tensor);
  if (tensor.has_raw_data() && typed > 0) {
    throw UsageError(fmt::format("{}: its data are given twice, as raw_data and as values", where));
  }
  if (tensor.has_raw_data() && tensor.data_type() == TensorProto::STRING) {
    throw UsageError(fmt::format("{}: raw_data cannot hold strings", where));
  }
  if (!has_data(tensor)) {
    if (shapes_only) return;
    throw UsageError(
        fmt::format("{}: the file holds its shape, {}, but not its data, which are needed here",
                    where, dims_text(type.dims)));
  }
  const std::int64_t found =
      tensor.has_raw_data() ? static_cast<std::int64_t>(tensor.raw_data().size()) : typed;
  // Values smaller than a byte share one, in raw_data and in int32_data.
  const bool in_bytes = tensor.has_raw_data() || element_bits(type.data_type) % 8 != 0;
  const std::int64_t expected = in_bytes ? type.bytes() : type.elements();
  if (found != expected) {
    throw UsageError(fmt::format("{}: its shape {} needs {} {}, but the file holds {}", where,
                                 dims_text(type.dims), expected, in_bytes ? "bytes" : "values",
                                 found));
  }
}

std::optional<std::vector<std::int64_t>> integer_values(const TensorProto& tensor,
                                                        std::int64_t most) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : tensor.dims()) {
    const std::optional<std::int64_t> product = checked_product(elements, dim);
    if (!product || *product > most) return std::nullopt;
    elements = *product;
  }
  std::vector<std::int64_t> values;
  const std::string& raw = tensor.raw_data();
  switch (tensor.data_type()) {
    case TensorProto::INT64:
      values = tensor.has_raw_data() ? from_raw<std::int64_t>(raw)
                                     : std::vector<std::int64_t>(tensor.int64_data().begin(),
                                                                 tensor.int64_data().end());
      break;
    case TensorProto::INT32:
      if (tensor.has_raw_data()) {
        const std::vector<std::int32_t> narrow = from_raw<std::int32_t>(raw);
        values.assign(narrow.begin(), narrow.end());
      } else {
        values.assign(tensor.int32_data().begin(), tensor.int32_data().end());
      }
      break;
    case TensorProto::BOOL:
      if (tensor.has_raw_data()) {
        values.assign(raw.begin(), raw.end());
      } else {
        values.assign(tensor.int32_data().begin(), tensor.int32_data().end());
      }
      break;
    default:
      return std::nullopt;
  }
  if (static_cast<std::int64_t>(values.size()) != elements) return std::nullopt;
  return values;
}

std::optional<std::vector<float>> float_values(const TensorProto& tensor, std::int64_t most) {
  if (tensor.data_type() != TensorProto::FLOAT) return std::nullopt;
  std::int64_t elements = 1;
  for (const std::int64_t dim : tensor.dims()) {
    const std::optional<std::int64_t> product = checked_product(elements, dim);
    if (!product || *product > most) return std::nullopt;
    elements = *product;
  }
  std::vector<float> values =
      tensor.has_raw_data()
          ? from_raw<float>(tensor.raw_data())
          : std::vector<float>(tensor.float_data().begin(), tensor.float_data().end());
  if (static_cast<std::int64_t>(values.size()) != elements) return std::nullopt;
  return values;
}

std::optional<std::filesystem::path> external_file(const TensorProto& tensor,
                                                   const std::filesystem::path& folder) {
  std::string location;
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
  }
  const std::filesystem::path relative = std::filesystem::path(location).lexically_normal();
  const bool inside = !location.empty() && location.find('\0') == std::string::npos &&
                      relative.is_relative() && *relative.begin() != "..";
  if (!inside) return std::nullopt;
  return folder / relative;
}

void read_external_data(TensorProto& tensor, const std::filesystem::path& folder,
                        const std::filesystem::path& linked_folder, const std::string& where) {
  const TensorType type = checked_type(tensor, where);
  std::string location;
  std::int64_t offset = 0;
  std::int64_t length = type.bytes();
  const auto number = [&where](const onnx::StringStringEntryProto& entry) {
    const std::string& text = entry.value();
    std::int64_t value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0) {
      throw UsageError(fmt::format("{}: the {} of its external data is '{}', not a number", where,
                                   entry.key(), printable(text)));
    }
    return value;
  };
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = number(entry);
    if (entry.key() == "length") length = number(entry);
  }
  if (length != type.bytes() || tensor.data_type() == TensorProto::STRING) {
    throw UsageError(fmt::format("{}: its external data are {}, but its shape needs {}", where,
                                 counted(length, "byte"), type.bytes()));
  }
  const std::optional<std::filesystem::path> named = external_file(tensor, folder);
  if (!named) {
    throw UsageError(fmt::format("{}: its external data lie in '{}'; they must lie below the model",
                                 where, printable(location)));
  }
  const std::filesystem::path& path = *named;
  std::error_code error;
  // Through links too: else a model could name, and `tile` copy, any file of the user's.
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  const auto is_below = [&](const std::filesystem::path& parent) {
    const std::filesystem::path below = real.lexically_relative(
        std::filesystem::weakly_canonical(parent.empty() ? "." : parent, error));
    return !error && !below.empty() && *below.begin() != "..";
  };
  if (!is_below(folder) && (linked_folder.empty() || !is_below(linked_folder))) {
    throw UsageError(
        fmt::format("{}: its external data, '{}', lead out of the model's folder; they must lie "
                    "below the model",
                    where, printable(location)));
  }
  const std::uintmax_t size =
      std::filesystem::is_regular_file(path, error) ? std::filesystem::file_size(path, error) : 0;
  std::ifstream file;
  if (!error && size > 0) file.open(path, std::ios::binary);
  if (!file.is_open()) {
    throw UsageError(
        fmt::format("{}: its external data, {}, cannot be read", where, printable(path.string())));
  }
  if (static_cast<std::uintmax_t>(offset) > size ||
      static_cast<std::uintmax_t>(length) > size - static_cast<std::uintmax_t>(offset)) {
    throw UsageError(fmt::format(
        "{}: its external data are bytes {} to {} of {}, which has only {}", where, offset,
        static_cast<std::uintmax_t>(offset) + static_cast<std::uintmax_t>(length),
        printable(path.string()), size));
  }
  std::string& raw = *tensor.mutable_raw_data();
  raw.resize(static_cast<std::size_t>(length));
  file.seekg(offset);
  file.read(raw.data(), static_cast<std::streamsize>(length));
  if (!file) {
    throw UsageError(
        fmt::format("{}: its external data, {}, cannot be read", where, printable(path.string())));
  }
  tensor.clear_external_data();
  tensor.clear_data_location();
}

}  // namespace gemm64
