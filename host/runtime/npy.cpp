// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/object_tensors.hpp"
#include "host/kernels/small_types.hpp"
#include "host/numerics/npy.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"

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

/// The type of an .npy file that holds all values of one that NumPy does not know.
DataType wider(DataType type) {
  switch (type) {
    case onnx::TensorProto::INT4:
    case onnx::TensorProto::INT2:
      return onnx::TensorProto::INT8;
    case onnx::TensorProto::UINT4:
    case onnx::TensorProto::UINT2:
      return onnx::TensorProto::UINT8;
    default:
      return onnx::TensorProto::FLOAT;
  }
}

template <class To, class Convert>
Tensor converted(const Tensor& tensor, Convert convert) {
  Tensor result(data_type_of<To>(), tensor.dims());
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    result.mutable_values<To>()[i] = static_cast<To>(convert(i));
  }
  return result;
}

/// The values of a tensor of a type that NumPy does not know, as those of one that holds them all.
Tensor widened(const Tensor& tensor) {
  if (tensor.type() == onnx::TensorProto::BFLOAT16) {
    return converted<float>(tensor, [&](std::int64_t i) {
      return static_cast<float>(tensor.values<Eigen::bfloat16>()[i]);
    });
  }
  const auto value = [&](std::int64_t i) {
    return decode_small(tensor.type(), static_cast<std::uint8_t>(tensor.raw()[i]));
  };
  switch (wider(tensor.type())) {
    case onnx::TensorProto::INT8:
      return converted<std::int8_t>(tensor, value);
    case onnx::TensorProto::UINT8:
      return converted<std::uint8_t>(tensor, value);
    default:
      return converted<float>(tensor, value);
  }
}

/// Values of a type that NumPy does not know, from those of the wider one. Throws UsageError if a
/// value is none of that type.
Tensor narrowed(const Tensor& wide, DataType type, const std::string& path) {
  if (type == onnx::TensorProto::BFLOAT16) {
    return converted<Eigen::bfloat16>(wide,
                                      [&](std::int64_t i) { return wide.values<float>()[i]; });
  }
  const auto same = [](float a, float b) {
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
  };
  const auto value = [&wide](std::int64_t i) -> float {
    if (wide.type() == onnx::TensorProto::INT8) return wide.values<std::int8_t>()[i];
    if (wide.type() == onnx::TensorProto::UINT8) return wide.values<std::uint8_t>()[i];
    return wide.values<float>()[i];
  };
  const int patterns = 1 << element_bits(type);
  std::vector<float> all;
  for (int bits = 0; bits < patterns; ++bits) {
    all.push_back(decode_small(type, static_cast<std::uint8_t>(bits)));
  }
  Tensor tensor(type, wide.dims());
  for (std::int64_t i = 0; i < wide.elements(); ++i) {
    const float wanted = value(i);
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](float candidate) { return same(wanted, candidate); });
    if (found == all.end()) {
      throw UsageError(fmt::format("{}: its value {}, {}, is no {}; round it first", path, i,
                                   wanted, data_type_name(type)));
    }
    tensor.mutable_raw()[i] = static_cast<std::byte>(found - all.begin());
  }
  return tensor;
}

bool is_known(DataType type) {
  return type != onnx::TensorProto::BFLOAT16 && element_of(type) != Element::kNone;
}

}  // namespace

Tensor load_tensor(const std::string& path, DataType type) {
  NpyFile file(path);
  if (type == onnx::TensorProto::STRING) return Tensor::of(file.shape(), file.read_texts());
  if (!is_computable(type)) {
    throw UsageError(fmt::format("{}: the network takes {} here, which is not supported", path,
                                 data_type_name(type)));
  }
  const DataType held = is_known(type) ? type : wider(type);
  file.require(element_of(held));
  Tensor tensor(held, file.shape());
  file.read(tensor.mutable_raw());
  return held == type ? tensor : narrowed(tensor, type, path);
}

void save_tensor(OutputFile& file, const Tensor& tensor) {
  if (tensor.type() == onnx::TensorProto::STRING) {
    const auto* const texts = tensor.values<std::string>();
    return write_npy(file, tensor.dims(), {texts, texts + tensor.elements()});
  }
  if (!is_known(tensor.type())) {
    const DataType type = wider(tensor.type());
    print_error(fmt::format("{} holds {}, since no .npy file holds {}", file.path().string(),
                            data_type_name(type), data_type_name(tensor.type())));
    return save_tensor(file, widened(tensor));
  }
  write_npy(file, element_of(tensor.type()), tensor.dims(), tensor.raw());
}

Tensor load_sequence(const std::string& folder, DataType type) {
  std::vector<Tensor> items;
  for (;;) {
    const auto file = std::filesystem::path(folder) / fmt::format("{}.npy", items.size());
    if (!std::filesystem::exists(file)) return make_sequence(items);
    items.push_back(load_tensor(file.string(), type));
  }
}

std::string file_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  std::replace(name.begin(), name.end(), '\0', '_');
  return name;
}

}  // namespace gemm64
