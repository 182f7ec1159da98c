// SPDX-License-Identifier: Apache-2.0
#include "host/execute/npy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/error.hpp"
#include "host/files/npy.hpp"

namespace gemm64 {
namespace {

using Element = NpyType::Element;

Element element_of(const std::string& path, DataType type) {
  switch (type) {
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::BFLOAT16:
      return Element::kFloat32;
    case onnx::TensorProto::FLOAT16:
      return Element::kFloat16;
    case onnx::TensorProto::DOUBLE:
      return Element::kFloat64;
    case onnx::TensorProto::INT8:
      return Element::kInt8;
    case onnx::TensorProto::UINT8:
      return Element::kUint8;
    case onnx::TensorProto::INT32:
      return Element::kInt32;
    case onnx::TensorProto::INT64:
      return Element::kInt64;
    case onnx::TensorProto::BOOL:
      return Element::kBool;
    default:
      throw UsageError(fmt::format("{}: arrays of this type are neither read nor written", path));
  }
}

template <class To, class From>
Tensor converted(const Tensor& tensor) {
  Tensor result(data_type_of<To>(), tensor.dims());
  std::transform(tensor.values<From>(), tensor.values<From>() + tensor.elements(),
                 result.mutable_values<To>(), [](From value) { return static_cast<To>(value); });
  return result;
}

}  // namespace

Tensor load_tensor(const std::string& path, DataType type) {
  NpyFile file(path);
  file.require(element_of(path, type));
  const bool wide = type == onnx::TensorProto::BFLOAT16;
  Tensor tensor(wide ? onnx::TensorProto::FLOAT : type, file.shape());
  file.read(tensor.mutable_raw());
  return wide ? converted<Eigen::bfloat16, float>(tensor) : tensor;
}

void save_tensor(OutputFile& file, const Tensor& tensor) {
  if (tensor.type() == onnx::TensorProto::FLOAT16) {
    return save_tensor(file, converted<float, Eigen::half>(tensor));
  }
  if (tensor.type() == onnx::TensorProto::BFLOAT16) {
    return save_tensor(file, converted<float, Eigen::bfloat16>(tensor));
  }
  write_npy(file, element_of(file.path().string(), tensor.type()), tensor.dims(), tensor.raw());
}

}  // namespace gemm64
