// SPDX-License-Identifier: Apache-2.0
// Maps of few channels in strips of rows next to each other in the lanes, so that a word is
// full: what of the map each strip holds, and the map again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/kernels/tensor.hpp"
#include "host/tiling/convolution.hpp"

namespace gemm64 {

/// The strips of a map [1][channels][rows][columns] as a map [1][count * channels][rows of a
/// strip][columns]: those of strip i are its channels from i * channels on.
///
/// A layer computes each strip as if it were a map of its own. So at the edges between strips a
/// window meets its border, and some rows there are not the map's. Strips share rows, so that each
/// of the map's is right in one of them.
struct Strips {
  std::uint32_t count = 1;
  std::uint32_t step = 0;   // rows of the map from the first one of a strip to that of the next
  std::uint32_t rows = 0;   // of each
  std::uint32_t wrong = 0;  // with which each but the first begins

  /// The first row of the map that is taken from a strip; of the one after the last all rows.
  std::uint32_t first_row(std::uint32_t strip) const {
    return strip == 0 ? 0 : strip == count ? all_rows() : strip * step + wrong;
  }
  std::uint32_t all_rows() const { return (count - 1) * step + rows; }
};

/// Strips of what a chain of layers gives, each reading the one before it. `chain`: as they are
/// without strips, of one image. The first one's are cut from its map, so they are all right.
/// Nothing where the map has too few rows.
std::optional<std::vector<Strips>> cut_into_strips(const std::vector<Convolution>& chain,
                                                   std::uint32_t count);

/// A map of 8 bits in strips, and the map of which these are the strips.
Tensor in_strips(const Tensor& map, const Strips& strips);
Tensor out_of_strips(const Tensor& all, const Strips& strips);

/// The channels of one strip, and rows [first, end) of a map.
Tensor strip_of(const Tensor& all, const Strips& strips, std::uint32_t strip);
Tensor rows_of_map(const Tensor& map, std::uint32_t first, std::uint32_t end);

/// Tensors of one type as one, concatenated along an axis.
Tensor join(const std::vector<Tensor>& tensors, std::size_t axis);

}  // namespace gemm64
