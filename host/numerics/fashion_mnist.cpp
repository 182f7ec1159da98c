// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/fashion_mnist.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/numerics/idx.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::uint32_t kImageSide = 28;
constexpr const char* kRemedy =
    "; Debian's package dataset-fashion-mnist installs a good one in "
    "/usr/share/datasets/fashion-mnist";

void check_count(const IdxFile& file, std::size_t wanted) {
  const std::uint32_t held = file.dims()[0];
  if (wanted != 0 && wanted <= held) return;
  throw UsageError(
      fmt::format("a batch of {} images is not possible: Fashion-MNIST's test set has {}; ask for "
                  "1 to {}",
                  wanted, held, held));
}

}  // namespace

GreyImages read_fashion_mnist_images(std::size_t count, const std::filesystem::path& folder,
                                     std::size_t more) {
  IdxFile file(folder / "t10k-images-idx3-ubyte.gz", 3, kRemedy);
  check_count(file, count);
  const std::uint32_t rows = file.dims()[1];
  const std::uint32_t columns = file.dims()[2];
  if (rows != kImageSide || columns != kImageSide) {
    file.fail(fmt::format("its images are {}x{}, not 28x28", rows, columns));
  }
  const std::size_t all = std::min<std::size_t>(count + more, file.dims()[0]);
  return {all, rows, columns, file.read(all)};
}

}  // namespace gemm64
