// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/tensor.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/object_tensors.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using onnx::TensorProto;

constexpr std::size_t kAlignment = 64;  // of Eigen's widest loads
// Values are held in memory: what is beyond this is a mistake rather than a wish.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 34;

// From here on the system is asked for large pages: the first touch of each small one costs as much
// as an operator's work on it.
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 4 * kHugePage;

std::shared_ptr<void> allocate(std::size_t bytes) {
  const std::size_t alignment = bytes < kLarge ? kAlignment : kHugePage;
  const std::size_t rounded = std::max((bytes + kAlignment - 1) / kAlignment, std::size_t{1});
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, rounded * kAlignment) != 0) throw std::bad_alloc();
  if (bytes >= kLarge) madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return {memory, std::free};
}

/// Shares memory that somebody else owns. Nothing writes to it: tensors are written to by who makes
/// them only.
std::shared_ptr<void> borrow(const void* data) {
  return {const_cast<void*>(data), [](void*) {}};
}

template <class T, class Values>
void convert(const Values& values, void* to) {
  std::transform(values.begin(), values.end(), static_cast<T*>(to),
                 [](auto value) { return static_cast<T>(value); });
}

/// Types that have no field of their own stand in int32_data, 16-bit floats as their bits.
void convert_int32_data(const TensorProto& proto, Tensor& tensor) {
  switch (tensor.type()) {
    case TensorProto::BOOL:
      return convert<bool>(proto.int32_data(), tensor.mutable_raw());
    default:
      if (tensor.element_size() == 1) {
        return convert<std::uint8_t>(proto.int32_data(), tensor.mutable_raw());
      }
      return convert<std::uint16_t>(proto.int32_data(), tensor.mutable_raw());
  }
}

/// Values of a file that share bytes, one a byte; the lowest bits come first.
void unpack(const TensorProto& proto, std::int64_t bits, Tensor& tensor) {
  std::vector<std::uint8_t> bytes(proto.raw_data().begin(), proto.raw_data().end());
  if (!proto.has_raw_data()) bytes.assign(proto.int32_data().begin(), proto.int32_data().end());
  auto* to = reinterpret_cast<std::uint8_t*>(tensor.mutable_raw());
  const std::int64_t in_a_byte = 8 / bits;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const unsigned byte = bytes.at(static_cast<std::size_t>(i / in_a_byte));
    to[i] = static_cast<std::uint8_t>((byte >> (i % in_a_byte * bits)) & ((1U << bits) - 1));
  }
}

std::string packed(const Tensor& tensor, std::int64_t bits) {
  const std::int64_t in_a_byte = 8 / bits;
  std::string bytes(static_cast<std::size_t>((tensor.elements() + in_a_byte - 1) / in_a_byte),
                    '\0');
  const auto* from = reinterpret_cast<const std::uint8_t*>(tensor.raw());
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    char& byte = bytes[static_cast<std::size_t>(i / in_a_byte)];
    byte = static_cast<char>(byte | (from[i] << (i % in_a_byte * bits)));
  }
  return bytes;
}

/// Are values of this type smaller than a byte?
bool share_bytes(int data_type) { return element_bits(data_type) % 8 != 0; }

/// Where the values of `proto` stand as they do in memory, and how many bytes they are.
std::pair<const void*, std::size_t> plain_data(const TensorProto& proto) {
  const auto field = [](const auto& values) {
    return std::pair<const void*, std::size_t>(
        values.data(), static_cast<std::size_t>(values.size()) * sizeof(*values.data()));
  };
  if (proto.has_raw_data()) return field(proto.raw_data());
  switch (proto.data_type()) {
    case TensorProto::FLOAT:
      return field(proto.float_data());
    case TensorProto::DOUBLE:
      return field(proto.double_data());
    case TensorProto::INT64:
      return field(proto.int64_data());
    case TensorProto::INT32:
      return field(proto.int32_data());
    case TensorProto::UINT64:
      return field(proto.uint64_data());
    default:
      return {nullptr, 0};
  }
}

void require_tensor_type(int type) {
  if (is_computable(type) || has_objects(static_cast<DataType>(type))) return;
  throw UsageError(fmt::format("tensors of {} are not supported; numbers, bool and texts are",
                               data_type_name(type)));
}

/// Copies `count` elements; `from` and `to` count in elements.
void copy_elements(const Tensor& source, std::int64_t from, std::int64_t count, Tensor& target,
                   std::int64_t to) {
  if (count == 0) return;
  if (!has_objects(source.type())) {
    const auto offset = [&](std::int64_t i) {
      return static_cast<std::size_t>(i) * source.element_size();
    };
    std::memcpy(target.mutable_raw() + offset(to), source.raw() + offset(from), offset(count));
    return;
  }
  visit_objects(source.type(), [&](auto* of_type) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(of_type)>>;
    std::copy_n(source.values<T>() + from, count, target.mutable_values<T>() + to);
  });
}

}  // namespace

