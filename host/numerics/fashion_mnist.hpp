// SPDX-License-Identifier: Apache-2.0
// The 10,000 test images of Fashion-MNIST, as Debian's package dataset-fashion-mnist installs them.
#pragma once

#include <cstddef>
#include <filesystem>

#include "host/numerics/image.hpp"

namespace gemm64 {

inline constexpr const char* kFashionMnistFolder = "/usr/share/datasets/fashion-mnist";

/// The first `count` test images, 28x28, from t10k-images-idx3-ubyte.gz in `folder`. The file is
/// read to its end, so that damage anywhere in it is found. Throws UsageError if it is missing,
/// truncated, damaged or another kind of file, and if `count` is 0 or more than it holds. After
/// these come up to `more` others, where the file holds as many.
GreyImages read_fashion_mnist_images(std::size_t count,
                                     const std::filesystem::path& folder = kFashionMnistFolder,
                                     std::size_t more = 0);

}  // namespace gemm64
