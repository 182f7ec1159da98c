// SPDX-License-Identifier: Apache-2.0
#include "python/src/arrays.hpp"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "host/util/error.hpp"

namespace gemm64::python {
namespace {

using Code = nb::dlpack::dtype_code;

struct KnownType {
  DataType type;
  Code code;
  std::uint8_t bits;
};

constexpr KnownType kKnown[] = {
    {onnx::TensorProto::FLOAT, Code::Float, 32},   {onnx::TensorProto::DOUBLE, Code::Float, 64},
    {onnx::TensorProto::FLOAT16, Code::Float, 16}, {onnx::TensorProto::INT8, Code::Int, 8},
    {onnx::TensorProto::INT16, Code::Int, 16},     {onnx::TensorProto::INT32, Code::Int, 32},
    {onnx::TensorProto::INT64, Code::Int, 64},     {onnx::TensorProto::UINT8, Code::UInt, 8},
    {onnx::TensorProto::UINT16, Code::UInt, 16},   {onnx::TensorProto::UINT32, Code::UInt, 32},
    {onnx::TensorProto::UINT64, Code::UInt, 64},   {onnx::TensorProto::BOOL, Code::Bool, 8}};

/// An array of NumPy's on memory that `owner` keeps.
template <class Owner>
nb::object owned_array(void* data, const std::vector<std::size_t>& shape, nb::dlpack::dtype type,
                       std::unique_ptr<Owner> owner) {
  const nb::capsule capsule(owner.get(),
                            [](void* kept) noexcept { delete static_cast<Owner*>(kept); });
  owner.release();
  return nb::cast(nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), capsule, nullptr, type),
                  nb::rv_policy::reference);
}

}  // namespace

Tensor to_tensor(const AnyArray& array) {
  const nb::dlpack::dtype type = array.dtype();
  for (const KnownType& known : kKnown) {
    if (static_cast<std::uint8_t>(known.code) != type.code || known.bits != type.bits) continue;
    Dims dims;
    for (std::size_t i = 0; i < array.ndim(); ++i) {
      dims.push_back(static_cast<std::int64_t>(array.shape(i)));
    }
    Tensor tensor(known.type, std::move(dims));
    if (tensor.bytes() != 0) std::memcpy(tensor.mutable_raw(), array.data(), tensor.bytes());
    return tensor;
  }
  throw UsageError("an array of this type is no tensor; give one of floats, integers or bool");
}

nb::object to_array(const Tensor& tensor) {
  for (const KnownType& known : kKnown) {
    if (known.type != tensor.type()) continue;
    auto copy =
        std::make_unique<std::vector<std::byte>>(tensor.raw(), tensor.raw() + tensor.bytes());
    const std::vector<std::size_t> shape(tensor.dims().begin(), tensor.dims().end());
    void* const data = copy->data();
    return owned_array(data, shape, {static_cast<std::uint8_t>(known.code), known.bits, 1},
                       std::move(copy));
  }
  throw UsageError(
      fmt::format("an output is {}, a type that NumPy does not have", describe(tensor)));
}

nb::object to_array(MatrixI32 matrix) {
  auto kept = std::make_unique<MatrixI32>(std::move(matrix));
  const std::vector<std::size_t> shape{static_cast<std::size_t>(kept->rows()),
                                       static_cast<std::size_t>(kept->cols())};
  void* const data = kept->data();
  return owned_array(data, shape, nb::dtype<std::int32_t>(), std::move(kept));
}

}  // namespace gemm64::python
