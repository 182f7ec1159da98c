// SPDX-License-Identifier: Apache-2.0
// How one dimension of a product is cut into blocks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gemm64 {

/// A dimension of `size` values in blocks of at most `block`. One that is no longer than a block
/// stays whole; any other is padded with zeros to a multiple of the block. Both are at least 1.
struct Cut {
  std::int64_t size = 1;
  std::int64_t block = 1;

  std::int64_t blocks() const { return (size - 1) / block + 1; }
  /// Values in each block.
  std::int64_t width() const { return std::min(size, block); }
  /// Values in all blocks together, zeros included.
  std::int64_t padded() const { return blocks() * width(); }
  /// Zeros that are added at the end of the dimension.
  std::int64_t padding() const { return padded() - size; }
};

}  // namespace gemm64