Tensor::Tensor(DataType type, Dims dims) : type_(type), dims_(std::move(dims)), elements_(1) {
  require_tensor_type(type);
  std::int64_t largest = 1;  // zeros apart, so that no order of the sizes hides an overflow
  for (const std::int64_t dim : dims_) {
    if (dim < 0 || std::max<std::int64_t>(dim, 1) > kMaxElements / largest) {
      throw UsageError(fmt::format("a tensor of {} is too large; at most {} values are possible",
                                   dims_text(dims_), kMaxElements));
    }
    largest *= std::max<std::int64_t>(dim, 1);
    elements_ *= dim;
  }
  if (has_objects(type)) {
    visit_objects(type, [this](auto* of_type) {
      using T = std::remove_const_t<std::remove_pointer_t<decltype(of_type)>>;
      const auto objects = std::make_shared<std::vector<T>>(static_cast<std::size_t>(elements_));
      element_size_ = sizeof(T);
      data_ = std::shared_ptr<void>(objects, objects->data());
    });
    return;
  }
  element_size_ = static_cast<std::size_t>(std::max<std::int64_t>(element_bytes(type), 1));
  data_ = allocate(bytes());
}

Tensor Tensor::from_proto(const onnx::TensorProto& proto) {
  require_tensor_type(proto.data_type());
  const Dims dims(proto.dims().begin(), proto.dims().end());
  const auto [data, size] = plain_data(proto);
  const auto width = static_cast<std::size_t>(element_bytes(proto.data_type()));
  const TensorType type = checked_type(proto, fmt::format("tensor '{}'", printable(proto.name())));
  const auto expected = static_cast<std::size_t>(type.bytes());
  if (data != nullptr && size == expected && size != 0 && width != 0 &&
      reinterpret_cast<std::uintptr_t>(data) % width == 0) {
    Tensor tensor;
    tensor.type_ = static_cast<DataType>(proto.data_type());
    tensor.dims_ = dims;
    tensor.elements_ = type.elements();
    tensor.element_size_ = width;
    tensor.data_ = borrow(data);
    return tensor;
  }
  Tensor tensor(static_cast<DataType>(proto.data_type()), dims);
  if (proto.data_type() == TensorProto::STRING) {
    check_data(proto, false, fmt::format("tensor '{}'", printable(proto.name())));
    std::copy(proto.string_data().begin(), proto.string_data().end(),
              tensor.mutable_values<std::string>());
  } else if (share_bytes(proto.data_type())) {
    check_data(proto, false, fmt::format("tensor '{}'", printable(proto.name())));
    unpack(proto, element_bits(proto.data_type()), tensor);
  } else if (data != nullptr && size == expected) {
    std::memcpy(tensor.mutable_raw(), data, size);
  } else if (proto.data_type() == TensorProto::UINT32 && !proto.has_raw_data() &&
             proto.uint64_data_size() == tensor.elements()) {
    convert<std::uint32_t>(proto.uint64_data(), tensor.mutable_raw());
  } else if (!proto.has_raw_data() && proto.int32_data_size() == tensor.elements()) {
    convert_int32_data(proto, tensor);
  } else if (tensor.elements() != 0) {
    throw UsageError(fmt::format("tensor '{}' of {} comes without its values",
                                 printable(proto.name()), describe(tensor)));
  }
  return tensor;
}

TensorProto Tensor::to_proto() const {
  TensorProto proto;
  proto.set_data_type(type_);
  for (const std::int64_t dim : dims_) proto.add_dims(dim);
  if (type_ == TensorProto::STRING) {
    const auto* const texts = values<std::string>();
    std::for_each(texts, texts + elements_,
                  [&proto](const std::string& text) { proto.add_string_data(text); });
  } else if (share_bytes(type_)) {
    proto.set_raw_data(packed(*this, element_bits(type_)));
  } else {
    proto.set_raw_data(raw(), bytes());
  }
  return proto;
}

Tensor Tensor::reshaped(Dims dims) const {
  Tensor result = *this;
  std::int64_t elements = 1;
  for (const std::int64_t dim : dims) elements *= dim;
  if (elements != elements_) throw std::logic_error("Tensor::reshaped: another number of values");
  result.dims_ = std::move(dims);
  return result;
}

void Tensor::require(DataType type) const {
  if (type != type_) {
    throw std::logic_error(
        fmt::format("a tensor of {} is read as {}", data_type_name(type_), data_type_name(type)));
  }
}

Tensor rows(const Tensor& tensor, std::int64_t first, std::int64_t count) {
  Dims dims = tensor.dims();
  const std::int64_t row = dims.at(0) == 0 ? 0 : tensor.elements() / dims[0];
  dims[0] = count;
  Tensor result(tensor.type(), dims);
  copy_elements(tensor, first * row, result.elements(), result, 0);
  return result;
}

Tensor stacked(const std::vector<Tensor>& parts) {
  if (parts.size() == 1) return parts[0];
  const auto as_rows = [](const Tensor& part) { return part.rank() == 0 ? Dims{1} : part.dims(); };
  Dims dims = as_rows(parts.at(0));
  dims[0] = 0;
  for (const Tensor& part : parts) {
    const Dims more = as_rows(part);
    if (part.type() != parts[0].type() ||
        !std::equal(more.begin() + 1, more.end(), dims.begin() + 1, dims.end())) {
      throw UsageError(fmt::format("{} cannot be put below {}: their sizes differ", describe(part),
                                   describe(parts[0])));
    }
    dims[0] += more[0];
  }
  Tensor whole(parts[0].type(), dims);
  std::int64_t to = 0;
  for (const Tensor& part : parts) {
    copy_elements(part, 0, part.elements(), whole, to);
    to += part.elements();
  }
  return whole;
}

std::string describe(const Tensor& tensor) {
  return data_type_name(tensor.type()) + " " + dims_text(tensor.dims());
}

Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t axis = dims.size(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * dims[axis];
  }
  return strides;
}

}  // namespace gemm64
