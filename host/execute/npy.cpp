// SPDX-License-Identifier: Apache-2.0
#include "host/execute/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xnpy.hpp>

#include "host/execute/visit.hpp"

namespace gemm64 {
namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

template <class Function>
Tensor visit_stored(const std::filesystem::path& path, DataType type, Function function) {
  const NodeContext file{nullptr, path.string(), 0};
  return visit_types<float, double, std::int8_t, std::uint8_t, std::int32_t, std::int64_t, bool>(
      file, type, function);
}

template <class T>
Tensor load(std::ifstream& file) {
  const xt::xarray<T, xt::layout_type::row_major> array = xt::load_npy<T>(file);
  if (!file) throw std::runtime_error("it ends early");
  Tensor tensor(data_type_of<T>(), Dims(array.shape().begin(), array.shape().end()));
  std::copy(array.begin(), array.end(), tensor.mutable_values<T>());
  return tensor;
}

template <class T>
void save(const std::filesystem::path& path, const Tensor& tensor) {
  const std::vector<std::size_t> shape(tensor.dims().begin(), tensor.dims().end());
  xt::dump_npy(path.string(),
               xt::adapt(tensor.values<T>(), static_cast<std::size_t>(tensor.elements()),
                         xt::no_ownership(), shape));
}

template <class Half>
Tensor widened(const Tensor& tensor) {
  Tensor wide(onnx::TensorProto::FLOAT, tensor.dims());
  std::transform(tensor.values<Half>(), tensor.values<Half>() + tensor.elements(),
                 wide.mutable_values<float>(),
                 [](Half value) { return static_cast<float>(value); });
  return wide;
}

}  // namespace

Tensor load_tensor(const std::filesystem::path& path, DataType type) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("{}: cannot be read", path.string()));
  try {
    return visit_stored(path, type, [&](auto zero) { return load<decltype(zero)>(file); });
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    throw UsageError(fmt::format("{}: not a .npy file of {}: {}", path.string(),
                                 data_type_name(type), one_line(error.what())));
  }
}

void save_tensor(const std::filesystem::path& path, const Tensor& tensor) {
  if (tensor.type() == onnx::TensorProto::FLOAT16) {
    return save_tensor(path, widened<Eigen::half>(tensor));
  }
  if (tensor.type() == onnx::TensorProto::BFLOAT16) {
    return save_tensor(path, widened<Eigen::bfloat16>(tensor));
  }
  try {
    visit_stored(path, tensor.type(), [&](auto zero) {
      save<decltype(zero)>(path, tensor);
      return Tensor();
    });
  } catch (const std::exception& error) {
    throw UsageError(
        fmt::format("{}: cannot be written: {}", path.string(), one_line(error.what())));
  }
}

}  // namespace gemm64
