// SPDX-License-Identifier: Apache-2.0
#include "host/cli/npy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/error.hpp"
#include "host/execute/npy.hpp"

namespace gemm64 {
namespace {

template <class T>
void save(const std::filesystem::path& path, const Matrix<T>& matrix) {
  Tensor tensor(data_type_of<T>(), {matrix.rows(), matrix.cols()});
  std::copy(matrix.data(), matrix.data() + matrix.size(), tensor.template mutable_values<T>());
  save_tensor(path, tensor);
}

}  // namespace

template <class T>
Matrix<T> load_npy(const std::filesystem::path& path) {
  const Tensor tensor = load_tensor(path, data_type_of<T>());
  if (tensor.rank() != 2 || tensor.elements() == 0) {
    throw UsageError(fmt::format("{}: an array of {} dimensions; two are needed, none of them 0",
                                 path.string(), tensor.rank()));
  }
  return Eigen::Map<const Matrix<T>>(tensor.values<T>(), tensor.dim(0), tensor.dim(1));
}

template Matrix<std::int8_t> load_npy(const std::filesystem::path& path);
template Matrix<float> load_npy(const std::filesystem::path& path);

void save_npy(const std::filesystem::path& path, const MatrixI32& matrix) { save(path, matrix); }
void save_npy(const std::filesystem::path& path, const MatrixF& matrix) { save(path, matrix); }

}  // namespace gemm64
