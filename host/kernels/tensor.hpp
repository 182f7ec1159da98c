// SPDX-License-Identifier: Apache-2.0
// Values of a network while it runs: a type, sizes, and storage that copies of a tensor share.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

using Dims = std::vector<std::int64_t>;
using DataType = onnx::TensorProto::DataType;

/// A value of a type that C++ and Eigen have none for (8-bit floats and what is smaller than a
/// byte): its bits, the lowest ones, in a byte of its own.
template <DataType Type>
struct Bits {
  std::uint8_t bits = 0;
};

template <class T>
struct BitsType {
  static constexpr DataType kType = onnx::TensorProto::UNDEFINED;
};
template <DataType Type>
struct BitsType<Bits<Type>> {
  static constexpr DataType kType = Type;
};

/// The element type of C++ type T. float16 and bfloat16 are Eigen's.
template <class T>
constexpr DataType data_type_of() {
  if constexpr (std::is_same_v<T, float>) return onnx::TensorProto::FLOAT;
  if constexpr (std::is_same_v<T, double>) return onnx::TensorProto::DOUBLE;
  if constexpr (std::is_same_v<T, std::int8_t>) return onnx::TensorProto::INT8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return onnx::TensorProto::UINT8;
  if constexpr (std::is_same_v<T, std::int32_t>) return onnx::TensorProto::INT32;
  if constexpr (std::is_same_v<T, std::int64_t>) return onnx::TensorProto::INT64;
  if constexpr (std::is_same_v<T, bool>) return onnx::TensorProto::BOOL;
  if constexpr (std::is_same_v<T, Eigen::half>) return onnx::TensorProto::FLOAT16;
  if constexpr (std::is_same_v<T, Eigen::bfloat16>) return onnx::TensorProto::BFLOAT16;
  if constexpr (std::is_same_v<T, std::int16_t>) return onnx::TensorProto::INT16;
  if constexpr (std::is_same_v<T, std::uint16_t>) return onnx::TensorProto::UINT16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return onnx::TensorProto::UINT32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return onnx::TensorProto::UINT64;
  return BitsType<T>::kType;
}

/// A dense row-major array, or nothing at all (an optional input that was left out). Copies share
/// their values, and so do reshaped ones; who makes a tensor writes to it before others see it.
class Tensor {
 public:
  Tensor() = default;
  /// Values are not set. Throws UsageError where the type is none of those above, a size is
  /// negative, or there are more than 2^34 elements.
  Tensor(DataType type, Dims dims);
  /// The tensor of a file. Values that stand there as they do in memory are shared, so that `proto`
  /// must outlive all copies. Throws UsageError as above, and where data are missing.
  static Tensor from_proto(const onnx::TensorProto& proto);
  template <class T>
  static Tensor of(Dims dims, const std::vector<T>& values);
  /// The same as a tensor of a file, whose values are in raw_data.
  onnx::TensorProto to_proto() const;

  bool present() const { return type_ != onnx::TensorProto::UNDEFINED; }
  DataType type() const { return type_; }
  const Dims& dims() const { return dims_; }
  std::int64_t dim(std::size_t axis) const { return dims_.at(axis); }
  std::size_t rank() const { return dims_.size(); }
  std::int64_t elements() const { return elements_; }
  std::size_t element_size() const { return element_size_; }
  std::size_t bytes() const { return static_cast<std::size_t>(elements_) * element_size_; }

  /// The values. Throws std::logic_error where T is not the tensor's type.
  template <class T>
  const T* values() const {
    require(data_type_of<T>());
    return static_cast<const T*>(data_.get());
  }
  template <class T>
  T* mutable_values() {
    require(data_type_of<T>());
    return static_cast<T*>(data_.get());
  }
  const std::byte* raw() const { return static_cast<const std::byte*>(data_.get()); }
  std::byte* mutable_raw() { return static_cast<std::byte*>(data_.get()); }

  /// The same values with other sizes, whose product must be the same (else std::logic_error).
  Tensor reshaped(Dims dims) const;
  /// What holds the values: alive as long as any tensor that shares them.
  std::shared_ptr<const void> storage() const { return data_; }

 private:
  void require(DataType type) const;

  DataType type_ = onnx::TensorProto::UNDEFINED;
  Dims dims_;
  std::int64_t elements_ = 0;
  std::size_t element_size_ = 0;
  std::shared_ptr<void> data_;
};

template <class T>
Tensor Tensor::of(Dims dims, const std::vector<T>& values) {
  Tensor tensor(data_type_of<T>(), std::move(dims));
  if (static_cast<std::size_t>(tensor.elements()) != values.size()) {
    throw std::logic_error("Tensor::of: another number of values than the sizes say");
  }
  std::copy(values.begin(), values.end(), tensor.mutable_values<T>());
  return tensor;
}

/// Rows [first, first + count) along the first axis.
Tensor rows(const Tensor& tensor, std::int64_t first, std::int64_t count);

/// Tensors of one type, one below the other along the first axis (scalars become a vector). Throws
/// UsageError where their other sizes differ.
Tensor stacked(const std::vector<Tensor>& parts);

/// "float32 1x3x224x224", for messages.
std::string describe(const Tensor& tensor);

/// Steps between neighbours along each axis, in elements, of a row-major array.
Dims row_major_strides(const Dims& dims);

}  // namespace gemm64
