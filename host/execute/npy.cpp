// SPDX-License-Identifier: Apache-2.0
#include "host/execute/npy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/error.hpp"
#include "host/files/npy.hpp"
#include "host/onnx/tensor.hpp"

namespace gemm64 {
namespace {

using Element = NpyType::Element;

/// Element::kNone where NumPy has no such type.
Element element_of(DataType type) {
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
    case onnx::TensorProto::INT16:
      return Element::kInt16;
    case onnx::TensorProto::UINT16:
      return Element::kUint16;
    case onnx::TensorProto::INT32:
      return Element::kInt32;
    case onnx::TensorProto::UINT32:
      return Element::kUint32;
    case onnx::TensorProto::INT64:
      return Element::kInt64;
    case onnx::TensorProto::UINT64:
      return Element::kUint64;
    case onnx::TensorProto::BOOL:
      return Element::kBool;
    default:
      return Element::kNone;
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
  if (element_of(type) == Element::kNone) {
    throw UsageError(
        fmt::format("{}: the network takes {} here, which no .npy file holds; only a constant can "
                    "be that",
                    path, data_type_name(type)));
  }
  file.require(element_of(type));
  const bool wide = type == onnx::TensorProto::BFLOAT16;
  Tensor tensor(wide ? onnx::TensorProto::FLOAT : type, file.shape());
  file.read(tensor.mutable_raw());
  return wide ? converted<Eigen::bfloat16, float>(tensor) : tensor;
}

void save_tensor(OutputFile& file, const Tensor& tensor) {
  if (tensor.type() == onnx::TensorProto::BFLOAT16) {
    return save_tensor(file, converted<float, Eigen::bfloat16>(tensor));
  }
  const Element element = element_of(tensor.type());
  if (element == Element::kNone) {
    const std::string path = file.path().string();
    throw OutputError(path, fmt::format("{}: cannot be written: no .npy file holds {}", path,
                                        data_type_name(tensor.type())));
  }
  write_npy(file, element, tensor.dims(), tensor.raw());
}

std::string file_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  std::replace(name.begin(), name.end(), '\0', '_');
  return name;
}

}  // namespace gemm64
