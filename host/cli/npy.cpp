// SPDX-License-Identifier: Apache-2.0
#include "host/cli/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xnpy.hpp>

#include "host/error.hpp"

namespace gemm64 {
namespace {

template <class T>
void save(const std::filesystem::path& path, const Matrix<T>& matrix) {
  const std::array<std::size_t, 2> shape{static_cast<std::size_t>(matrix.rows()),
                                         static_cast<std::size_t>(matrix.cols())};
  try {
    xt::dump_npy(path.string(),
                 xt::adapt(matrix.data(), shape[0] * shape[1], xt::no_ownership(), shape));
  } catch (const std::exception& error) {
    throw UsageError(fmt::format("{}: cannot be written: {}", path.string(), error.what()));
  }
}

}  // namespace

template <class T>
Matrix<T> load_npy(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("{}: cannot be read", path.string()));
  try {
    const xt::xarray<T, xt::layout_type::row_major> array = xt::load_npy<T>(file);
    if (!file) throw UsageError(fmt::format("{}: not a .npy file: it ends early", path.string()));
    if (array.dimension() != 2 || array.shape(0) == 0 || array.shape(1) == 0) {
      throw UsageError(fmt::format("{}: an array of {} dimensions; two are needed, none of them 0",
                                   path.string(), array.dimension()));
    }
    Matrix<T> matrix(static_cast<Eigen::Index>(array.shape(0)),
                     static_cast<Eigen::Index>(array.shape(1)));
    std::copy(array.begin(), array.end(), matrix.data());
    return matrix;
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    std::string reason = error.what();
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    throw UsageError(fmt::format("{}: not a .npy file of {}: {}", path.string(),
                                 sizeof(T) == 1 ? "int8" : "float32", reason));
  }
}

template Matrix<std::int8_t> load_npy(const std::filesystem::path& path);
template Matrix<float> load_npy(const std::filesystem::path& path);

void save_npy(const std::filesystem::path& path, const MatrixI32& matrix) { save(path, matrix); }
void save_npy(const std::filesystem::path& path, const MatrixF& matrix) { save(path, matrix); }

}  // namespace gemm64
